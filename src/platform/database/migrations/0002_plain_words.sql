-- Every name gets the word that the code and the documents use. No stored value changes, but for the mode of shops, keys and
-- accounts, which becomes a boolean. Nothing was released before, so this file may rename; no later one may.

-- Functions that fail a statement -------------------------------------------------------------------------------------

alter function refuse_change() rename to forbid_change;
alter function refuse_turnover(json) rename to reject_over_limit;

drop function has_moved();
create function version_conflict() returns integer language plpgsql as $$
begin
  raise exception using errcode = 'MV001', message = 'another transaction has changed the row since it was read';
end $$;

-- livemode: whether a shop, key or account deals in real money --------------------------------------------------------

alter table shop drop constraint shop_realm_check;
alter table shop alter column realm type boolean using realm = 'live';
alter table shop rename column realm to livemode;

alter table api_key drop constraint api_key_realm_check;
alter table api_key alter column realm type boolean using realm = 'live';
alter table api_key rename column realm to livemode;

drop trigger ledger_account_keeps_its_name on ledger_account;
alter table ledger_account
  drop constraint ledger_account_realm_check,
  drop constraint ledger_account_is_named_by_its_parts;
alter table ledger_account alter column realm type boolean using realm = 'live';
alter table ledger_account rename column realm to livemode;

-- Keys and ciphertexts ------------------------------------------------------------------------------------------------

alter table data_key rename column generation to key_version;
alter table api_key rename column hash_generation to key_version;
alter table idempotency_key rename column sealed_body to body_ciphertext;
alter table idempotency_key rename column seal_generation to key_version;
alter table bank rename column sealed_secret to secret_ciphertext;
alter table bank rename column seal_generation to key_version;
alter table security_code rename column sealed to ciphertext;
-- The version of the webhook's own keys, and the one of the data key that encrypts them.
alter table webhook_key rename column generation to key_version;
alter table webhook_key rename column sealed to ciphertext;
alter table webhook_key rename column seal_generation to ciphertext_key_version;

alter table card rename column sealed to ciphertext;
alter table card rename column seal_generation to key_version;
alter table card rename column fingerprint_generation to fingerprint_key_version;
alter table card rename column identity_hash to match_hash;
alter table card rename column is_kept to is_retained;
alter table card rename column kept_for to retained_for;
alter index card_unkept rename to card_unretained;
alter index card_by_generation rename to card_by_key_version;

-- Series, bindings and identifications --------------------------------------------------------------------------------

-- As in every other table: the status is a word, the state is what belongs to it.
alter table series rename column state to status;
alter table series rename column standing to state;
alter table series rename constraint series_state_check to series_status_check;

alter table binding rename column return_by to refund_due_at;
alter index binding_owed rename to binding_refund_due;
alter index identity_challenge_under_way rename to identity_challenge_pending;

-- Tables --------------------------------------------------------------------------------------------------------------

-- Receipts today; other e-mails to payers may follow.
alter table letter rename to payer_email;
alter table payer_email rename constraint letter_pkey to payer_email_pkey;
alter table payer_email rename constraint letter_check to payer_email_check;
alter table payer_email rename constraint letter_check1 to payer_email_check1;
alter table payer_email rename constraint letter_status_check to payer_email_status_check;
alter index letter_due rename to payer_email_due;
alter index letter_stuck rename to payer_email_stuck;
alter index letter_of_party rename to payer_email_of_party;

alter table bank_line rename to report_line;
alter table report_line rename constraint bank_line_pkey to report_line_pkey;

alter table webhook_series rename to webhook_event_number;
alter table webhook_event_number rename constraint webhook_series_pkey to webhook_event_number_pkey;
alter table webhook_event_number rename constraint webhook_series_base_key to webhook_event_number_base_key;
alter table webhook_series_counter rename to webhook_event_number_counter;
alter table webhook_event_number_counter
  rename constraint webhook_series_counter_pkey to webhook_event_number_counter_pkey;
alter table webhook_event_number_counter
  rename constraint webhook_series_counter_only_row_check to webhook_event_number_counter_only_row_check;

alter table webhook rename column part_id to wallet_id;
alter table webhook rename column made_after to created_snapshot;
alter table webhook_feed rename column foreign_since to mismatch_since;

-- Ledger --------------------------------------------------------------------------------------------------------------

