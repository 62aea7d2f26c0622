-- The ledger: double entry with two-phase transfers (src/platform/ledger/, docs/decisions/0012-ledger.md). A transfer belongs to
-- the aggregate that caused it and its key leads with that aggregate's id, so that it lies beside the row and the event
-- it is written with. A balance belongs to an account, and its key leads with the account's.

-- Cold: written once, when an account is first used. Nothing refers to it by a foreign key: every insert that did would
-- take a lock on the row of an account that all payments use.
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
  -- Over how many rows beside the main one its balance is spread. May be changed at any time, see spread_account.
  lanes      int not null check (lanes between 0 and 256),
  opened_at  timestamptz not null default now(),
  constraint ledger_account_is_named_by_its_parts check (account_id = realm || ':' || currency || ':' || code
    || coalesce(':' || replace(replace(party_id, '%', '%25'), ':', '%3A'), '')
    || coalesce(':' || replace(replace(owner_id, '%', '%25'), ':', '%3A'), ''))
);
create trigger ledger_account_keeps_its_name
  before delete or update of account_id, realm, currency, code, party_id, owner_id, has_floor on ledger_account
  for each row execute function refuse_change();

-- Hot: the sums of an account's transfers, in its main row (lane 0) and its lanes. Nothing refers to it and no index has a
-- column that changes, so that a new version of a row stays on its page.
create table ledger_balance (
  account_id      text collate "C" not null,
  lane            int not null check (lane >= 0),
  -- The only row of an account with a floor: here the row itself holds the floor.
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
  -- A resolution bears the step of what it resolves, and the primary key has room for one.
  resolves       boolean not null check (resolves = (phase in ('post', 'void'))),
  debit_account  text collate "C" not null,
  debit_lane     int not null,
  credit_account text collate "C" not null,
  credit_lane    int not null,
  posted_minor   bigint not null,
  pending_minor  bigint not null,
  -- When it happened for the business, on the party's clock.
  happened_at    timestamptz not null,
  -- When its transaction began, by the database's clock: the checks know by it what they have seen.
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

-- What transfers do to each balance row.
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

-- Writes one journal, the transfers of one operation that happen together, with their balances; or nothing. It answers
--   posted        it is written now
--   repeated      the same was written before
--   insufficient  an account with a floor lacks the money; nothing is changed, the transaction can go on
--   unopened      an account is not open yet; nothing is changed
-- What contradicts what is written already is an error (LE001): a bug of the caller. A migration that adds a column to
-- ledger_transfer replaces this function too.
--
-- Why the floor holds: a journal that lowers what is available on an account with a floor changes its main row, and adds
-- up all rows while it holds that one. Every other journal can only raise the sum, so the sum may be too small by what
-- has not been committed, but never too large. Rows are always locked in the order of account and lane.
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
