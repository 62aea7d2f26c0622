-- The schema after all migrations, printed from PostgreSQL's catalogue by `npm run schema`. For reading and reviewing
-- alone: what makes the database is src/platform/database/migrations.

create domain id as text collate "C" check (length(value) >= 1 and length(value) <= 40);

create or replace function public.has_moved()
 returns integer
 language plpgsql
as $$
begin
  raise exception using errcode = 'MV001', message = 'somebody else has changed it since it was read';
end $$;

create or replace function public.ledger_changes(moves ledger_transfer[])
 returns table(account_id text, lane integer, debits_posted numeric, credits_posted numeric, debits_pending numeric, credits_pending numeric)
 language sql
 immutable
as $$
  select account_id, lane, sum(debits_posted), sum(credits_posted), sum(debits_pending), sum(credits_pending)
  from (
    select debit_account as account_id, debit_lane as lane, posted_minor as debits_posted, 0 as credits_posted,
      pending_minor as debits_pending, 0 as credits_pending from unnest(moves)
    union all
    select credit_account, credit_lane, 0, posted_minor, 0, pending_minor from unnest(moves)
  ) as leg
  group by account_id, lane
$$;

create or replace function public.post_journal(for_aggregate text, for_operation text, happened timestamp with time zone, entries json)
 returns text
 language plpgsql
as $$
declare
  moves      ledger_transfer[];
  asked      int;
  distinctly int;
  known      int;
  objection  text;
  unopened   boolean;
  lowered    text[];
  lowered_by numeric;
  written    int;
  change     record;
begin
  with given as (
    select entry.*, entry.phase in ('post', 'void') as resolves
    from json_to_recordset(entries) as entry (step text, phase text, debit text, credit text, minor bigint)
  ), beside as (
    -- Each entry beside what it resolves, from which it has accounts and lanes, and beside what is written in its place.
    select
      given.step, given.phase, given.resolves, given.minor,
      coalesce(held.debit_account, given.debit) as debit_account, held.debit_lane,
      coalesce(held.credit_account, given.credit) as credit_account, held.credit_lane,
      case given.phase
        when 'single' then given.minor
        when 'post' then coalesce(given.minor, held.pending_minor)
        else 0
      end as posted_minor,
      case given.phase when 'single' then 0 when 'pending' then given.minor else -held.pending_minor end as pending_minor,
      given.resolves and held.step is null as lacks_pending,
      done.step is not null as is_known,
      (done.phase, done.debit_account, done.credit_account, done.posted_minor, done.pending_minor) as done
    from given
    left join ledger_transfer as held on given.resolves and held.aggregate_id = for_aggregate
      and held.operation_id = for_operation and held.step = given.step and not held.resolves and held.phase = 'pending'
    left join ledger_transfer as done on done.aggregate_id = for_aggregate
      and done.operation_id = for_operation and done.step = given.step and done.resolves = given.resolves
  ), leg as (
    select debit_account as account_id, debit_lane as lane, -posted_minor - pending_minor as raises from beside
    union all
    select credit_account, credit_lane, posted_minor from beside
  ), place as (
    -- What lowers an account with a floor goes to its main row; all else to the row of what it resolves, or to the
    -- aggregate's own lane.
    select account_id, has_floor and sum(raises) < 0 as is_lowered, sum(raises) as raises,
      case
        when has_floor and sum(raises) < 0 or lanes = 0 then 0
        else coalesce(min(leg.lane), 1 + mod(hashtextextended(for_aggregate, 0) & 9223372036854775807, lanes)::int)
      end as lane
    from leg join ledger_account using (account_id)
    group by account_id, has_floor, lanes
  )
  select
    array_agg((for_aggregate, for_operation, step, phase, resolves, debit_account, coalesce(debit_lane, debited.lane),
      credit_account, coalesce(credit_lane, credited.lane), posted_minor, pending_minor, happened, now())::ledger_transfer),
    count(*),
    count(distinct (step, resolves)),
    count(*) filter (where is_known),
    min(case
      when minor <= 0 or minor is null and phase in ('single', 'pending') then format('%s moves nothing', step)
      when lacks_pending then format('nothing is pending as %s', step)
      when is_known and done is distinct from (phase, debit_account, credit_account, posted_minor, pending_minor)
        then format('%s is written already, with other content: %s', step, done)
      when phase = 'post' and posted_minor > -pending_minor
        then format('%s is pending with %s and cannot be posted with %s', step, -pending_minor, posted_minor)
    end),
    bool_or(debited.account_id is null or credited.account_id is null),
    (select array_agg(account_id) from place where is_lowered),
    (select sum(raises) from place where is_lowered)
  into moves, asked, distinctly, known, objection, unopened, lowered, lowered_by
  from beside
  left join place as debited on debited.account_id = debit_account
  left join place as credited on credited.account_id = credit_account;

  if objection is null and distinctly < asked then
    objection := 'two of its steps have the same name';
  elsif objection is null and known not in (0, asked) then
    objection := 'a part of the journal is written already, without the rest';
  elsif objection is null and cardinality(lowered) > 1 then
    objection := format('it lowers more than one account with a floor: %s', lowered);
  end if;
  if objection is not null then
    raise exception using errcode = 'LE001',
      message = format('ledger: %s of %s: %s', for_operation, for_aggregate, objection);
  end if;
  if known = asked then return 'repeated'; end if;
  if unopened then return 'unopened'; end if;

  if lowered is not null then
    -- Waiting is done here: the statement that decides then sees all that was committed meanwhile.
    perform from ledger_changes(moves) join ledger_balance as balance using (account_id, lane)
    order by account_id collate "C", lane for no key update of balance;

    update ledger_balance as main
    set debits_posted = main.debits_posted + needed.debits_posted,
        credits_posted = main.credits_posted + needed.credits_posted,
        debits_pending = main.debits_pending + needed.debits_pending,
        credits_pending = main.credits_pending + needed.credits_pending
    from ledger_changes(moves) as needed
    where main.account_id = lowered[1] and main.lane = 0 and needed.account_id = lowered[1] and needed.lane = 0
      and lowered_by + (
        select sum(part.credits_posted - part.debits_posted - part.debits_pending) from ledger_balance as part
        where part.account_id = lowered[1]) >= 0;
    -- Unless it was this same journal, written meanwhile by somebody else, that took the money.
    if not found and not exists (
      select from ledger_transfer where aggregate_id = for_aggregate and operation_id = for_operation
        and step = moves[1].step and phase = moves[1].phase
    ) then
      return 'insufficient';
    end if;
  end if;

  insert into ledger_transfer select * from unnest(moves) on conflict do nothing;
  get diagnostics written = row_count;
  if written < asked then
    -- Somebody else has written in its place meanwhile: the transaction starts again, and finds what.
    raise exception using errcode = 'serialization_failure',
      message = format('ledger: %s of %s was being written by somebody else', for_operation, for_aggregate);
  end if;

  for change in
    select * from ledger_changes(moves) where lowered is null or (account_id, lane) <> (lowered[1], 0)
    order by account_id collate "C", lane
  loop
    update ledger_balance as balance
    set debits_posted = balance.debits_posted + change.debits_posted,
        credits_posted = balance.credits_posted + change.credits_posted,
        debits_pending = balance.debits_pending + change.debits_pending,
        credits_pending = balance.credits_pending + change.credits_pending
    where account_id = change.account_id and lane = change.lane;
    if not found then
      raise exception 'ledger: account % has no lane %', change.account_id, change.lane;
    end if;
  end loop;
  return 'posted';