alter table ledger_account rename column has_floor to forbids_overdraft;
alter table ledger_account rename column lanes to shards;
alter table ledger_account rename constraint ledger_account_lanes_check to ledger_account_shards_check;
alter table ledger_account
  add constraint ledger_account_is_named_by_its_parts check (account_id = case when livemode then 'live' else 'test' end
    || ':' || currency || ':' || code
    || coalesce(':' || replace(replace(party_id, '%', '%25'), ':', '%3A'), '')
    || coalesce(':' || replace(replace(owner_id, '%', '%25'), ':', '%3A'), ''));
create trigger ledger_account_keeps_its_name
  before delete or update of account_id, livemode, currency, code, party_id, owner_id, forbids_overdraft on ledger_account
  for each row execute function forbid_change();

alter table ledger_balance rename column lane to shard;
alter table ledger_balance rename column stands_alone to is_unsharded;
alter table ledger_balance rename constraint ledger_balance_lane_check to ledger_balance_shard_check;
alter table ledger_balance rename constraint ledger_balance_holds_the_floor to ledger_balance_no_overdraft;
alter table ledger_checkpoint rename column lane to shard;

alter table ledger_transfer rename column resolves to completes_pending;
alter table ledger_transfer rename column debit_lane to debit_shard;
alter table ledger_transfer rename column credit_lane to credit_shard;
alter table ledger_transfer
  rename constraint ledger_transfer_stays_in_realm_and_currency to ledger_transfer_stays_in_mode_and_currency;

-- What transfers do to each balance row.
drop function ledger_changes(ledger_transfer[]);
create function ledger_changes(moves ledger_transfer[])
returns table (account_id text, shard int, debits_posted numeric, credits_posted numeric, debits_pending numeric,
  credits_pending numeric)
language sql immutable as $$
  select account_id, shard, sum(debits_posted), sum(credits_posted), sum(debits_pending), sum(credits_pending)
  from (
    select debit_account as account_id, debit_shard as shard, posted_minor as debits_posted, 0 as credits_posted,
      pending_minor as debits_pending, 0 as credits_pending from unnest(moves)
    union all
    select credit_account, credit_shard, 0, posted_minor, 0, pending_minor from unnest(moves)
  ) as leg
  group by account_id, shard
$$;

-- Writes one journal, the transfers of one operation that happen together, with their balances; or nothing. It returns
--   posted          it is written now
--   repeated        the same was written before
--   insufficient    an account that forbids an overdraft lacks the money; nothing is changed, the transaction can continue
--   accountMissing  an account does not exist yet; nothing is changed
-- What contradicts an earlier journal is an error (LE001): a bug of the caller. A migration that adds a column to
-- ledger_transfer replaces this function too.
--
-- Why no account is overdrawn: a journal that lowers what is available on an account that forbids it changes the account's
-- main row, and adds up all rows while it has that one locked. Every other journal can only raise the sum, so the sum may be
-- too small by what has not been committed, but never too large. Rows are always locked in the order of account and shard.
create or replace function post_journal(for_aggregate text, for_operation text, happened timestamptz, entries json)
returns text language plpgsql as $$
declare
  moves           ledger_transfer[];
  entry_count     int;
  distinct_count  int;
  written_before  int;
  objection       text;
  account_missing boolean;
  lowered         text[];
  lowered_by      numeric;
  written         int;
  change          record;
