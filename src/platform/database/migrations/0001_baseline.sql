-- The schema of 0.1.0, grouped by module. Every primary key begins with its aggregate's id, so that the schema can be
-- distributed by it. What is unique across aggregates has a table of its own. Identifiers compare byte by byte
-- (collate "C"), which is cheaper and the same on every host.

create domain id as text collate "C" check (length(value) between 1 and 40);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $$;

-- A statement that changes several aggregates under their versions calls this when one of them has another version. The
-- whole statement fails, and changes none of them.
create function has_moved() returns integer language plpgsql as $$
begin
  raise exception using errcode = 'MV001', message = 'somebody else has changed it since it was read';
end $$;

-- Platform ------------------------------------------------------------------------------------------------------------

-- The event log of every aggregate: in order, without gaps, never changed.
create table event (
  aggregate_id id not null,
  sequence     int not null check (sequence >= 1),
  aggregate    text not null,
  party_id     id not null,
  created_at   timestamptz not null,
  facts        json not null,
  -- The transaction that wrote it: the webhook feed finds new events by it, whatever the order of the commits.
  written_in   xid8 not null default pg_current_xact_id(),
  primary key (aggregate_id, sequence)
);
create index event_written_in on event (written_in);
-- For replays by time. Rows lie in the order they were written, so a page of this index covers thousands of them.
create index event_time on event using brin (created_at) with (pages_per_range = 32);
create trigger event_is_append_only before update or delete on event
  for each row execute function refuse_change();

-- A merchant's own external IDs: one entity for each operation and external ID. Never deleted.
create table external_id (
  party_id    id not null,
  operation   text not null,
  external_id text collate "C" not null,
  entity_id   id not null,
  -- Hash of the fields that make two requests the same request.
  fingerprint bytea not null,
  primary key (party_id, operation, external_id)
);

-- The first response to each Idempotency-Key, encrypted, for seven days.
create table idempotency_key (
  -- The party that sent the key, or the one invoice or customer whose access token was used.
  owner_id         id not null,
  idempotency_key  text collate "C" not null,
  request_hash     bytea not null,
  status           int,
  sealed_body      bytea,
  seal_generation  int,
  created_at       timestamptz not null,
  primary key (owner_id, idempotency_key)
);
create index idempotency_key_age on idempotency_key (created_at);

-- Data keys, wrapped by the master key. The newest signs and encrypts. Older ones still verify and decrypt.
create table data_key (
  purpose       text not null,
  generation    int not null,
  wrapped       bytea not null,
  master_key_id text not null,
  created_at    timestamptz not null,
  primary key (purpose, generation)
);

-- Merchants -----------------------------------------------------------------------------------------------------------

create table party (
  party_id     id primary key,
  name         text not null,
  is_blocked   boolean not null default false,
  is_suspended boolean not null default false,
  created_at   timestamptz not null
);

-- How far a party's time has been moved forward. Only a sandbox has rows here.
create table test_clock (
  party_id  id primary key,
  offset_ms bigint not null check (offset_ms >= 0)
);

create table category (
  category_id int primary key,
  name        text not null,
  description text
);
insert into category (category_id, name, description)
values (1, 'Goods and services', 'Everything that has no category of its own');

create table shop (
  party_id     id not null,
  shop_id      id not null,
  realm        text not null check (realm in ('test', 'live')),
  name         text not null,
  description  text,
  url          text not null,
  category_id  int not null references category,
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  is_blocked   boolean not null default false,
  is_suspended boolean not null default false,
  created_at   timestamptz not null,
  -- The operator's fees for the shop's payments. What is not named is free.
  fees         json not null default '{}',
  -- The origins of the shop's own pages, separated by spaces: they may show the checkout in a frame and get the payer back.
  origins      text not null default '',
  primary key (party_id, shop_id)
);

-- The secret itself is never stored, only its hash under a data key.
create table api_key (
  key_id          id primary key,
  party_id        id not null,
  name            text not null,
  realm           text not null check (realm in ('test', 'live')),
  -- Names from src/platform/http/access.ts, separated by spaces; * for all of them.
  scopes          text not null,
  secret_hash     bytea not null,
  hash_generation int not null,
  created_at      timestamptz not null,
  expires_at      timestamptz,
  revoked_at      timestamptz
);
create index api_key_of_party on api_key (party_id);