end $$;

create or replace function public.post_single(for_aggregate text, for_operation text, happened timestamp with time zone, entries json)
 returns text
 language plpgsql
as $$
declare
  entry   record;
  written int;
begin
  select given.step, given.minor, given.debit, given.credit,
    case when debited.lanes = 0 then 0 else 1 + mod(hashtextextended(for_aggregate, 0) & 9223372036854775807, debited.lanes)::int end as debit_lane,
    case when credited.lanes = 0 then 0 else 1 + mod(hashtextextended(for_aggregate, 0) & 9223372036854775807, credited.lanes)::int end as credit_lane
  into entry
  from json_to_recordset(entries) as given (step text, phase text, debit text, credit text, minor bigint)
  join ledger_account as debited on debited.account_id = given.debit and not debited.has_floor
  join ledger_account as credited on credited.account_id = given.credit
  where json_array_length(entries) = 1 and given.phase = 'single' and given.minor > 0;
  if not found then return null; end if;

  insert into ledger_transfer (aggregate_id, operation_id, step, phase, resolves, debit_account, debit_lane, credit_account,
    credit_lane, posted_minor, pending_minor, happened_at)
  values (for_aggregate, for_operation, entry.step, 'single', false, entry.debit, entry.debit_lane, entry.credit,
    entry.credit_lane, entry.minor, 0, happened)
  on conflict do nothing;
  get diagnostics written = row_count;
  if written = 0 then return null; end if;

  -- In the order in which every journal locks them.
  if entry.debit collate "C" < entry.credit collate "C" then
    update ledger_balance set debits_posted = debits_posted + entry.minor
    where account_id = entry.debit and lane = entry.debit_lane;
    if not found then raise exception 'ledger: account % has no lane %', entry.debit, entry.debit_lane; end if;
  end if;
  update ledger_balance set credits_posted = credits_posted + entry.minor
  where account_id = entry.credit and lane = entry.credit_lane;
  if not found then raise exception 'ledger: account % has no lane %', entry.credit, entry.credit_lane; end if;
  if entry.debit collate "C" >= entry.credit collate "C" then
    update ledger_balance set debits_posted = debits_posted + entry.minor
    where account_id = entry.debit and lane = entry.debit_lane;
    if not found then raise exception 'ledger: account % has no lane %', entry.debit, entry.debit_lane; end if;
  end if;
  return 'posted';