begin
  with given as (
    select entry.*, entry.phase in ('post', 'void') as completes_pending
    from json_to_recordset(entries) as entry (step text, phase text, debit text, credit text, minor bigint)
  ), matched as (
    -- Each entry with the pending transfer it completes, which gives it accounts and shards, and with what the same journal
    -- wrote before.
    select
      given.step, given.phase, given.completes_pending, given.minor,
      coalesce(pending.debit_account, given.debit) as debit_account, pending.debit_shard,
      coalesce(pending.credit_account, given.credit) as credit_account, pending.credit_shard,
      case given.phase
        when 'single' then given.minor
        when 'post' then coalesce(given.minor, pending.pending_minor)
        else 0
      end as posted_minor,
      case given.phase when 'single' then 0 when 'pending' then given.minor else -pending.pending_minor end as pending_minor,
      given.completes_pending and pending.step is null as lacks_pending,
      done.step is not null as is_known,
      (done.phase, done.debit_account, done.credit_account, done.posted_minor, done.pending_minor) as done
    from given
    left join ledger_transfer as pending on given.completes_pending and pending.aggregate_id = for_aggregate
      and pending.operation_id = for_operation and pending.step = given.step and not pending.completes_pending and pending.phase = 'pending'
    left join ledger_transfer as done on done.aggregate_id = for_aggregate
      and done.operation_id = for_operation and done.step = given.step and done.completes_pending = given.completes_pending
  ), leg as (
    select debit_account as account_id, debit_shard as shard, -posted_minor - pending_minor as raises from matched
    union all
    select credit_account, credit_shard, posted_minor from matched
  ), target as (
    -- What lowers an account that forbids an overdraft goes to its main row. Everything else goes to the row of the pending
    -- transfer it completes, or to the aggregate's own shard.
    select account_id, forbids_overdraft and sum(raises) < 0 as is_lowered, sum(raises) as raises,
      case
        when forbids_overdraft and sum(raises) < 0 or shards = 0 then 0
        else coalesce(min(leg.shard), 1 + mod(hashtextextended(for_aggregate, 0) & 9223372036854775807, shards)::int)
      end as shard
    from leg join ledger_account using (account_id)
    group by account_id, forbids_overdraft, shards
  )
  select
    array_agg((for_aggregate, for_operation, step, phase, completes_pending, debit_account, coalesce(debit_shard, debited.shard),
      credit_account, coalesce(credit_shard, credited.shard), posted_minor, pending_minor, happened, now())::ledger_transfer),
    count(*),
    count(distinct (step, completes_pending)),
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
    (select array_agg(account_id) from target where is_lowered),
    (select sum(raises) from target where is_lowered)
  into moves, entry_count, distinct_count, written_before, objection, account_missing, lowered, lowered_by
  from matched
  left join target as debited on debited.account_id = debit_account
  left join target as credited on credited.account_id = credit_account;

  if objection is null and distinct_count < entry_count then
    objection := 'two of its steps have the same name';
  elsif objection is null and written_before not in (0, entry_count) then
    objection := 'a part of the journal is written already, without the rest';
  elsif objection is null and cardinality(lowered) > 1 then
    objection := format('it lowers more than one account that forbids an overdraft: %s', lowered);
  end if;
  if objection is not null then
    raise exception using errcode = 'LE001',
      message = format('ledger: %s of %s: %s', for_operation, for_aggregate, objection);
  end if;
  if written_before = entry_count then return 'repeated'; end if;
  if account_missing then return 'accountMissing'; end if;

  if lowered is not null then
    -- Wait for the locks here, so that the statement that decides sees all that was committed meanwhile.
    perform from ledger_changes(moves) join ledger_balance as balance using (account_id, shard)
    order by account_id collate "C", shard for no key update of balance;

    update ledger_balance as main
    set debits_posted = main.debits_posted + needed.debits_posted,
        credits_posted = main.credits_posted + needed.credits_posted,
        debits_pending = main.debits_pending + needed.debits_pending,
        credits_pending = main.credits_pending + needed.credits_pending
    from ledger_changes(moves) as needed
    where main.account_id = lowered[1] and main.shard = 0 and needed.account_id = lowered[1] and needed.shard = 0
      and lowered_by + (
        select sum(part.credits_posted - part.debits_posted - part.debits_pending) from ledger_balance as part
        where part.account_id = lowered[1]) >= 0;
    -- Unless another transaction has written this same journal meanwhile, and that took the money.
    if not found and not exists (
      select from ledger_transfer where aggregate_id = for_aggregate and operation_id = for_operation
        and step = moves[1].step and phase = moves[1].phase
    ) then
      return 'insufficient';
    end if;
  end if;

  insert into ledger_transfer select * from unnest(moves) on conflict do nothing;
  get diagnostics written = row_count;
  if written < entry_count then
    -- Another transaction has written the same transfer: this one starts again, and finds it.
    raise exception using errcode = 'serialization_failure',
      message = format('ledger: %s of %s was being written by another transaction', for_operation, for_aggregate);
  end if;

  for change in
    select * from ledger_changes(moves) where lowered is null or (account_id, shard) <> (lowered[1], 0)
    order by account_id collate "C", shard
  loop
    update ledger_balance as balance
    set debits_posted = balance.debits_posted + change.debits_posted,
        credits_posted = balance.credits_posted + change.credits_posted,
        debits_pending = balance.debits_pending + change.debits_pending,
        credits_pending = balance.credits_pending + change.credits_pending
    where account_id = change.account_id and shard = change.shard;
    if not found then
      raise exception 'ledger: account % has no shard %', change.account_id, change.shard;
    end if;
  end loop;
  return 'posted';