-- Acquiring -----------------------------------------------------------------------------------------------------------

create table bank (
  bank_id         id primary key,
  url             text not null,
  sealed_secret   bytea not null,
  seal_generation int not null,
  created_at      timestamptz not null
);

-- Through which bank, and under which name there, a shop takes payments.
create table terminal (
  party_id    id not null,
  shop_id     id not null,
  terminal_id id not null,
  bank_id     id not null,
  -- The merchant's name with that bank, and what payers read on their statements.
  merchant_id text not null,
  descriptor  text not null,
  -- The lowest one whose bank answers is used.
  priority    int not null default 1,
  created_at  timestamptz not null,
  -- A retired terminal takes no new payments. What was paid through it is still captured, queried and refunded through it.
  retired_at  timestamptz,
  primary key (party_id, shop_id, terminal_id)
);

-- A bank's transaction report during a reconciliation: filled at the start of a run, emptied at its end. Unlogged, so that
-- after a crash of the database it is empty.
create unlogged table bank_line (
  run_id       id not null,
  -- What the operation's id begins with, up to its first dot: the id of its aggregate, if it is one of this service.
  aggregate_id text collate "C" not null,
  operation_id text collate "C" not null,
  sequence     bigint not null,
  kind         text not null,
  original_id  text collate "C",
  amount_minor bigint not null,
  currency     text not null,
  sign         int not null,
  booked_at    timestamptz not null,
  card_mask    text,
  primary key (run_id, aggregate_id, operation_id, sequence)
);

-- Invoices ------------------------------------------------------------------------------------------------------------

create table invoice (
  invoice_id   id primary key,
  party_id     id not null,
  shop_id      id not null,
  -- The sequence of the latest event: every change writes exactly one.
  version      int not null,
  status       text not null check (status in ('unpaid', 'paid', 'fulfilled', 'cancelled')),
  reason       text,
  created_at   timestamptz not null,
  due_date     timestamptz not null,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  product      text not null,
  description  text,
  cart         json,
  bank_account json,
  client_info  json,
  metadata     json not null,
  external_id  text,
  -- The row's job (src/platform/jobs/): when a node must run it, how often it failed, and why it is stuck. Every table
  -- with jobs has these four columns and two indexes.
  wake_at      timestamptz,
  attempts     int not null default 0,
  stuck_at     timestamptz,
  stuck_reason text,
  payments_made       int not null default 0,
  payment_in_progress boolean not null default false,
  check ((reason is not null) = (status in ('fulfilled', 'cancelled')))
);
create index invoice_due on invoice (wake_at) where wake_at is not null;
create index invoice_stuck on invoice (stuck_at) where stuck_at is not null;

-- Payments ------------------------------------------------------------------------------------------------------------

create table payment (
  invoice_id     id not null,
  payment_id     id not null,
  party_id       id not null,
  shop_id        id not null,
  version        int not null,
  status         text not null check (status in (
    'authorising', 'challenged', 'reversing', 'held', 'capturing', 'cancelling', 'captured', 'refunding', 'cancelled',
    'refunded', 'failed')),
  created_at     timestamptz not null,
  amount_minor   bigint not null check (amount_minor between 1 and 999999999999),
  currency       text not null check (currency ~ '^[A-Z]{3}$'),
  captured_minor bigint check (captured_minor between 1 and amount_minor),
  refunded_minor bigint not null default 0 check (refunded_minor between 0 and captured_minor or refunded_minor = 0),
  -- What is fixed at creation, and what belongs to the present status. Neither holds money.
  terms          json not null,
  state          json not null,
  external_id    text,
  wake_at        timestamptz,
  attempts       int not null default 0,
  stuck_at       timestamptz,
  stuck_reason   text,
  primary key (invoice_id, payment_id),
  check ((captured_minor is not null) = (status in ('capturing', 'captured', 'refunding', 'refunded')))
);
create index payment_due on payment (wake_at) where wake_at is not null;
create index payment_stuck on payment (stuck_at) where stuck_at is not null;

-- What each refund came to. A refund in progress is in the state of its payment, so that there is at most one.
create table refund (
  invoice_id   id not null,
  payment_id   id not null,
  refund_id    id not null,
  party_id     id not null,
  created_at   timestamptz not null,
  status       text not null check (status in ('pending', 'succeeded', 'failed')),
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  fee_minor    bigint not null check (fee_minor >= 0),
  reason       text,
  cart         json,
  external_id  text,
  failure      json,
  primary key (invoice_id, payment_id, refund_id),
  check ((failure is not null) = (status = 'failed'))
);