end $$;

create or replace function public.record_journal(for_aggregate text, for_operation text, happened timestamp with time zone, entries json)
 returns text
 language plpgsql
as $$
declare
  outcome text;
begin
  if entries is null then return null; end if;
  outcome := post_single(for_aggregate, for_operation, happened, entries);
  if outcome is null then
    outcome := post_journal(for_aggregate, for_operation, happened, entries);
  end if;
  if outcome = 'unopened' then
    raise exception using errcode = 'LE002', message = 'ledger: an account is not open yet';
  elsif outcome = 'insufficient' then
    raise exception using errcode = 'LE003', message = 'ledger: an account lacks the money';
  end if;
  return outcome;
end $$;

create or replace function public.refuse_change()
 returns trigger
 language plpgsql
as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $$;

create or replace function public.refuse_turnover(counted json)
 returns text
 language plpgsql
as $$
begin
  raise exception using errcode = 'PL001', message = 'a payout passes a limit of its wallet', detail = counted::text;
end $$;

create table api_key (
  key_id id not null,
  party_id id not null,
  name text not null,
  realm text not null,
  scopes text not null,
  secret_hash bytea not null,
  hash_generation integer not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint api_key_pkey primary key (key_id),
  constraint api_key_realm_check check (realm = any (array['test'::text, 'live'::text]))
);
create index api_key_of_party on api_key using btree (party_id);

create table bank (
  bank_id id not null,
  url text not null,
  sealed_secret bytea not null,
  seal_generation integer not null,
  created_at timestamp with time zone not null,
  constraint bank_pkey primary key (bank_id)
);

create unlogged table bank_line (
  run_id id not null,
  aggregate_id text collate "C" not null,
  operation_id text collate "C" not null,
  sequence bigint not null,
  kind text not null,
  original_id text collate "C",
  amount_minor bigint not null,
  currency text not null,
  sign integer not null,
  booked_at timestamp with time zone not null,
  card_mask text,
  constraint bank_line_pkey primary key (run_id, aggregate_id, operation_id, sequence)
);

create table binding (
  customer_id id not null,
  binding_id id not null,
  party_id id not null,
  shop_id id not null,
  version integer not null,
  number integer not null,
  status text not null,
  created_at timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  card_fingerprint bytea not null,
  terms json not null,
  state json not null,
  external_id text,
  bound_at_version integer,
  return_by timestamp with time zone,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  series_id id,
  constraint binding_pkey primary key (customer_id, binding_id),
  constraint binding_customer_id_number_key unique (customer_id, number),
  constraint binding_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint binding_check check ((status = 'succeeded'::text) = (bound_at_version is not null)),
  constraint binding_check1 check ((status = any (array['reversing'::text, 'returning'::text, 'refunding'::text])) = (return_by is not null)),
  constraint binding_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint binding_status_check check (status = any (array['authorising'::text, 'challenged'::text, 'reversing'::text, 'returning'::text, 'refunding'::text, 'succeeded'::text, 'withdrawn'::text, 'failed'::text]))
);
create index binding_bound on binding using btree (customer_id, bound_at_version) where bound_at_version is not null;
create index binding_due on binding using btree (wake_at) where wake_at is not null;
create index binding_of_card on binding using btree (card_fingerprint, created_at);
create index binding_owed on binding using btree (return_by) where return_by is not null;
create index binding_stuck on binding using btree (stuck_at) where stuck_at is not null;

create table card (
  card_id id not null,
  party_id id not null,
  session_id id not null,
  made_for_kind text,
  made_for_id id,
  stored_at timestamp with time zone not null,
  valid_until timestamp with time zone not null,
  is_kept boolean default false not null,
  payment_system text not null,
  mask text not null,
  client_info json not null,
  external_id text,
  sealed bytea not null,
  seal_generation integer not null,
  fingerprint bytea not null,
  fingerprint_generation integer not null,
  identity_hash bytea not null,
  purpose text default 'payment'::text not null,
  kept_for json,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint card_pkey primary key (card_id),
  constraint card_check check ((made_for_kind is null) = (made_for_id is null)),
  constraint card_made_for_kind_check check (made_for_kind = any (array['invoice'::text, 'customer'::text])),
  constraint card_mask_check check (mask ~ '^\d{6}\*{2,9}\d{4}$'::text),
  constraint card_purpose_check check (purpose = any (array['payment'::text, 'payout'::text]))
);
create index card_by_generation on card using btree (seal_generation, card_id);
create index card_due on card using btree (wake_at) where wake_at is not null;
create index card_stuck on card using btree (stuck_at) where stuck_at is not null;
create index card_unkept on card using btree (stored_at) where not is_kept;