end $$;

-- The usual journal by a short way: one single transfer between two existing accounts, of which the debited one may be
-- overdrawn. It writes what post_journal would write, in a fifth of the time. Any other journal is left to post_journal, which
-- knows all rules: the result is then null, and nothing was written.
create or replace function post_single(for_aggregate text, for_operation text, happened timestamptz, entries json)
returns text language plpgsql as $$
declare
  entry   record;
  written int;
begin
  select given.step, given.minor, given.debit, given.credit,
    case when debited.shards = 0 then 0 else 1 + mod(hashtextextended(for_aggregate, 0) & 9223372036854775807, debited.shards)::int end as debit_shard,
    case when credited.shards = 0 then 0 else 1 + mod(hashtextextended(for_aggregate, 0) & 9223372036854775807, credited.shards)::int end as credit_shard
  into entry
  from json_to_recordset(entries) as given (step text, phase text, debit text, credit text, minor bigint)
  join ledger_account as debited on debited.account_id = given.debit and not debited.forbids_overdraft
  join ledger_account as credited on credited.account_id = given.credit
  where json_array_length(entries) = 1 and given.phase = 'single' and given.minor > 0;
  if not found then return null; end if;

  insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard, credit_account,
    credit_shard, posted_minor, pending_minor, happened_at)
  values (for_aggregate, for_operation, entry.step, 'single', false, entry.debit, entry.debit_shard, entry.credit,
    entry.credit_shard, entry.minor, 0, happened)
  on conflict do nothing;
  get diagnostics written = row_count;
  if written = 0 then return null; end if;

  -- In the order in which every journal locks them.
  if entry.debit collate "C" < entry.credit collate "C" then
    update ledger_balance set debits_posted = debits_posted + entry.minor
    where account_id = entry.debit and shard = entry.debit_shard;
    if not found then raise exception 'ledger: account % has no shard %', entry.debit, entry.debit_shard; end if;
  end if;
  update ledger_balance set credits_posted = credits_posted + entry.minor
  where account_id = entry.credit and shard = entry.credit_shard;
  if not found then raise exception 'ledger: account % has no shard %', entry.credit, entry.credit_shard; end if;
  if entry.debit collate "C" >= entry.credit collate "C" then
    update ledger_balance set debits_posted = debits_posted + entry.minor
    where account_id = entry.debit and shard = entry.debit_shard;
    if not found then raise exception 'ledger: account % has no shard %', entry.debit, entry.debit_shard; end if;
  end if;
  return 'posted';
end $$;

-- Writes a journal as a part of the statement that changes its aggregate. That takes one round trip, locks the busy balances
-- for no longer than the statement runs, and fails as a whole where the journal cannot be written:
--   LE002  an account does not exist yet
--   LE003  an account that forbids an overdraft lacks the money
create or replace function record_journal(for_aggregate text, for_operation text, happened timestamptz, entries json)
returns text language plpgsql as $$
declare
  outcome text;
begin
  if entries is null then return null; end if;
  outcome := post_single(for_aggregate, for_operation, happened, entries);
  if outcome is null then
    outcome := post_journal(for_aggregate, for_operation, happened, entries);
  end if;
  if outcome = 'accountMissing' then
    raise exception using errcode = 'LE002', message = 'ledger: an account does not exist yet';
  elsif outcome = 'insufficient' then
    raise exception using errcode = 'LE003', message = 'ledger: an account lacks the money';
  end if;
  return outcome;
end $$;

-- PostgreSQL 18 names "not null" too, after the table and the column as they were called.
do $$
declare
  old record;
begin
  for old in
    select conrelid::regclass as owner, conname as name, concat(relname, '_', attname, '_not_null') as better
    from pg_constraint join pg_class on pg_class.oid = conrelid join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where contype = 'n' and connamespace = 'public'::regnamespace
      and conname <> concat(relname, '_', attname, '_not_null')
  loop
    execute format('alter table %s rename constraint %I to %I', old.owner, old.name, old.better);
  end loop;
end $$;