-- Cards: the vault ----------------------------------------------------------------------------------------------------

-- The only place with card numbers, encrypted, and with security codes, for minutes. See docs/decisions/0011-card-vault.md.
create table card (
  card_id                id primary key,
  party_id               id not null,
  session_id             id not null,
  -- The one object whose access token created it; null where an API key did.
  made_for_kind          text check (made_for_kind in ('invoice', 'customer')),
  made_for_id            id,
  -- By real time: an hour later a card that is not retained is deleted.
  stored_at              timestamptz not null,
  -- On the party's own clock: until then its token is accepted.
  valid_until            timestamptz not null,
  -- A payment, a binding, a destination or a series refers to it.
  is_kept                boolean not null default false,
  payment_system         text not null,
  mask                   text not null check (mask ~ '^\d{6}\*{2,9}\d{4}$'),
  client_info            json not null,
  external_id            text,
  -- Number, expiry and holder.
  sealed                 bytea not null,
  seal_generation        int not null,
  -- Keyed hash of the number.
  fingerprint            bytea not null,
  fingerprint_generation int not null,
  -- Keyed hash of number and expiry, always under the first key: what repeated requests are compared by.
  identity_hash          bytea not null,
  -- A card that was stored to be paid out to is never charged, and the other way round.
  purpose                text not null default 'payment' check (purpose in ('payment', 'payout')),
  -- Why it is retained. Its job deletes it when none of the reasons holds any more.
  kept_for               json,
  wake_at                timestamptz,
  attempts               int not null default 0,
  stuck_at               timestamptz,
  stuck_reason           text,
  check ((made_for_kind is null) = (made_for_id is null))
);
create index card_unkept on card (stored_at) where not is_kept;
create index card_by_generation on card (seal_generation, card_id);
create index card_due on card (wake_at) where wake_at is not null;
create index card_stuck on card (stuck_at) where stuck_at is not null;

-- Unlogged: neither in the write-ahead log nor in a base backup, a replica or after a crash. Vacuumed as soon as a row was
-- deleted, so that no dead row keeps a code.
create unlogged table security_code_key (
  -- Since 1970.
  half_hour int primary key,
  wrapped   bytea not null
) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);