create table card_decline (
  card_key bytea not null,
  invoice_id id not null,
  payment_id id not null,
  party_id id not null,
  shop_id id not null,
  amount_minor bigint not null,
  currency text not null,
  by_merchant boolean not null,
  attempted_at timestamp with time zone not null,
  constraint card_decline_pkey primary key (card_key, invoice_id, payment_id)
);
create index card_decline_age on card_decline using btree (card_key, attempted_at);

create table card_stop (
  card_key bytea not null,
  invoice_id id not null,
  payment_id id not null,
  party_id id not null,
  shop_id id not null,
  everywhere boolean not null,
  stopped_at timestamp with time zone not null,
  rule text not null,
  pack text not null,
  constraint card_stop_pkey primary key (card_key, invoice_id, payment_id)
);

create table category (
  category_id integer not null,
  name text not null,
  description text,
  constraint category_pkey primary key (category_id)
);

create table customer (
  customer_id id not null,
  party_id id not null,
  shop_id id not null,
  version integer not null,
  status text not null,
  active_binding_id id,
  created_at timestamp with time zone not null,
  contact_info json not null,
  metadata json not null,
  external_id text,
  bindings_made integer default 0 not null,
  constraint customer_pkey primary key (customer_id),
  constraint customer_check check ((status = 'ready'::text) = (active_binding_id is not null)),
  constraint customer_status_check check (status = any (array['unready'::text, 'ready'::text, 'deleted'::text]))
);

create table data_key (
  purpose text not null,
  generation integer not null,
  wrapped bytea not null,
  master_key_id text not null,
  created_at timestamp with time zone not null,
  constraint data_key_pkey primary key (purpose, generation)
);

create table deposit (
  deposit_id id not null,
  party_id id not null,
  wallet_id id not null,
  identity_id id not null,
  source_id id not null,
  created_at timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  description text,
  constraint deposit_pkey primary key (deposit_id),
  constraint deposit_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint deposit_currency_check check (currency ~ '^[A-Z]{3}$'::text)
);
create index deposit_of_party on deposit using btree (party_id, created_at, deposit_id);

create table destination (
  destination_id id not null,
  party_id id not null,
  identity_id id not null,
  version integer not null,
  name text not null,
  currency text not null,
  status text not null,
  created_at timestamp with time zone not null,
  card_token text not null,
  card json not null,
  failure json,
  metadata json,
  external_id text,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint destination_pkey primary key (destination_id),
  constraint destination_check check ((failure is not null) = (status = 'refused'::text)),
  constraint destination_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint destination_status_check check (status = any (array['checking'::text, 'authorized'::text, 'refused'::text]))
);
create index destination_due on destination using btree (wake_at) where wake_at is not null;
create index destination_of_party on destination using btree (party_id, created_at, destination_id);
create index destination_stuck on destination using btree (stuck_at) where stuck_at is not null;

create table event (
  aggregate_id id not null,
  sequence integer not null,
  aggregate text not null,
  party_id id not null,
  created_at timestamp with time zone not null,
  facts json not null,
  written_in xid8 default pg_current_xact_id() not null,
  constraint event_pkey primary key (aggregate_id, sequence),
  constraint event_sequence_check check (sequence >= 1)
);
create index event_time on event using brin (created_at) with (pages_per_range='32');
create index event_written_in on event using btree (written_in);
create trigger event_is_append_only before delete or update on event for each row execute function refuse_change();

create table external_id (
  party_id id not null,
  operation text not null,
  external_id text collate "C" not null,
  entity_id id not null,
  fingerprint bytea not null,
  constraint external_id_pkey primary key (party_id, operation, external_id)
);

create table idempotency_key (
  owner_id id not null,
  idempotency_key text collate "C" not null,
  request_hash bytea not null,
  status integer,
  sealed_body bytea,
  seal_generation integer,
  created_at timestamp with time zone not null,
  constraint idempotency_key_pkey primary key (owner_id, idempotency_key)
);
create index idempotency_key_age on idempotency_key using btree (created_at);

create table identity (
  identity_id id not null,
  party_id id not null,
  version integer not null,
  name text not null,
  provider text not null,
  class text not null,
  level text not null,
  is_blocked boolean default false not null,
  created_at timestamp with time zone not null,
  metadata json,
  external_id text,
  effective_challenge id,
  constraint identity_pkey primary key (identity_id),
  constraint identity_level_check check (level = any (array['anonymous'::text, 'partial'::text, 'identified'::text]))
);
create index identity_of_party on identity using btree (party_id, created_at, identity_id);

