-- What a shop's refunds do while its balance is too small, and what a bank says of a refund it has made.
alter table shop add column when_short text not null default 'refuse' check (when_short in ('refuse', 'overdraft', 'wait'));

-- How far refunds may take a shop's balance below zero. No other journal may.
alter table ledger_account add column overdraft_minor bigint not null default 0
  check (overdraft_minor between 0 and 999999999999 and (overdraft_minor = 0 or code = 'merchant.settlement'));

-- Refunds that wait for the shop's money, in the order in which they were requested.
create table waiting_refund (
  invoice_id id not null,
  payment_id id not null,
  refund_id  id not null,
  party_id   id not null,
  shop_id    id not null,
  created_at timestamptz not null,
  primary key (invoice_id, payment_id, refund_id)
);
create index waiting_refund_of_shop on waiting_refund (party_id, shop_id, created_at, invoice_id, payment_id, refund_id);

alter table refund add column waits_until timestamptz;
alter table refund add column rrn text;
alter table refund add column arn text;

-- Money that a merchant has paid in for a shop. The transfer of the same ID is in the ledger.
create table shop_top_up (
  top_up_id       id primary key,
  party_id        id not null,
  shop_id         id not null,
  reference       text not null,
  bank_account_id text not null,
  amount_minor    bigint not null check (amount_minor between 1 and 999999999999),
  currency        text not null check (currency ~ '^[A-Z]{3}$'),
  created_at      timestamptz not null
);
create trigger shop_top_up_is_append_only before update or delete on shop_top_up
  for each row execute function forbid_change();

-- Writes one journal, the transfers of one operation that happen together, with their balances; or nothing. It returns
--   posted          it is written now
--   repeated        the same was written before
--   insufficient    an account that forbids an overdraft lacks the money; nothing is changed, the transaction can continue.
--                   A journal that may overdraw can take the account to its overdraft limit.
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
  may_overdraw    boolean;
  written         int;
  change          record;
begin
  with given as (
    select entry.*, entry.phase in ('post', 'void') as completes_pending
    from json_to_recordset(entries) as entry (step text, phase text, debit text, credit text, minor bigint,
      "mayOverdraw" boolean)
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
    (select sum(raises) from target where is_lowered),
    (select coalesce(bool_or("mayOverdraw"), false) from given)
  into moves, entry_count, distinct_count, written_before, objection, account_missing, lowered, lowered_by, may_overdraw
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
        where part.account_id = lowered[1])
        >= (select case when may_overdraw then -overdraft_minor else 0 end from ledger_account where account_id = lowered[1]);
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