create unlogged table security_code (
  session_id id primary key,
  card_id    id not null,
  half_hour  int not null,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
create index security_code_expiry on security_code (expires_at);

-- Ledger --------------------------------------------------------------------------------------------------------------

-- Double entry with two-phase transfers (src/platform/ledger/, docs/decisions/0012-ledger.md). A transfer belongs to the
-- aggregate that caused it and its key leads with that aggregate's id, so that it lies beside the row and the event it is
-- written with. A balance belongs to an account, and its key leads with the account's.

-- Written once, when an account is first used. Nothing refers to it by a foreign key: every insert that did would take a
-- lock on the row of an account that all payments use.
create table ledger_account (
  -- Made of the parts below, so that realm and currency can be compared wherever the id stands.
  account_id text collate "C" primary key,
  realm      text not null check (realm in ('test', 'live')),
  currency   text not null check (currency ~ '^[A-Z]{3}$'),
  code       text not null check (code ~ '^[a-z]+\.[a-z_]+$'),
  party_id   id,
  owner_id   id,
  -- What is available on it never falls below zero.
  has_floor  boolean not null,
  -- Over how many rows beside the main one its balance is spread. May be changed at any time.
  lanes      int not null check (lanes between 0 and 256),
  opened_at  timestamptz not null default now(),
  constraint ledger_account_is_named_by_its_parts check (account_id = realm || ':' || currency || ':' || code
    || coalesce(':' || replace(replace(party_id, '%', '%25'), ':', '%3A'), '')
    || coalesce(':' || replace(replace(owner_id, '%', '%25'), ':', '%3A'), ''))
);
create trigger ledger_account_keeps_its_name
  before delete or update of account_id, realm, currency, code, party_id, owner_id, has_floor on ledger_account
  for each row execute function refuse_change();

-- The sums of an account's transfers, in its main row (lane 0) and its lanes. Nothing refers to it and no index has a
-- column that changes, so that a new version of a row stays on its page.
create table ledger_balance (
  account_id      text collate "C" not null,
  lane            int not null check (lane >= 0),
  -- The only row of an account with a floor: here a check on the row itself holds the floor.
  stands_alone    boolean not null,
  debits_posted   bigint not null default 0 check (debits_posted >= 0),
  credits_posted  bigint not null default 0 check (credits_posted >= 0),
  debits_pending  bigint not null default 0 check (debits_pending >= 0),
  credits_pending bigint not null default 0 check (credits_pending >= 0),
  primary key (account_id, lane),
  constraint ledger_balance_holds_the_floor check (not stands_alone or credits_posted >= debits_posted + debits_pending)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- What moved, never changed. A row moves two numbers from one account to the other: what is posted and what is pending.
create table ledger_transfer (
  aggregate_id   id not null,
  operation_id   text collate "C" not null,
  -- Tells the transfers of one operation apart: hold, fee.
  step           text collate "C" not null,
  phase          text not null check (phase in ('single', 'pending', 'post', 'void')),
  -- A posting or voiding bears the step of the pending transfer it completes, and the primary key has room for one.
  resolves       boolean not null check (resolves = (phase in ('post', 'void'))),
  debit_account  text collate "C" not null,
  debit_lane     int not null,
  credit_account text collate "C" not null,
  credit_lane    int not null,
  posted_minor   bigint not null,
  pending_minor  bigint not null,
  -- When it happened for the business, on the party's clock.
  happened_at    timestamptz not null,
  -- When its transaction began, by the database's clock: the ledger checks know by it what they have added up.
  created_at     timestamptz not null default now(),
  primary key (aggregate_id, operation_id, step, resolves),
  check (case phase
    when 'single' then posted_minor > 0 and pending_minor = 0
    when 'pending' then posted_minor = 0 and pending_minor > 0
    when 'post' then posted_minor > 0 and pending_minor <= -posted_minor
    when 'void' then posted_minor = 0 and pending_minor < 0
  end),
  check (debit_account <> credit_account),
  -- The first nine characters of an account's id are its realm and its currency: test:RUB: or live:EUR:.
  constraint ledger_transfer_stays_in_realm_and_currency check (left(debit_account, 9) = left(credit_account, 9))
);
create index ledger_transfer_age on ledger_transfer using brin (created_at);
create trigger ledger_transfer_is_append_only before update or delete on ledger_transfer
  for each row execute function refuse_change();
create trigger ledger_transfer_is_never_emptied before truncate on ledger_transfer
  for each statement execute function refuse_change();

-- The sums of all transfers created before the watermark. A check adds only what came since.
create table ledger_checkpoint (
  account_id      text collate "C" not null,
  lane            int not null,
  debits_posted   bigint not null,
  credits_posted  bigint not null,
  debits_pending  bigint not null,
  credits_pending bigint not null,
  primary key (account_id, lane)
);
create table ledger_watermark (
  only_row   boolean primary key default true check (only_row),
  reached_at timestamptz not null
);
insert into ledger_watermark (reached_at) values ('-infinity');

-- 0002 replaces the functions of the ledger, and describes them.
create function ledger_changes(moves ledger_transfer[])
returns table (account_id text, lane int, debits_posted numeric, credits_posted numeric, debits_pending numeric,
  credits_pending numeric)
language sql immutable as $$
  select account_id, lane, sum(debits_posted), sum(credits_posted), sum(debits_pending), sum(credits_pending)
  from (
    select debit_account as account_id, debit_lane as lane, posted_minor as debits_posted, 0 as credits_posted,
      pending_minor as debits_pending, 0 as credits_pending from unnest(moves)
    union all
    select credit_account, credit_lane, 0, posted_minor, 0, pending_minor from unnest(moves)
  ) as leg
  group by account_id, lane
$$;

create function post_journal(for_aggregate text, for_operation text, happened timestamptz, entries json)
returns text language plpgsql as $$
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

create function post_single(for_aggregate text, for_operation text, happened timestamptz, entries json)
returns text language plpgsql as $$
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

create function record_journal(for_aggregate text, for_operation text, happened timestamptz, entries json)
returns text language plpgsql as $$
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

-- Recurring charges ---------------------------------------------------------------------------------------------------

-- What a shop wants of recurring charges where it differs from the rules.
create table recurring_settings (
  party_id id not null,
  shop_id  id not null,
  settings json not null,
  primary key (party_id, shop_id)
);

create table series (
  -- Of a parent payment: its invoice and its number there.
  series_id    id primary key,
  party_id     id not null,
  shop_id      id not null,
  version      int not null,
  state        text not null check (state in ('active', 'stopped', 'withdrawn')),
  -- The same for every token of the same number: a keyed hash under the first key.
  card_key     bytea not null,
  card_token   id not null,
  -- Binds every entry of its log to all before it (src/recurring/).
  chain        text not null,
  -- What is fixed when it starts, and what its charges change.
  terms        json not null,
  standing     json not null,
  wake_at      timestamptz,
  attempts     int not null default 0,
  stuck_at     timestamptz,
  stuck_reason text
);
create index series_due on series (wake_at) where wake_at is not null;
create index series_stuck on series (stuck_at) where stuck_at is not null;
create index series_of_card on series (card_key) where state = 'active';

create table series_attempt (
  series_id    id not null,
  invoice_id   id not null,
  payment_id   id not null,
  created_at   timestamptz not null,
  amount_minor bigint not null,
  currency     text not null,
  -- Created while charges of the series were failing.
  is_retry     boolean not null,
  outcome      text not null check (outcome in ('pending', 'approved', 'declined', 'lost', 'unsent')),
  -- The rule packs it was allowed under.
  packs        text not null,
  ended_at     timestamptz,
  network      text,
  code         text,
  advice       text,
  -- What follows from the response, by which rule of which pack.
  effect       text,
  rule         text,
  pack         text,
  primary key (series_id, invoice_id, payment_id),
  check ((ended_at is null) = (outcome = 'pending'))
);
create index series_attempt_age on series_attempt (series_id, created_at);
create index series_attempt_pending on series_attempt (series_id) where outcome = 'pending';

-- Declines of a card, payer present or not: the networks count both.
create table card_decline (
  card_key     bytea not null,
  invoice_id   id not null,
  payment_id   id not null,
  party_id     id not null,
  shop_id      id not null,
  amount_minor bigint not null,
  currency     text not null,
  by_merchant  boolean not null,
  attempted_at timestamptz not null,
  primary key (card_key, invoice_id, payment_id)
);
create index card_decline_age on card_decline (card_key, attempted_at);

-- What ended all recurring charges of a card. A consent given later is not concerned.
create table card_stop (
  card_key   bytea not null,
  invoice_id id not null,
  payment_id id not null,
  party_id   id not null,
  shop_id    id not null,
  -- In every shop, or in this one.
  everywhere boolean not null,
  stopped_at timestamptz not null,
  rule       text not null,
  pack       text not null,
  primary key (card_key, invoice_id, payment_id)
);

-- Receipts ------------------------------------------------------------------------------------------------------------

-- The outbox: e-mails to payers, one for each recurring payment and for the one that began the series. Their job is in
-- src/receipts/worker.ts.
create table letter (
  invoice_id    id not null,
  payment_id    id not null,
  party_id      id not null,
  series_id     id not null,
  -- To be sent; not sent, because there is no mail server; accepted by the mail server; rejected there for good.
  status        text not null check (status in ('waiting', 'kept', 'sent', 'refused')),
  created_at    timestamptz not null,
  recipient     text not null,
  -- What the receipt says of the payment. The rest comes from the series and the shop.
  paid_at       timestamptz not null,
  amount_minor  bigint not null,
  currency      text not null,
  reference     text not null,
  approval_code text,
  -- The final text, and when it was written.
  ended_at      timestamptz,
  subject       text,
  text_body     text,
  html_body     text,
  refusal       text,
  wake_at       timestamptz,
  attempts      int not null default 0,
  stuck_at      timestamptz,
  stuck_reason  text,
  primary key (invoice_id, payment_id),
  check ((status = 'waiting') = (ended_at is null)),
  check ((status = 'waiting') or text_body is not null)
);
create index letter_due on letter (wake_at) where wake_at is not null;
create index letter_stuck on letter (stuck_at) where stuck_at is not null;
create index letter_of_party on letter (party_id, created_at);

-- Customers -----------------------------------------------------------------------------------------------------------

create table customer (
  customer_id       id primary key,
  party_id          id not null,
  shop_id           id not null,
  version           int not null,
  status            text not null check (status in ('unready', 'ready', 'deleted')),
  -- The card that is charged: the one bound last and not revoked.
  active_binding_id id,
  created_at        timestamptz not null,
  contact_info      json not null,
  metadata          json not null,
  external_id       text,
  bindings_made     int not null default 0,
  check ((status = 'ready') = (active_binding_id is not null))
);

create table binding (
  customer_id      id not null,
  binding_id       id not null,
  party_id         id not null,
  shop_id          id not null,
  -- The version of the customer that its latest change led to.
  version          int not null,
  -- Counts the bindings of the customer, from 1.
  number           int not null,
  status           text not null check (status in (
    'authorising', 'challenged', 'reversing', 'returning', 'refunding', 'succeeded', 'withdrawn', 'failed')),
  created_at       timestamptz not null,
  amount_minor     bigint not null check (amount_minor between 1 and 999999999999),
  currency         text not null check (currency ~ '^[A-Z]{3}$'),
  -- A keyed hash, as in the vault: the bindings of one card are counted by it.
  card_fingerprint bytea not null,
  -- What is fixed at creation, and what belongs to the present status. Neither holds money.
  terms            json not null,
  state            json not null,
  external_id      text,
  -- While the card may be charged: the version of the customer with which it was bound. The highest is the active one.
  bound_at_version int,
  -- While the verification refund is not confirmed: by when it should be.
  return_by        timestamptz,
  wake_at          timestamptz,
  attempts         int not null default 0,
  stuck_at         timestamptz,
  stuck_reason     text,
  -- The series of the bound card. It is queried by its id also when the card is deleted.
  series_id        id,
  primary key (customer_id, binding_id),
  unique (customer_id, number),
  check ((status = 'succeeded') = (bound_at_version is not null)),
  check ((status in ('reversing', 'returning', 'refunding')) = (return_by is not null))
);
create index binding_due on binding (wake_at) where wake_at is not null;
create index binding_stuck on binding (stuck_at) where stuck_at is not null;
create index binding_bound on binding (customer_id, bound_at_version) where bound_at_version is not null;
create index binding_owed on binding (return_by) where return_by is not null;
create index binding_of_card on binding (card_fingerprint, created_at);

-- Identities, wallets and payouts -------------------------------------------------------------------------------------

-- The money itself is in the ledger, a wallet's account under the wallet's id.

create table identity (
  identity_id         id primary key,
  party_id            id not null,
  version             int not null,
  name                text not null,
  provider            text not null,
  class               text not null,
  level               text not null check (level in ('anonymous', 'partial', 'identified')),
  is_blocked          boolean not null default false,
  created_at          timestamptz not null,
  metadata            json,
  external_id         text,
  -- The passed identification whose result is in force.
  effective_challenge id
);
create index identity_of_party on identity (party_id, created_at, identity_id);

-- Identifications of an identity; at most one is in progress.
create table identity_challenge (
  identity_id    id not null,
  challenge_id   id not null,
  type           text not null,
  proofs         json not null,
  status         text not null check (status in ('pending', 'completed', 'failed')),
  created_at     timestamptz not null,
  failure_reason text,
  primary key (identity_id, challenge_id),
  check ((failure_reason is not null) = (status = 'failed'))
);
create unique index identity_challenge_under_way on identity_challenge (identity_id) where status = 'pending';

create table wallet (
  wallet_id   id primary key,
  party_id    id not null,
  identity_id id not null,
  name        text not null,
  currency    text not null check (currency ~ '^[A-Z]{3}$'),
  created_at  timestamptz not null,
  metadata    json,
  external_id text
);
create index wallet_of_party on wallet (party_id, created_at, wallet_id);

-- Money that came into a wallet from outside, or from a shop's balance.
create table deposit (
  deposit_id   id primary key,
  party_id     id not null,
  wallet_id    id not null,
  identity_id  id not null,
  -- The bank account or the shop it came from.
  source_id    id not null,
  created_at   timestamptz not null,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  description  text
);
create index deposit_of_party on deposit (party_id, created_at, deposit_id);

create table wallet_transfer (
  transfer_id  id primary key,
  party_id     id not null,
  sender_id    id not null,
  receiver_id  id not null,
  created_at   timestamptz not null,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  status       text not null check (status in ('succeeded', 'failed')),
  external_id  text
);

create table destination (
  destination_id id primary key,
  party_id       id not null,
  identity_id    id not null,
  version        int not null,
  name           text not null,
  currency       text not null check (currency ~ '^[A-Z]{3}$'),
  status         text not null check (status in ('checking', 'authorized', 'refused')),
  created_at     timestamptz not null,
  -- The vault's token of the card, and what may be shown of it.
  card_token     text not null,
  card           json not null,
  failure        json,
  metadata       json,
  external_id    text,
  wake_at        timestamptz,
  attempts       int not null default 0,
  stuck_at       timestamptz,
  stuck_reason   text,
  check ((failure is not null) = (status = 'refused'))
);
create index destination_of_party on destination (party_id, created_at, destination_id);
create index destination_due on destination (wake_at) where wake_at is not null;
create index destination_stuck on destination (stuck_at) where stuck_at is not null;

create table withdrawal (
  withdrawal_id  id primary key,
  -- Who asked for it; the wallet may be another's, by a grant.
  party_id       id not null,
  wallet_id      id not null,
  destination_id id not null,
  -- Of the wallet.
  identity_id    id not null,
  version        int not null,
  status         text not null check (status in ('sending', 'succeeded', 'failed')),
  created_at     timestamptz not null,
  amount_minor   bigint not null check (amount_minor between 1 and 999999999999),
  fee_minor      bigint not null check (fee_minor >= 0),
  currency       text not null check (currency ~ '^[A-Z]{3}$'),
  -- What is fixed at creation and is not money: the card, the way to the bank, the merchant's own data.
  terms          json not null,
  -- The bank's reference of a payout that succeeded, the failure of one that did not.
  result         json,
  external_id    text,
  wake_at        timestamptz,
  attempts       int not null default 0,
  stuck_at       timestamptz,
  stuck_reason   text,
  check ((result is not null) = (status <> 'sending'))
);
create index withdrawal_of_party on withdrawal (party_id, created_at, withdrawal_id);
create index withdrawal_due on withdrawal (wake_at) where wake_at is not null;
create index withdrawal_stuck on withdrawal (stuck_at) where stuck_at is not null;

-- Permission to use another party's wallet, once, or to pay out to another party's destination. The token is not stored.
create table payout_grant (
  grant_id     id primary key,
  token_hash   bytea not null,
  kind         text not null check (kind in ('wallet', 'destination')),
  -- The wallet or the destination.
  entity_id    id not null,
  amount_minor bigint,
  currency     text,
  valid_until  timestamptz not null,
  -- The withdrawal that used up the grant of a wallet.
  used_by      id,
  check ((kind = 'wallet') = (amount_minor is not null) and (amount_minor is null) = (currency is null))
);

-- What was paid out of a wallet in a day (2026-01-19) and in a month (2026-01), where a limit applies.
create table payout_turnover (
  wallet_id    id not null,
  period       text collate "C" not null,
  amount_minor bigint not null,
  payouts      bigint not null,
  primary key (wallet_id, period)
) with (fillfactor = 50);

-- What an operator has agreed with a party, in place of the usual limits. Null: no limit.
create table payout_limit (
  party_id         id not null,
  level            text not null check (level in ('anonymous', 'partial', 'identified')),
  currency         text not null check (currency ~ '^[A-Z]{3}$'),
  per_payout_minor bigint check (per_payout_minor >= 0),
  per_day_minor    bigint check (per_day_minor >= 0),
  per_month_minor  bigint check (per_month_minor >= 0),
  payouts_per_day  bigint check (payouts_per_day >= 0),
  primary key (party_id, level, currency)
);

-- The operator's fee for a payout, on top of it.
create table payout_fee (
  party_id     id not null,
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  basis_points bigint not null check (basis_points between 0 and 10000),
  fixed_minor  bigint not null check (fixed_minor >= 0),
  primary key (party_id, currency)
);

-- Through which bank, and under which name there, a party pays out.
create table payout_terminal (
  party_id    id not null,
  terminal_id id not null,
  bank_id     id not null,
  merchant_id text not null,
  descriptor  text not null,
  priority    int not null default 1,
  created_at  timestamptz not null,
  -- New payouts leave by another terminal. Those that went through a retired one are still queried there.
  retired_at  timestamptz,
  primary key (party_id, terminal_id)
);

-- Fails a statement that would take a wallet over a limit, so that it writes nothing. What it has counted goes along: the
-- caller reads from it which limit it was.
create function refuse_turnover(counted json)
  returns text
  language plpgsql
as $$
begin
  raise exception using errcode = 'PL001', message = 'a payout passes a limit of its wallet', detail = counted::text;
end $$;

-- Webhooks ------------------------------------------------------------------------------------------------------------

create table webhook (
  webhook_id  id primary key,
  party_id    id not null,
  topic       text not null check (topic in
    ('InvoicesTopic', 'CustomersTopic', 'RecurringTopic', 'WithdrawalsTopic', 'DestinationsTopic')),
  -- The shop, or the identity; and one wallet of that, or all.
  owner_id    id not null,
  part_id     id,
  -- As they are registered, separated by spaces.
  event_types text not null,
  url         text not null check (length(url) <= 1000),
  created_at  timestamptz not null,
  written_in  xid8 not null default pg_current_xact_id(),
  -- What was finished at its creation. Only events of other transactions are sent.
  made_after  text default pg_current_snapshot()::text
);
create index webhook_of_party on webhook (party_id);

-- The keys a webhook signs with. The next one is shown before it is used.
create table webhook_key (
  webhook_id         id not null,
  generation         int not null,
  public_key         text not null,
  signing_public_key text not null,
  -- The private halves and the shared secret, encrypted together.
  sealed             bytea not null,
  seal_generation    int not null,
  signs_from         timestamptz not null,
  primary key (webhook_id, generation)
);

-- One for each aggregate and webhook: its events are sent in order, one after the other.
create table webhook_queue (
  aggregate_id  id not null,
  webhook_id    id not null,
  -- Of the first webhook event that is not acknowledged, and of the last one there is. A position is eight times the
  -- sequence of the event in the log, plus the index of the webhook event in it.
  next_position bigint not null,
  last_position bigint not null,
  -- During a replay: where it ends, and where the queue continues afterwards.
  replay_until  bigint,
  resume_at     bigint,
  -- Since when an event has been waiting.
  waiting_since timestamptz,
  -- Why the latest attempt failed, if it did.
  last_failure  text,
  -- As in every table with jobs, on real time. Here stuck means parked.
  wake_at       timestamptz,
  attempts      int not null default 0,
  stuck_at      timestamptz,
  stuck_reason  text,
  -- A node has claimed the queue while this equals wake_at.
  leased_until  timestamptz,
  -- How often a replay changed its position while a node had claimed it.
  rewinds       int not null default 0,
  primary key (aggregate_id, webhook_id),
  check ((replay_until is null) = (resume_at is null))
);
create index webhook_queue_due on webhook_queue (webhook_id, wake_at) where wake_at is not null;
create index webhook_queue_stuck on webhook_queue (webhook_id, stuck_at) where stuck_at is not null;
-- What has waited longest, of one webhook.
create index webhook_queue_waiting on webhook_queue (webhook_id, waiting_since) where wake_at is not null;

-- The body of a webhook event as it was first sent: every other attempt, to any webhook, sends these very bytes.
create table webhook_message (
  aggregate_id id not null,
  position     bigint not null,
  body         text not null,
  created_at   timestamptz not null,
  primary key (aggregate_id, position)
);
create index webhook_message_age on webhook_message (created_at);

-- Where the eventID numbers of an aggregate's webhook events begin, for each 64 of its log events. Never deleted: a number
-- is given once.
create table webhook_series (
  aggregate_id id not null,
  chunk        int not null,
  base         bigint not null unique,
  primary key (aggregate_id, chunk)
);
create table webhook_series_counter (
  only_row  boolean primary key default true check (only_row),
  last_base bigint not null
);
insert into webhook_series_counter (last_base) values (0);

create table webhook_attempt (
  webhook_id   id not null,
  attempted_at timestamptz not null,
  aggregate_id id not null,
  position     bigint not null,
  attempt      int not null,
  event_type   text not null,
  duration_ms  int not null,
  status       int,
  failure      text,
  primary key (webhook_id, attempted_at, aggregate_id, position, attempt)
);
create index webhook_attempt_age on webhook_attempt (attempted_at);

-- How far the feed has read the event log: every transaction this snapshot shows as finished.
create table webhook_feed (
  only_row      boolean primary key default true check (only_row),
  seen          text not null,
  -- Since when nothing is sent because the log is another server's.
  foreign_since timestamptz
);
insert into webhook_feed (seen) values (pg_current_snapshot()::text);