create table identity_challenge (
  identity_id id not null,
  challenge_id id not null,
  type text not null,
  proofs json not null,
  status text not null,
  created_at timestamp with time zone not null,
  failure_reason text,
  constraint identity_challenge_pkey primary key (identity_id, challenge_id),
  constraint identity_challenge_check check ((failure_reason is not null) = (status = 'failed'::text)),
  constraint identity_challenge_status_check check (status = any (array['pending'::text, 'completed'::text, 'failed'::text]))
);
create unique index identity_challenge_under_way on identity_challenge using btree (identity_id) where status = 'pending'::text;

create table invoice (
  invoice_id id not null,
  party_id id not null,
  shop_id id not null,
  version integer not null,
  status text not null,
  reason text,
  created_at timestamp with time zone not null,
  due_date timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  product text not null,
  description text,
  cart json,
  bank_account json,
  client_info json,
  metadata json not null,
  external_id text,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  payments_made integer default 0 not null,
  payment_in_progress boolean default false not null,
  constraint invoice_pkey primary key (invoice_id),
  constraint invoice_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint invoice_check check ((reason is not null) = (status = any (array['fulfilled'::text, 'cancelled'::text]))),
  constraint invoice_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint invoice_status_check check (status = any (array['unpaid'::text, 'paid'::text, 'fulfilled'::text, 'cancelled'::text]))
);
create index invoice_due on invoice using btree (wake_at) where wake_at is not null;
create index invoice_stuck on invoice using btree (stuck_at) where stuck_at is not null;

create table ledger_account (
  account_id text collate "C" not null,
  realm text not null,
  currency text not null,
  code text not null,
  party_id id,
  owner_id id,
  has_floor boolean not null,
  lanes integer not null,
  opened_at timestamp with time zone default now() not null,
  constraint ledger_account_pkey primary key (account_id),
  constraint ledger_account_code_check check (code ~ '^[a-z]+\.[a-z_]+$'::text),
  constraint ledger_account_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint ledger_account_is_named_by_its_parts check (account_id = ((((((realm || ':'::text) || currency) || ':'::text) || code) || coalesce(':'::text || replace(replace(party_id::text, '%'::text, '%25'::text), ':'::text, '%3A'::text), ''::text)) || coalesce(':'::text || replace(replace(owner_id::text, '%'::text, '%25'::text), ':'::text, '%3A'::text), ''::text))),
  constraint ledger_account_lanes_check check (lanes >= 0 and lanes <= 256),
  constraint ledger_account_realm_check check (realm = any (array['test'::text, 'live'::text]))
);
create trigger ledger_account_keeps_its_name before delete or update of account_id, realm, currency, code, party_id, owner_id, has_floor on ledger_account for each row execute function refuse_change();

create table ledger_balance (
  account_id text collate "C" not null,
  lane integer not null,
  stands_alone boolean not null,
  debits_posted bigint default 0 not null,
  credits_posted bigint default 0 not null,
  debits_pending bigint default 0 not null,
  credits_pending bigint default 0 not null,
  constraint ledger_balance_pkey primary key (account_id, lane),
  constraint ledger_balance_credits_pending_check check (credits_pending >= 0),
  constraint ledger_balance_credits_posted_check check (credits_posted >= 0),
  constraint ledger_balance_debits_pending_check check (debits_pending >= 0),
  constraint ledger_balance_debits_posted_check check (debits_posted >= 0),
  constraint ledger_balance_holds_the_floor check (not stands_alone or credits_posted >= (debits_posted + debits_pending)),
  constraint ledger_balance_lane_check check (lane >= 0)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create table ledger_checkpoint (
  account_id text collate "C" not null,
  lane integer not null,
  debits_posted bigint not null,
  credits_posted bigint not null,
  debits_pending bigint not null,
  credits_pending bigint not null,
  constraint ledger_checkpoint_pkey primary key (account_id, lane)
);

create table ledger_transfer (
  aggregate_id id not null,
  operation_id text collate "C" not null,
  step text collate "C" not null,
  phase text not null,
  resolves boolean not null,
  debit_account text collate "C" not null,
  debit_lane integer not null,
  credit_account text collate "C" not null,
  credit_lane integer not null,
  posted_minor bigint not null,
  pending_minor bigint not null,
  happened_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  constraint ledger_transfer_pkey primary key (aggregate_id, operation_id, step, resolves),
  constraint ledger_transfer_check check (resolves = (phase = any (array['post'::text, 'void'::text]))),
  constraint ledger_transfer_check1 check (
case phase
    when 'single'::text then posted_minor > 0 and pending_minor = 0
    when 'pending'::text then posted_minor = 0 and pending_minor > 0
    when 'post'::text then posted_minor > 0 and pending_minor <= (- posted_minor)
    when 'void'::text then posted_minor = 0 and pending_minor < 0
    else null::boolean
end),
  constraint ledger_transfer_check2 check (debit_account <> credit_account),
  constraint ledger_transfer_phase_check check (phase = any (array['single'::text, 'pending'::text, 'post'::text, 'void'::text])),
  constraint ledger_transfer_stays_in_realm_and_currency check ("left"(debit_account, 9) = "left"(credit_account, 9))
);
create index ledger_transfer_age on ledger_transfer using brin (created_at);
create trigger ledger_transfer_is_append_only before delete or update on ledger_transfer for each row execute function refuse_change();
create trigger ledger_transfer_is_never_emptied before truncate on ledger_transfer for each statement execute function refuse_change();

create table ledger_watermark (
  only_row boolean default true not null,
  reached_at timestamp with time zone not null,
  constraint ledger_watermark_pkey primary key (only_row),
  constraint ledger_watermark_only_row_check check (only_row)
);

create table letter (
  invoice_id id not null,
  payment_id id not null,
  party_id id not null,
  series_id id not null,
  status text not null,
  created_at timestamp with time zone not null,
  recipient text not null,
  paid_at timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  reference text not null,
  approval_code text,
  ended_at timestamp with time zone,
  subject text,
  text_body text,
  html_body text,
  refusal text,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint letter_pkey primary key (invoice_id, payment_id),
  constraint letter_check check ((status = 'waiting'::text) = (ended_at is null)),
  constraint letter_check1 check (status = 'waiting'::text or text_body is not null),
  constraint letter_status_check check (status = any (array['waiting'::text, 'kept'::text, 'sent'::text, 'refused'::text]))
);
create index letter_due on letter using btree (wake_at) where wake_at is not null;
create index letter_of_party on letter using btree (party_id, created_at);
create index letter_stuck on letter using btree (stuck_at) where stuck_at is not null;

create table party (
  party_id id not null,
  name text not null,
  is_blocked boolean default false not null,
  is_suspended boolean default false not null,
  created_at timestamp with time zone not null,
  constraint party_pkey primary key (party_id)
);

create table payment (
  invoice_id id not null,
  payment_id id not null,
  party_id id not null,
  shop_id id not null,
  version integer not null,
  status text not null,
  created_at timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  captured_minor bigint,
  refunded_minor bigint default 0 not null,
  terms json not null,
  state json not null,
  external_id text,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint payment_pkey primary key (invoice_id, payment_id),
  constraint payment_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint payment_check check (captured_minor >= 1 and captured_minor <= amount_minor),
  constraint payment_check1 check (refunded_minor >= 0 and refunded_minor <= captured_minor or refunded_minor = 0),
  constraint payment_check2 check ((captured_minor is not null) = (status = any (array['capturing'::text, 'captured'::text, 'refunding'::text, 'refunded'::text]))),
  constraint payment_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint payment_status_check check (status = any (array['authorising'::text, 'challenged'::text, 'reversing'::text, 'held'::text, 'capturing'::text, 'cancelling'::text, 'captured'::text, 'refunding'::text, 'cancelled'::text, 'refunded'::text, 'failed'::text]))
);
create index payment_due on payment using btree (wake_at) where wake_at is not null;
create index payment_stuck on payment using btree (stuck_at) where stuck_at is not null;

create table payout_fee (
  party_id id not null,
  currency text not null,
  basis_points bigint not null,
  fixed_minor bigint not null,
  constraint payout_fee_pkey primary key (party_id, currency),
  constraint payout_fee_basis_points_check check (basis_points >= 0 and basis_points <= 10000),
  constraint payout_fee_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint payout_fee_fixed_minor_check check (fixed_minor >= 0)
);

create table payout_grant (
  grant_id id not null,
  token_hash bytea not null,
  kind text not null,
  entity_id id not null,
  amount_minor bigint,
  currency text,
  valid_until timestamp with time zone not null,
  used_by id,
  constraint payout_grant_pkey primary key (grant_id),
  constraint payout_grant_check check ((kind = 'wallet'::text) = (amount_minor is not null) and (amount_minor is null) = (currency is null)),
  constraint payout_grant_kind_check check (kind = any (array['wallet'::text, 'destination'::text]))
);

create table payout_limit (
  party_id id not null,
  level text not null,
  currency text not null,
  per_payout_minor bigint,
  per_day_minor bigint,
  per_month_minor bigint,
  payouts_per_day bigint,
  constraint payout_limit_pkey primary key (party_id, level, currency),
  constraint payout_limit_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint payout_limit_level_check check (level = any (array['anonymous'::text, 'partial'::text, 'identified'::text])),
  constraint payout_limit_payouts_per_day_check check (payouts_per_day >= 0),
  constraint payout_limit_per_day_minor_check check (per_day_minor >= 0),
  constraint payout_limit_per_month_minor_check check (per_month_minor >= 0),
  constraint payout_limit_per_payout_minor_check check (per_payout_minor >= 0)
);

create table payout_terminal (
  party_id id not null,
  terminal_id id not null,
  bank_id id not null,
  merchant_id text not null,
  descriptor text not null,
  priority integer default 1 not null,
  created_at timestamp with time zone not null,
  retired_at timestamp with time zone,
  constraint payout_terminal_pkey primary key (party_id, terminal_id)
);

create table payout_turnover (
  wallet_id id not null,
  period text collate "C" not null,
  amount_minor bigint not null,
  payouts bigint not null,
  constraint payout_turnover_pkey primary key (wallet_id, period)
) with (fillfactor=50);

create table recurring_settings (
  party_id id not null,
  shop_id id not null,
  settings json not null,
  constraint recurring_settings_pkey primary key (party_id, shop_id)
);

create table refund (
  invoice_id id not null,
  payment_id id not null,
  refund_id id not null,
  party_id id not null,
  created_at timestamp with time zone not null,
  status text not null,
  amount_minor bigint not null,
  currency text not null,
  fee_minor bigint not null,
  reason text,
  cart json,
  external_id text,
  failure json,
  constraint refund_pkey primary key (invoice_id, payment_id, refund_id),
  constraint refund_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint refund_check check ((failure is not null) = (status = 'failed'::text)),
  constraint refund_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint refund_fee_minor_check check (fee_minor >= 0),
  constraint refund_status_check check (status = any (array['pending'::text, 'succeeded'::text, 'failed'::text]))
);

create unlogged table security_code (
  session_id id not null,
  card_id id not null,
  half_hour integer not null,
  sealed bytea not null,
  expires_at timestamp with time zone not null,
  constraint security_code_pkey primary key (session_id)
) with (autovacuum_vacuum_threshold=0, autovacuum_vacuum_scale_factor=0);
create index security_code_expiry on security_code using btree (expires_at);

create unlogged table security_code_key (
  half_hour integer not null,
  wrapped bytea not null,
  constraint security_code_key_pkey primary key (half_hour)
) with (autovacuum_vacuum_threshold=0, autovacuum_vacuum_scale_factor=0);

create table series (
  series_id id not null,
  party_id id not null,
  shop_id id not null,
  version integer not null,
  state text not null,
  card_key bytea not null,
  card_token id not null,
  chain text not null,
  terms json not null,
  standing json not null,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint series_pkey primary key (series_id),
  constraint series_state_check check (state = any (array['active'::text, 'stopped'::text, 'withdrawn'::text]))
);
create index series_due on series using btree (wake_at) where wake_at is not null;
create index series_of_card on series using btree (card_key) where state = 'active'::text;
create index series_stuck on series using btree (stuck_at) where stuck_at is not null;

create table series_attempt (
  series_id id not null,
  invoice_id id not null,
  payment_id id not null,
  created_at timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  is_retry boolean not null,
  outcome text not null,
  packs text not null,
  ended_at timestamp with time zone,
  network text,
  code text,
  advice text,
  effect text,
  rule text,
  pack text,
  constraint series_attempt_pkey primary key (series_id, invoice_id, payment_id),
  constraint series_attempt_check check ((ended_at is null) = (outcome = 'pending'::text)),
  constraint series_attempt_outcome_check check (outcome = any (array['pending'::text, 'approved'::text, 'declined'::text, 'lost'::text, 'unsent'::text]))
);
create index series_attempt_age on series_attempt using btree (series_id, created_at);
create index series_attempt_pending on series_attempt using btree (series_id) where outcome = 'pending'::text;

create table shop (
  party_id id not null,
  shop_id id not null,
  realm text not null,
  name text not null,
  description text,
  url text not null,
  category_id integer not null,
  currency text not null,
  is_blocked boolean default false not null,
  is_suspended boolean default false not null,
  created_at timestamp with time zone not null,
  fees json default '{}'::json not null,
  origins text default ''::text not null,
  constraint shop_pkey primary key (party_id, shop_id),
  constraint shop_category_id_fkey foreign key (category_id) references category(category_id),
  constraint shop_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint shop_realm_check check (realm = any (array['test'::text, 'live'::text]))
);

create table terminal (
  party_id id not null,
  shop_id id not null,
  terminal_id id not null,
  bank_id id not null,
  merchant_id text not null,
  descriptor text not null,
  priority integer default 1 not null,
  created_at timestamp with time zone not null,
  retired_at timestamp with time zone,
  constraint terminal_pkey primary key (party_id, shop_id, terminal_id)
);

create table test_clock (
  party_id id not null,
  offset_ms bigint not null,
  constraint test_clock_pkey primary key (party_id),
  constraint test_clock_offset_ms_check check (offset_ms >= 0)
);

create table wallet (
  wallet_id id not null,
  party_id id not null,
  identity_id id not null,
  name text not null,
  currency text not null,
  created_at timestamp with time zone not null,
  metadata json,
  external_id text,
  constraint wallet_pkey primary key (wallet_id),
  constraint wallet_currency_check check (currency ~ '^[A-Z]{3}$'::text)
);
create index wallet_of_party on wallet using btree (party_id, created_at, wallet_id);

create table wallet_transfer (
  transfer_id id not null,
  party_id id not null,
  sender_id id not null,
  receiver_id id not null,
  created_at timestamp with time zone not null,
  amount_minor bigint not null,
  currency text not null,
  status text not null,
  external_id text,
  constraint wallet_transfer_pkey primary key (transfer_id),
  constraint wallet_transfer_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint wallet_transfer_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint wallet_transfer_status_check check (status = any (array['succeeded'::text, 'failed'::text]))
);

create table webhook (
  webhook_id id not null,
  party_id id not null,
  topic text not null,
  owner_id id not null,
  part_id id,
  event_types text not null,
  url text not null,
  created_at timestamp with time zone not null,
  written_in xid8 default pg_current_xact_id() not null,
  made_after text default pg_current_snapshot()::text,
  constraint webhook_pkey primary key (webhook_id),
  constraint webhook_topic_check check (topic = any (array['InvoicesTopic'::text, 'CustomersTopic'::text, 'RecurringTopic'::text, 'WithdrawalsTopic'::text, 'DestinationsTopic'::text])),
  constraint webhook_url_check check (length(url) <= 1000)
);
create index webhook_of_party on webhook using btree (party_id);

create table webhook_attempt (
  webhook_id id not null,
  attempted_at timestamp with time zone not null,
  aggregate_id id not null,
  "position" bigint not null,
  attempt integer not null,
  event_type text not null,
  duration_ms integer not null,
  status integer,
  failure text,
  constraint webhook_attempt_pkey primary key (webhook_id, attempted_at, aggregate_id, "position", attempt)
);
create index webhook_attempt_age on webhook_attempt using btree (attempted_at);

create table webhook_feed (
  only_row boolean default true not null,
  seen text not null,
  foreign_since timestamp with time zone,
  constraint webhook_feed_pkey primary key (only_row),
  constraint webhook_feed_only_row_check check (only_row)
);

create table webhook_key (
  webhook_id id not null,
  generation integer not null,
  public_key text not null,
  signing_public_key text not null,
  sealed bytea not null,
  seal_generation integer not null,
  signs_from timestamp with time zone not null,
  constraint webhook_key_pkey primary key (webhook_id, generation)
);

create table webhook_message (
  aggregate_id id not null,
  "position" bigint not null,
  body text not null,
  created_at timestamp with time zone not null,
  constraint webhook_message_pkey primary key (aggregate_id, "position")
);
create index webhook_message_age on webhook_message using btree (created_at);

create table webhook_queue (
  aggregate_id id not null,
  webhook_id id not null,
  next_position bigint not null,
  last_position bigint not null,
  replay_until bigint,
  resume_at bigint,
  waiting_since timestamp with time zone,
  last_failure text,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  leased_until timestamp with time zone,
  rewinds integer default 0 not null,
  constraint webhook_queue_pkey primary key (aggregate_id, webhook_id),
  constraint webhook_queue_check check ((replay_until is null) = (resume_at is null))
);
create index webhook_queue_due on webhook_queue using btree (webhook_id, wake_at) where wake_at is not null;
create index webhook_queue_stuck on webhook_queue using btree (webhook_id, stuck_at) where stuck_at is not null;
create index webhook_queue_waiting on webhook_queue using btree (webhook_id, waiting_since) where wake_at is not null;

create table webhook_series (
  aggregate_id id not null,
  chunk integer not null,
  base bigint not null,
  constraint webhook_series_pkey primary key (aggregate_id, chunk),
  constraint webhook_series_base_key unique (base)
);

create table webhook_series_counter (
  only_row boolean default true not null,
  last_base bigint not null,
  constraint webhook_series_counter_pkey primary key (only_row),
  constraint webhook_series_counter_only_row_check check (only_row)
);

create table withdrawal (
  withdrawal_id id not null,
  party_id id not null,
  wallet_id id not null,
  destination_id id not null,
  identity_id id not null,
  version integer not null,
  status text not null,
  created_at timestamp with time zone not null,
  amount_minor bigint not null,
  fee_minor bigint not null,
  currency text not null,
  terms json not null,
  result json,
  external_id text,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint withdrawal_pkey primary key (withdrawal_id),
  constraint withdrawal_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint withdrawal_check check ((result is not null) = (status <> 'sending'::text)),
  constraint withdrawal_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint withdrawal_fee_minor_check check (fee_minor >= 0),
  constraint withdrawal_status_check check (status = any (array['sending'::text, 'succeeded'::text, 'failed'::text]))
);
create index withdrawal_due on withdrawal using btree (wake_at) where wake_at is not null;
create index withdrawal_of_party on withdrawal using btree (party_id, created_at, withdrawal_id);
create index withdrawal_stuck on withdrawal using btree (stuck_at) where stuck_at is not null;
