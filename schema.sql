-- The schema after all migrations, printed from PostgreSQL's catalogue by `npm run schema`. For reading and reviewing
-- alone: what makes the database is src/platform/database/migrations.

create domain id as text collate "C" check (length(value) >= 1 and length(value) <= 40);

create or replace function public.append_event(kind text, for_aggregate text, version integer, for_party text, happened timestamp with time zone, facts json)
 returns integer
 language plpgsql
as $$
begin
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  values (for_aggregate, version, kind, for_party, happened, facts);
  return version;
end $$;

create or replace function public.append_events(kind text, for_aggregate text, version integer, for_party text, happened timestamp with time zone, events json)
 returns integer
 language plpgsql
as $$
begin
  insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
  select for_aggregate, version - json_array_length(events) + entry.ordinal::int, kind, for_party, happened, entry.facts
  from json_array_elements(events) with ordinality as entry (facts, ordinal);
  return version;
end $$;

create or replace function public.approve_charges(changes json)
 returns table(asker integer, is_posted boolean)
 language plpgsql
 set enable_seqscan to 'off'
as $$
#variable_conflict use_column
declare
  written int[];
  posted boolean[];
  all_exchanges json;
  aggregates text[];
  operations text[];
  times timestamptz[];
  journals json[];
begin
  with change as materialized (
    select * from json_to_recordset(changes) as one (asker int, "mayWait" boolean, invoice_id text, payment_id text, version int,
      status text, captured_minor bigint, refunded_minor bigint, state json, wake_at timestamptz, attempts int, invoice_paid boolean,
      in_progress boolean, events json, happened_at timestamptz, exchanges json, journal_operation text, journal_entries json,
      series_id text, series_version int, series_status text, series_chain text, series_state json, series_changed_at timestamptz,
      series_wake_at timestamptz, series_facts json, attempt_is_captured boolean, attempt_held_until timestamptz,
      attempt_network text, attempt_code text, attempt_advice text, attempt_effect text, attempt_rule text, attempt_pack text,
      attempt_class text, email_recipient text, email_paid_at timestamptz, email_amount_minor bigint, email_currency text,
      email_reference text, email_approval_code text, email_content json, email_claimed_until timestamptz)
    order by series_id collate "C", one.asker
  ), ready as materialized (
    select * from change
    where "mayWait" or (
      asker in (select min(asker) from change group by series_id) and asker in (select min(asker) from change group by invoice_id)
    )
    -- The journal of a hold needs a statement of its own.
    and not exists (select from json_array_elements(journal_entries) as entry where entry ->> 'phase' <> 'single')
  ), locked as materialized (
    select ready.* from ready cross join lateral (
      select from series
      join series_attempt as attempt using (series_id)
      join payment using (invoice_id, payment_id)
      join invoice using (invoice_id)
      where series.series_id = ready.series_id and series.version = series_version and attempt.invoice_id = ready.invoice_id
        and attempt.payment_id = ready.payment_id and attempt.outcome in ('pending', 'unsent', 'lost')
        and payment.version = ready.version
      for no key update skip locked
    ) as found
    where not coalesce("mayWait", false)
    union all
    select ready.* from ready cross join lateral (
      select from series
      join series_attempt as attempt using (series_id)
      join payment using (invoice_id, payment_id)
      join invoice using (invoice_id)
      where series.series_id = ready.series_id and series.version = series_version and attempt.invoice_id = ready.invoice_id
        and attempt.payment_id = ready.payment_id and attempt.outcome in ('pending', 'unsent', 'lost')
        and payment.version = ready.version
      for no key update
    ) as found
    where "mayWait"
  ), series_changed as (
    update series
    set version = series.version + 1, status = series_status, chain = series_chain, state = series_state,
        changed_at = series_changed_at, wake_at = series_wake_at, attempts = 0, stuck_at = null, stuck_reason = null
    from locked where series.series_id = any (array[locked.series_id])
    returning locked.asker, series.series_id, series.version, series.party_id, series.changed_at, series_facts
  ), attempt_ended as (
    update series_attempt as attempt
    set outcome = 'approved', ended_at = series_changed_at, captured_at = case when attempt_is_captured then series_changed_at end,
        held_until = attempt_held_until, network = attempt_network, code = attempt_code, advice = attempt_advice,
        effect = attempt_effect, rule = attempt_rule, pack = attempt_pack, decline_class = attempt_class
    from locked
    where attempt.series_id = any (array[locked.series_id]) and attempt.invoice_id = locked.invoice_id
      and attempt.payment_id = locked.payment_id
  ), emailed as (
    insert into payer_email (invoice_id, payment_id, party_id, series_id, status, created_at, recipient, paid_at, amount_minor,
      currency, reference, approval_code, content, wake_at, attempts)
    select invoice_id, payment_id, party_id, locked.series_id, 'waiting', happened_at, email_recipient, email_paid_at,
      email_amount_minor, email_currency, email_reference, email_approval_code, email_content, email_claimed_until, 1
    from locked join series_changed on series_changed.asker = locked.asker
    where email_recipient is not null
    on conflict do nothing
    returning invoice_id, payment_id
  ), payment_changed as (
    update payment
    set version = payment.version + 1, status = locked.status, captured_minor = locked.captured_minor,
        refunded_minor = locked.refunded_minor, state = locked.state, wake_at = locked.wake_at, attempts = locked.attempts,
        stuck_at = null, stuck_reason = null
    from locked where payment.invoice_id = any (array[locked.invoice_id]) and payment.payment_id = locked.payment_id
  ), invoice_changed as (
    update invoice
    set version = invoice.version + json_array_length(locked.events), changed_at = greatest(invoice.changed_at, happened_at),
        status = case when invoice_paid then 'paid' else invoice.status end, payment_in_progress = in_progress,
        wake_at = case when in_progress or invoice_paid or invoice.status <> 'unpaid' then null else due_date end
    from locked where invoice.invoice_id = any (array[locked.invoice_id])
    returning invoice.invoice_id, invoice.version - json_array_length(locked.events) as version_before, invoice.party_id,
      invoice.changed_at, locked.asker, locked.payment_id, events, locked.exchanges, journal_operation, journal_entries
  ), logged as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select series_id, version, 'series', party_id, changed_at, series_facts from series_changed
    union all
    select invoice_id, version_before + entry.ordinal::int, 'invoice', party_id, changed_at, entry.facts
    from invoice_changed cross join lateral json_array_elements(events) with ordinality as entry (facts, ordinal)
  )
  select array_agg(one.asker), array_agg((invoice_id, payment_id) in (select invoice_id, payment_id from emailed)), (select json_agg(entry) from invoice_changed cross join lateral json_array_elements(exchanges) as entry),
    coalesce(array_agg(invoice_id) filter (where journal_entries is not null), '{}'),
    array_agg(journal_operation) filter (where journal_entries is not null),
    array_agg(changed_at) filter (where journal_entries is not null),
    array_agg(journal_entries) filter (where journal_entries is not null)
  into written, posted, all_exchanges, aggregates, operations, times, journals
  from invoice_changed as one;

  perform record_exchanges(all_exchanges);
  -- Last, because the balances of busy accounts stay locked until the end.
  perform record_journals(aggregates, operations, times, journals);
  return query select * from unnest(written, posted);
end $$;

create or replace function public.change_subscriptions(changes json)
 returns table(asker integer, version integer)
 language plpgsql
 set enable_seqscan to 'off'
as $$
#variable_conflict use_column
begin
  return query
  with change as materialized (
    select * from json_to_recordset(changes) as one (asker int, "mayWait" boolean, subscription_id text, version int,
      happened_at timestamptz, events json, phase text, state json, wake_at timestamptz, created_periods json, ended_periods json,
      change_invoices json)
    order by subscription_id collate "C", one.asker
  ), ready as materialized (
    select * from change where "mayWait" or asker in (select min(asker) from change group by subscription_id)
  ), locked as materialized (
    select ready.* from ready cross join lateral (
      select from subscription
      where subscription.subscription_id = ready.subscription_id and subscription.version = ready.version
      for no key update skip locked
    ) as found
    where not coalesce("mayWait", false)
    union all
    select ready.* from ready cross join lateral (
      select from subscription
      where subscription.subscription_id = ready.subscription_id and subscription.version = ready.version
      for no key update
    ) as found
    where "mayWait"
  ), changed as (
    update subscription
    set version = subscription.version + json_array_length(events), changed_at = greatest(subscription.changed_at, happened_at),
        phase = locked.phase, state = locked.state, wake_at = locked.wake_at, attempts = 0, stuck_at = null, stuck_reason = null
    from locked where subscription.subscription_id = any (array[locked.subscription_id])
    returning locked.asker, subscription.subscription_id, subscription.version, locked.version as version_before,
      subscription.party_id, subscription.changed_at, events
  ), created as materialized (
    select subscription_id, period.*
    from locked cross join lateral json_to_recordset(created_periods) as period (number int, kind text, "startsOn" text,
      "endsOn" text, "startsAt" timestamptz, "endsAt" timestamptz, "dueAt" timestamptz, lines json, "amountMinor" bigint,
      "creditMinor" bigint, outcome text, "invoiceId" text, "isOfChange" boolean)
  ), ended as materialized (
    select subscription_id, period.*
    from locked cross join lateral json_to_recordset(ended_periods) as period (number int, outcome text, "invoiceId" text,
      "endsOn" text, "endsAt" timestamptz)
  ), period_created as (
    insert into subscription_period (subscription_id, number, kind, starts_on, ends_on, starts_at, ends_at, due_at, lines,
      amount_minor, credit_minor, outcome, invoice_id)
    select subscription_id, number, kind, "startsOn", "endsOn", "startsAt", "endsAt", "dueAt", lines, "amountMinor",
      "creditMinor", outcome, "invoiceId"
    from created
  ), period_ended as (
    update subscription_period as period
    set outcome = coalesce(ended.outcome, period.outcome), invoice_id = coalesce(ended."invoiceId", period.invoice_id),
        ends_on = coalesce(ended."endsOn", period.ends_on), ends_at = coalesce(ended."endsAt", period.ends_at)
    from ended where period.subscription_id = any (array[ended.subscription_id]) and period.number = ended.number
  ), invoiced as (
    insert into subscription_invoice (invoice_id, subscription_id, number)
    select "invoiceId", subscription_id, number from created where "invoiceId" is not null and "isOfChange" is null
    union all
    select "invoiceId", subscription_id, number from ended where "invoiceId" is not null
    union all
    select "invoiceId", subscription_id, number
    from locked cross join lateral json_to_recordset(change_invoices) as change (number int, "invoiceId" text)
  ), logged as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select subscription_id, version_before + entry.ordinal::int, 'subscription', party_id, changed_at, entry.facts
    from changed cross join lateral json_array_elements(events) with ordinality as entry (facts, ordinal)
  )
  select asker, version from changed;
end $$;

create or replace function public.claim_external_id(for_party text, for_operation text, external text, entity text, request_fingerprint bytea)
 returns boolean
 language plpgsql
as $$
begin
  if external is null then return true; end if;
  insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
  values (for_party, for_operation, external, entity, request_fingerprint)
  on conflict do nothing;
  return found;
end $$;

create or replace function public.count_turnover(counters json, of_currency text, minor bigint, of_day text, of_month text)
 returns integer
 language plpgsql
as $$
declare
  exceeded json;
begin
  with counted as (
    insert into payout_usage as usage (subject, currency, period, amount_minor, payouts)
    select subject, of_currency, period, minor, 1
    from json_to_recordset(counters) as counter (subject text), unnest(array[of_month, of_day]) as period
    order by subject collate "C", period collate "C"
    on conflict (subject, currency, period) do update
      set amount_minor = usage.amount_minor + excluded.amount_minor, payouts = usage.payouts + 1
    returning subject, period, amount_minor, payouts
  )
  select json_agg(turnover)
  into exceeded
  from (
    select subject, max(amount_minor) filter (where period = of_day) as day_minor,
      max(payouts) filter (where period = of_day) as day_payouts,
      max(amount_minor) filter (where period = of_month) as month_minor
    from counted group by subject
  ) as turnover
  join json_to_recordset(counters) as counter (subject text, day_minor_most int8, day_payouts_most int8, month_minor_most int8)
    using (subject)
  where day_minor > day_minor_most or day_payouts > day_payouts_most or month_minor > month_minor_most;
  if exceeded is not null then perform reject_over_limit(exceeded); end if;
  return json_array_length(counters);
end $$;

create or replace function public.end_payer_emails(changes json)
 returns table(asker integer)
 language plpgsql
 set enable_seqscan to 'off'
as $$
#variable_conflict use_column
begin
  return query
  with change as materialized (
    select * from json_to_recordset(changes) as one (asker int, "mayWait" boolean, invoice_id text, payment_id text, status text,
      now timestamptz, subject text, text_body text, html_body text, refusal text)
    order by invoice_id collate "C", payment_id collate "C"
  ), locked as materialized (
    select change.* from change cross join lateral (
      select from payer_email as email
      where email.invoice_id = change.invoice_id and email.payment_id = change.payment_id and email.status = 'waiting'
      for no key update skip locked
    ) as found
    where not coalesce("mayWait", false)
    union all
    select change.* from change cross join lateral (
      select from payer_email as email
      where email.invoice_id = change.invoice_id and email.payment_id = change.payment_id and email.status = 'waiting'
      for no key update
    ) as found
    where "mayWait"
  )
  update payer_email as email
  set status = locked.status, ended_at = locked.now, subject = locked.subject, text_body = locked.text_body,
      html_body = locked.html_body, refusal = locked.refusal, wake_at = null, attempts = 0, stuck_at = null, stuck_reason = null
  from locked
  where email.invoice_id = any (array[locked.invoice_id]) and email.payment_id = locked.payment_id and email.status = 'waiting'
  returning locked.asker;
end $$;

create or replace function public.follow_sums()
 returns trigger
 language plpgsql
as $$
declare
  moved search_sum[];
begin
  if tg_op <> 'DELETE' then
    select array_agg(row(party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code,
      amount_minor, n)::search_sum) into moved from added;
  end if;
  if tg_op <> 'INSERT' then
    select coalesce(moved, '{}') || array_agg(row(party_id, shop_id, quarter, what, currency, status, attempt, payment_system,
      decline_class, failure, bank_code, -amount_minor, -n)::search_sum) into moved from taken;
  end if;
  if moved is not null then
    perform move_coarse_sums(moved);
  end if;
  return null;
end $$;

create or replace function public.forbid_change()
 returns trigger
 language plpgsql
as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $$;

create or replace function public.instant_text(at timestamp with time zone)
 returns text
 language sql
 stable
as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

create or replace function public.ledger_changes(moves ledger_transfer[])
 returns table(account_id text, shard integer, debits_posted numeric, credits_posted numeric, debits_pending numeric, credits_pending numeric)
 language sql
 immutable
as $$
  select account_id, shard, sum(debits_posted), sum(credits_posted), sum(debits_pending), sum(credits_pending)
  from (
    select debit_account as account_id, debit_shard as shard, posted_minor as debits_posted, 0 as credits_posted,
      pending_minor as debits_pending, 0 as credits_pending from unnest(moves)
    union all
    select credit_account, credit_shard, 0, posted_minor, 0, pending_minor from unnest(moves)
  ) as leg
  group by account_id, shard
$$;

create or replace function public.move_coarse_sums(moved search_sum[])
 returns void
 language sql
as $$
  insert into search_hour_sum as kept
  select party_id, shop_id, date_trunc('hour', quarter, 'UTC') as hour, what, currency, status, decline_class, sum(amount_minor), sum(n)
  from unnest(moved)
  group by party_id, shop_id, hour, what, currency, status, decline_class
  having sum(n) <> 0 or sum(amount_minor) <> 0
  on conflict (party_id, shop_id, hour, what, currency, status, decline_class) do update
  set amount_minor = kept.amount_minor + excluded.amount_minor, n = kept.n + excluded.n;
  insert into search_day_sum as kept
  select party_id, shop_id, date_trunc('day', quarter, 'UTC') as day, what, currency, status, attempt, payment_system, decline_class,
    failure, bank_code, sum(amount_minor), sum(n)
  from unnest(moved)
  group by party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code
  having sum(n) <> 0 or sum(amount_minor) <> 0
  on conflict (party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code) do update
  set amount_minor = kept.amount_minor + excluded.amount_minor, n = kept.n + excluded.n;
$$;

create or replace function public.note_late_exchange()
 returns trigger
 language plpgsql
as $$
begin
  insert into exchange_late (aggregate_id, operation, begun_at) values (old.aggregate_id, old.operation, old.begun_at)
  on conflict do nothing;
  return null;
end $$;

create or replace function public.post_journal(for_aggregate text, for_operation text, happened timestamp with time zone, entries json)
 returns text
 language plpgsql
as $$
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

create or replace function public.post_singles(aggregates text[], operations text[], times timestamp with time zone[], journals json[])
 returns boolean
 language plpgsql
 set plan_cache_mode to 'force_generic_plan'
as $$
declare
  moves ledger_transfer[];
  written int;
  change record;
begin
  select array_agg((aggregate_id, operation_id, step, phase, false, debit,
    case when debited.shards = 0 then 0 else 1 + mod(hashtextextended(aggregates[1], 0) & 9223372036854775807, debited.shards)::int end,
    credit,
    case when credited.shards = 0 then 0 else 1 + mod(hashtextextended(aggregates[1], 0) & 9223372036854775807, credited.shards)::int end,
    minor, 0, happened, now())::ledger_transfer)
  into moves
  from unnest(aggregates, operations, times, journals) as journal (aggregate_id, operation_id, happened, entries)
  cross join lateral json_to_recordset(entries) as entry (step text, phase text, debit text, credit text, minor bigint)
  -- With `offset 0` PostgreSQL plans these on their own: by the index, whatever the table held when the plan was made.
  cross join lateral (
    select shards from ledger_account where account_id = debit offset 0
  ) as debited
  cross join lateral (select shards from ledger_account where account_id = credit offset 0) as credited
  where phase = 'single' and minor > 0;
  if cardinality(moves) is distinct from (select sum(json_array_length(entries)) from unnest(journals) as entries) then
    return false;
  end if;
  -- An account that a journal lowers may forbid an overdraft.
  perform from (
    select aggregate_id, operation_id, account_id from (
      select aggregate_id, operation_id, debit_account as account_id, -posted_minor as raises from unnest(moves)
      union all
      select aggregate_id, operation_id, credit_account, posted_minor from unnest(moves)
    ) as leg
    group by aggregate_id, operation_id, account_id having sum(raises) < 0
  ) as lowered
  cross join lateral (
    select from ledger_account where account_id = lowered.account_id and forbids_overdraft offset 0
  ) as guarded;
  if found then return false; end if;
  -- Written before, or two steps of one name.
  perform from unnest(moves) as given
  cross join lateral (
    select from ledger_transfer as done where done.aggregate_id = given.aggregate_id and done.operation_id = given.operation_id
      and done.step = given.step and not done.completes_pending offset 0
  ) as done;
  if found or (select count(distinct (aggregate_id, operation_id, step)) from unnest(moves)) < cardinality(moves) then
    return false;
  end if;

  insert into ledger_transfer select * from unnest(moves) on conflict do nothing;
  get diagnostics written = row_count;
  if written < cardinality(moves) then
    -- Another transaction has written the same transfer: this one starts again, and finds it.
    raise exception using errcode = 'serialization_failure', message = 'ledger: a journal was being written by another transaction';
  end if;

  for change in select * from ledger_changes(moves) order by account_id collate "C", shard loop
    update ledger_balance as balance
    set debits_posted = balance.debits_posted + change.debits_posted,
        credits_posted = balance.credits_posted + change.credits_posted
    where account_id = change.account_id and shard = change.shard;
    if not found then
      raise exception 'ledger: account % has no shard %', change.account_id, change.shard;
    end if;
  end loop;
  return true;
end $$;

create or replace function public.record_exchanges(exchanges json)
 returns integer
 language plpgsql
as $$
declare
  written int;
begin
  insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, amount_minor, currency, digest, card_token, wire_keys,
    not_after, begun_at, state, answer, far_reference, heard_at)
  select one.*
  from json_to_recordset(exchanges) as one (aggregate_id text, operation text, bank_id text, terminal_id text, kind text,
    amount_minor bigint, currency text, digest bytea, card_token text, wire_keys json, not_after timestamptz, begun_at timestamptz,
    state text, answer json, far_reference text, heard_at timestamptz)
  on conflict (aggregate_id, operation) do update
  set bank_id = excluded.bank_id, terminal_id = excluded.terminal_id, digest = excluded.digest, wire_keys = excluded.wire_keys,
    not_after = excluded.not_after, state = excluded.state, answer = excluded.answer, far_reference = excluded.far_reference,
    heard_at = excluded.heard_at
  where exchange.state not in ('approved', 'declined', 'takenBack', 'settled');
  get diagnostics written = row_count;
  return written;
end $$;

create or replace function public.record_journal(for_aggregate text, for_operation text, happened timestamp with time zone, entries json)
 returns text
 language plpgsql
as $$
begin
  if entries is null then return null; end if;
  return record_journals(array[for_aggregate], array[for_operation], array[happened], array[entries]);
end $$;

create or replace function public.record_journals(aggregates text[], operations text[], times timestamp with time zone[], journals json[])
 returns text
 language plpgsql
as $$
declare
  outcome text;
begin
  if cardinality(aggregates) = 0 then return null; end if;
  if post_singles(aggregates, operations, times, journals) then return 'posted'; end if;
  if cardinality(aggregates) > 1 then
    raise exception using errcode = 'LE004', message = 'ledger: one of the journals needs a statement of its own';
  end if;
  outcome := post_journal(aggregates[1], operations[1], times[1], journals[1]);
  if outcome = 'accountMissing' then
    raise exception using errcode = 'LE002', message = 'ledger: an account does not exist yet';
  elsif outcome = 'insufficient' then
    raise exception using errcode = 'LE003', message = 'ledger: an account lacks the money';
  end if;
  return outcome;
end $$;

create or replace function public.reject_over_limit(counted json)
 returns text
 language plpgsql
as $$
begin
  raise exception using errcode = 'PL001', message = 'a payout passes a limit of its wallet', detail = counted::text;
end $$;

create or replace function public.start_charges(changes json)
 returns table(asker integer)
 language plpgsql
 set enable_seqscan to 'off'
as $$
#variable_conflict use_column
declare
  written int[];
  all_exchanges json;
begin
  with change as materialized (
    select * from json_to_recordset(changes) as one (asker int, "mayWait" boolean, invoice_id text, payment_id text, party_id text,
      shop_id text, version int, status text, created_at timestamptz, amount_minor bigint, currency text, captured_minor bigint,
      refunded_minor bigint, terms json, state json, external_id text, invoice_version int, fingerprint bytea, wake_at timestamptz,
      attempts int, happened_at timestamptz, facts json, exchanges json, series_id text, series_version int, series_status text,
      series_chain text, series_state json, series_changed_at timestamptz, series_wake_at timestamptz, series_facts json,
      series_card_stops int, is_retry boolean, packs text)
    order by series_id collate "C", one.asker
  ), ready as materialized (
    select * from change
    where "mayWait" or (
      asker in (select min(asker) from change group by series_id)
      and asker in (select min(asker) from change group by invoice_id)
      and (external_id is null or asker in (select min(asker) from change group by party_id, external_id))
    )
    and not exists (
      select from external_id as claim
      where claim.party_id = change.party_id and operation = 'createPayment' and claim.external_id = change.external_id
    )
  ), locked as materialized (
    select ready.* from ready cross join lateral (
      select from series, invoice
      where series.series_id = ready.series_id and series.version = series_version and card_stops = series_card_stops
        and invoice.invoice_id = ready.invoice_id and invoice.version = invoice_version
      for no key update skip locked
    ) as found
    where not coalesce("mayWait", false)
    union all
    select ready.* from ready cross join lateral (
      select from series, invoice
      where series.series_id = ready.series_id and series.version = series_version and card_stops = series_card_stops
        and invoice.invoice_id = ready.invoice_id and invoice.version = invoice_version
      for no key update
    ) as found
    where "mayWait"
  ), identified as (
    insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
    select party_id, 'createPayment', external_id, invoice_id || '.' || payment_id, fingerprint from locked
    where external_id is not null
  ), series_changed as (
    update series
    set version = series.version + 1, status = series_status, chain = series_chain, state = series_state,
        changed_at = series_changed_at, wake_at = series_wake_at, attempts = 0, stuck_at = null, stuck_reason = null
    from locked where series.series_id = any (array[locked.series_id])
    returning series.series_id, series.version, series.party_id, series.changed_at, series_facts
  ), attempt_made as (
    insert into series_attempt (series_id, invoice_id, payment_id, created_at, amount_minor, currency, is_retry, packs, outcome)
    select series_id, invoice_id, payment_id, series_changed_at, amount_minor, currency, is_retry, packs, 'pending' from locked
  ), payment_made as (
    insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency,
      captured_minor, refunded_minor, terms, state, external_id, wake_at, attempts)
    select invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency,
      captured_minor, refunded_minor, terms, state, external_id, wake_at, attempts
    from locked
  ), invoice_changed as (
    update invoice
    set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, happened_at),
        payments_made = payments_made + 1, payment_in_progress = true, wake_at = null
    from locked where invoice.invoice_id = any (array[locked.invoice_id])
    returning invoice.invoice_id, invoice.version, invoice.party_id, invoice.changed_at, facts, locked.asker, exchanges
  ), logged as (
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select series_id, version, 'series', party_id, changed_at, series_facts from series_changed
    union all
    select invoice_id, version, 'invoice', party_id, changed_at, facts from invoice_changed
  )
  select array_agg(one.asker),
    (select json_agg(entry) from invoice_changed cross join lateral json_array_elements(exchanges) as entry)
  into written, all_exchanges
  from invoice_changed as one;

  perform record_exchanges(all_exchanges);
  return query select * from unnest(written);
end $$;

create or replace function public.times_since(times timestamp with time zone[], since timestamp with time zone)
 returns timestamp with time zone[]
 language sql
 immutable
as $$ select array(select at from unnest(times) as at where at > since order by at desc limit 20) $$;

create or replace function public.times_without(times timestamp with time zone[], at timestamp with time zone)
 returns timestamp with time zone[]
 language sql
 immutable
as $$
  select coalesce(times[:array_position(times, at) - 1] || times[array_position(times, at) + 1:], times)
$$;

create or replace function public.version_conflict()
 returns integer
 language plpgsql
as $$
begin
  raise exception using errcode = 'MV001', message = 'another transaction has changed the row since it was read';
end $$;

create or replace function public.wake_awaiting_subscriptions()
 returns trigger
 language plpgsql
as $$
begin
  update subscription set wake_at = new.changed_at
  where subscription_id in (
      select subscription_id from subscription
      where subscription_id = any (old.awaited_by) and phase <> 'ended' and wake_at > new.changed_at
      for no key update skip locked
    );
  new.awaited_by := null;
  return new;
end $$;

create or replace function public.wake_subscription_of_consent()
 returns trigger
 language plpgsql
as $$
begin
  update subscription set wake_at = new.changed_at
  where subscription_id in (
      select subscription_id from subscription_invoice where invoice_id = split_part(new.series_id, '.', 1)
    ) and phase <> 'ended' and (wake_at is null or wake_at > new.changed_at);
  return null;
end $$;

create or replace function public.wake_subscriptions(changes json)
 returns table(asker integer, is_claimed boolean)
 language plpgsql
 set enable_seqscan to 'off'
as $$
#variable_conflict use_column
begin
  return query
  with change as materialized (
    select * from json_to_recordset(changes) as one (asker int, "mayWait" boolean, subscription_id text, at timestamptz,
      leased_until timestamptz)
    order by subscription_id collate "C"
  ), standing as materialized (
    select asker from change cross join lateral (
      select wake_at from subscription where subscription_id = change.subscription_id and attempts = 0 offset 0
    ) as found
    where found.wake_at > at and found.wake_at <= leased_until
  ), claimable as materialized (
    select * from change where asker not in (select asker from standing)
  ), locked as materialized (
    select claimable.*, found.wake_at from claimable cross join lateral (
      select wake_at from subscription where subscription_id = claimable.subscription_id for no key update skip locked
    ) as found
    where not coalesce("mayWait", false)
    union all
    select claimable.*, found.wake_at from claimable cross join lateral (
      select wake_at from subscription where subscription_id = claimable.subscription_id for no key update
    ) as found
    where "mayWait"
  ), claimed as (
    update subscription set wake_at = locked.leased_until, attempts = 1
    from locked where subscription.subscription_id = any (array[locked.subscription_id]) and locked.wake_at > locked.at
    returning locked.asker
  )
  select asker, true from standing
  union all
  select asker, asker in (select asker from claimed) from locked;
end $$;

create or replace function public.wake_subscriptions_of_customer()
 returns trigger
 language plpgsql
as $$
begin
  update subscription set wake_at = new.changed_at
  where customer_id = new.customer_id and phase <> 'ended' and (wake_at is null or wake_at > new.changed_at);
  return null;
end $$;

create or replace function public.wake_subscriptions_of_new_consent()
 returns trigger
 language plpgsql
as $$
begin
  update subscription set wake_at = new.changed_at
  where subscription_id in (
      select subscription_id from subscription_invoice where invoice_id = split_part(new.series_id, '.', 1)
      union all
      select subscription_id from subscription where customer_id = new.terms->'root'->>'invoiceId'
    ) and phase <> 'ended' and (wake_at is null or wake_at > new.changed_at);
  return null;
end $$;

create table api_key (
  key_id id not null,
  party_id id not null,
  name text not null,
  livemode boolean not null,
  scopes text not null,
  secret_hash bytea not null,
  key_version integer not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint api_key_pkey primary key (key_id)
);
create index api_key_of_party on api_key using btree (party_id);

create table bank (
  bank_id id not null,
  url text not null,
  secret_ciphertext bytea not null,
  key_version integer not null,
  created_at timestamp with time zone not null,
  away_since timestamp with time zone,
  away_seen_at timestamp with time zone,
  away_because text,
  updates_cursor bigint default 0 not null,
  report_cursor bigint,
  checked_at timestamp with time zone,
  check_problem text,
  stopped_at timestamp with time zone,
  stopped_because text,
  confirmed_because text,
  is_shared boolean default false not null,
  abilities text,
  charges_held_since timestamp with time zone,
  charges_held_until timestamp with time zone,
  charges_held_because text,
  constraint bank_pkey primary key (bank_id)
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
  refund_due_at timestamp with time zone,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  series_id id,
  attempted_bin text,
  attempted_at timestamp with time zone,
  attempted_card bytea,
  attempted_address bytea,
  constraint binding_pkey primary key (customer_id, binding_id),
  constraint binding_customer_id_number_key unique (customer_id, number),
  constraint binding_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint binding_check check ((status = 'succeeded'::text) = (bound_at_version is not null)),
  constraint binding_check1 check ((status = any (array['reversing'::text, 'returning'::text, 'refunding'::text])) = (refund_due_at is not null)),
  constraint binding_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint binding_status_check check (status = any (array['authorising'::text, 'challenged'::text, 'reversing'::text, 'returning'::text, 'refunding'::text, 'succeeded'::text, 'withdrawn'::text, 'failed'::text]))
);
create index binding_bound on binding using btree (customer_id, bound_at_version) where bound_at_version is not null;
create index binding_due on binding using btree (wake_at) where wake_at is not null;
create index binding_of_card on binding using btree (card_fingerprint, created_at);
create index binding_refund_due on binding using btree (refund_due_at) where refund_due_at is not null;
create index binding_stuck on binding using btree (stuck_at) where stuck_at is not null;

create table branding (
  party_id id not null,
  shop_id id not null,
  accent text,
  logo bytea,
  terms_url text,
  privacy_url text,
  constraint branding_pkey primary key (party_id, shop_id)
);

create table card (
  card_id id not null,
  party_id id not null,
  session_id id not null,
  made_for_kind text,
  made_for_id id,
  stored_at timestamp with time zone not null,
  valid_until timestamp with time zone not null,
  is_retained boolean default false not null,
  payment_system text not null,
  mask text not null,
  client_info json not null,
  external_id text,
  ciphertext bytea not null,
  key_version integer not null,
  fingerprint bytea not null,
  fingerprint_key_version integer not null,
  match_hash bytea not null,
  purpose text default 'payment'::text not null,
  retained_for json,
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
create index card_by_key_version on card using btree (key_version, card_id);
create index card_due on card using btree (wake_at) where wake_at is not null;
create index card_stuck on card using btree (stuck_at) where stuck_at is not null;
create index card_unretained on card using btree (stored_at) where not is_retained;

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
  decline_class text,
  is_of_charge boolean default false not null,
  constraint card_stop_pkey primary key (card_key, invoice_id, payment_id)
);

create table category (
  category_id integer not null,
  name text not null,
  description text,
  constraint category_pkey primary key (category_id)
);

create table charge_undo (
  invoice_id id not null,
  payment_id id not null,
  operation text collate "C" not null,
  party_id id not null,
  amount_minor bigint,
  is_refused boolean default false not null,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint charge_undo_pkey primary key (invoice_id, payment_id, operation),
  constraint charge_undo_amount_minor_check check (amount_minor > 0)
);
create index charge_undo_due on charge_undo using btree (wake_at) where wake_at is not null;
create index charge_undo_stuck on charge_undo using btree (stuck_at) where stuck_at is not null;

create table consent_link (
  consent_link_id id not null,
  party_id id not null,
  shop_id id not null,
  series_id id not null,
  terms json not null,
  language text,
  redirect_url text,
  external_id text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  customer_id id,
  binding_id id,
  cancelled_at timestamp with time zone,
  constraint consent_link_pkey primary key (consent_link_id),
  constraint consent_link_check check ((customer_id is null) = (binding_id is null)),
  constraint consent_link_check1 check (expires_at > created_at)
);

create table console_session (
  session_id text not null,
  party_id text,
  is_operator boolean not null,
  livemode boolean not null,
  made_by text not null,
  created_at timestamp with time zone not null,
  link_hash bytea not null,
  session_hash bytea,
  opened_at timestamp with time zone,
  seen_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint console_session_pkey primary key (session_id),
  constraint console_session_opened check ((session_hash is null) = (opened_at is null) and (session_hash is null) = (seen_at is null)),
  constraint console_session_viewer check (is_operator or party_id is not null)
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
  changed_at timestamp with time zone default now() not null,
  constraint customer_pkey primary key (customer_id),
  constraint customer_check check ((status = 'ready'::text) = (active_binding_id is not null)),
  constraint customer_status_check check (status = any (array['unready'::text, 'ready'::text, 'deleted'::text]))
);
create trigger customer_wakes_subscriptions after update of active_binding_id, status on customer for each row when (old.active_binding_id::text is distinct from new.active_binding_id::text or old.status <> new.status) execute function wake_subscriptions_of_customer();

create table data_key (
  purpose text not null,
  key_version integer not null,
  wrapped bytea not null,
  master_key_id text not null,
  created_at timestamp with time zone not null,
  form integer default 1 not null,
  constraint data_key_pkey primary key (purpose, key_version)
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
  reversed_at timestamp with time zone,
  changed_at timestamp with time zone default now() not null,
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
  changed_at timestamp with time zone default now() not null,
  card_hash bytea,
  returns integer default 0 not null,
  constraint destination_pkey primary key (destination_id),
  constraint destination_check check ((failure is not null) = (status = 'refused'::text)),
  constraint destination_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint destination_status_check check (status = any (array['checking'::text, 'authorized'::text, 'refused'::text]))
);
create index destination_due on destination using btree (wake_at) where wake_at is not null;
create index destination_of_party on destination using btree (party_id, created_at, destination_id);
create index destination_stuck on destination using btree (stuck_at) where stuck_at is not null;

create table dunning_policy (
  party_id id not null,
  shop_id id not null,
  name text not null,
  version integer not null,
  policy json not null,
  created_at timestamp with time zone not null,
  constraint dunning_policy_pkey primary key (party_id, shop_id, name, version),
  constraint dunning_policy_name_check check (name ~ '^[a-z][a-z0-9-]{0,39}$'::text),
  constraint dunning_policy_version_check check (version >= 1)
);

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
create trigger event_is_append_only before delete or update on event for each row execute function forbid_change();

create table exchange (
  aggregate_id id not null,
  operation text collate "C" not null,
  bank_id id not null,
  terminal_id text not null,
  kind text not null,
  amount_minor bigint,
  currency text,
  digest bytea not null,
  card_token text,
  wire_keys json not null,
  not_after timestamp with time zone,
  begun_at timestamp with time zone not null,
  state text not null,
  answer json,
  far_reference text,
  heard_at timestamp with time zone,
  constraint exchange_pkey primary key (aggregate_id, operation),
  constraint exchange_state_check check (state = any (array['begun'::text, 'challenged'::text, 'approved'::text, 'declined'::text, 'givenUp'::text, 'takenBack'::text, 'settled'::text]))
) with (fillfactor=75);
create index exchange_far_reference on exchange using btree (bank_id, far_reference) where far_reference is not null;
create index exchange_time on exchange using brin (begun_at) with (pages_per_range='32');
create trigger exchange_is_kept before delete on exchange for each row when (old.begun_at > (now() - '540 days'::interval)) execute function forbid_change();
create trigger exchange_is_late after update on exchange for each row when (new.heard_at >= (old.begun_at + '00:55:00'::interval)) execute function note_late_exchange();
create trigger exchange_keeps_what_is_proved before update on exchange for each row when (old.state = any (array['approved'::text, 'declined'::text, 'takenBack'::text, 'settled'::text])) execute function forbid_change();

create table exchange_late (
  aggregate_id id not null,
  operation text collate "C" not null,
  written_in xid8 default pg_current_xact_id() not null,
  begun_at timestamp with time zone not null,
  constraint exchange_late_pkey primary key (aggregate_id, operation, written_in)
);

create table exchange_note (
  bank_id id not null,
  note_key text collate "C" not null,
  operation_id text not null,
  what text not null,
  heard json not null,
  meaning text not null,
  noted_at timestamp with time zone not null,
  constraint exchange_note_pkey primary key (bank_id, note_key),
  constraint exchange_note_meaning_check check (meaning = any (array['nothing'::text, 'waits'::text, 'applied'::text, 'contradiction'::text]))
);
create index exchange_note_hold_ended on exchange_note using btree (operation_id) where what = 'holdEnded'::text;
create index exchange_note_open on exchange_note using btree (noted_at) where meaning = any (array['waits'::text, 'contradiction'::text]);

create table exchange_sum (
  bank_id id not null,
  hour timestamp with time zone not null,
  kind text not null,
  state text not null,
  within_ms integer not null,
  n bigint not null,
  constraint exchange_sum_pkey primary key (bank_id, hour, kind, state, within_ms)
);

create table exchange_sum_position (
  only_row boolean not null,
  counted_until timestamp with time zone,
  counted_at timestamp with time zone,
  constraint exchange_sum_position_pkey primary key (only_row),
  constraint exchange_sum_position_only_row_check check (only_row)
);

create table export (
  party_id id not null,
  export_id id not null,
  slot integer not null,
  terms json not null,
  made_by text not null,
  created_at timestamp with time zone not null,
  run integer default 0 not null,
  row_count bigint default 0 not null,
  byte_count bigint default 0 not null,
  as_of timestamp with time zone,
  sha256 text,
  failure text,
  expires_at timestamp with time zone,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  md5 text,
  constraint export_pkey primary key (party_id, export_id),
  constraint export_check check ((expires_at is not null) = (sha256 is not null or failure is not null)),
  constraint export_failure_check check (failure = any (array['tooManyRows'::text, 'tooWide'::text, 'cancelled'::text])),
  constraint export_md5_check check (md5 ~ '^[0-9a-f]{32}$'::text),
  constraint export_sha256_check check (sha256 ~ '^[0-9a-f]{64}$'::text),
  constraint export_slot_check check (slot >= 1 and slot <= 3)
);
create index export_due on export using btree (wake_at) where wake_at is not null;
create unique index export_slot on export using btree (party_id, slot) where expires_at is null;
create index export_stuck on export using btree (stuck_at) where stuck_at is not null;

create table export_piece (
  export_id id not null,
  run integer not null,
  number integer not null,
  key_version integer not null,
  content bytea not null,
  constraint export_piece_pkey primary key (export_id, run, number)
);

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
  body_ciphertext bytea,
  key_version integer,
  created_at timestamp with time zone not null,
  warnings text,
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
  changed_at timestamp with time zone default now() not null,
  sender json,
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
create unique index identity_challenge_pending on identity_challenge using btree (identity_id) where status = 'pending'::text;

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
  changed_at timestamp with time zone default now() not null,
  payer_attempts integer default 0 not null,
  recurring json,
  invoice_template_id id,
  original_minor bigint,
  subscription_id id,
  constraint invoice_pkey primary key (invoice_id),
  constraint invoice_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint invoice_check check ((reason is not null) = (status = any (array['fulfilled'::text, 'cancelled'::text]))),
  constraint invoice_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint invoice_status_check check (status = any (array['unpaid'::text, 'paid'::text, 'fulfilled'::text, 'cancelled'::text]))
) with (fillfactor=65);
create index invoice_due on invoice using btree (wake_at) where wake_at is not null;
create index invoice_stuck on invoice using btree (stuck_at) where stuck_at is not null;

create table invoice_stop (
  invoice_id id not null,
  payment_id id not null,
  stopped_at timestamp with time zone not null,
  rule text not null,
  pack text not null,
  decline_class text,
  constraint invoice_stop_pkey primary key (invoice_id, payment_id)
);

create table invoice_template (
  invoice_template_id id not null,
  party_id id not null,
  shop_id id not null,
  name text,
  description text,
  lifetime json not null,
  details json not null,
  metadata json,
  external_id text,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint invoice_template_pkey primary key (invoice_template_id)
);

create table ledger_account (
  account_id text collate "C" not null,
  livemode boolean not null,
  currency text not null,
  code text not null,
  party_id id,
  owner_id id,
  forbids_overdraft boolean not null,
  shards integer not null,
  opened_at timestamp with time zone default now() not null,
  overdraft_minor bigint default 0 not null,
  constraint ledger_account_pkey primary key (account_id),
  constraint ledger_account_check check (overdraft_minor >= 0 and overdraft_minor <= '999999999999'::bigint and (overdraft_minor = 0 or code = 'merchant.settlement'::text)),
  constraint ledger_account_code_check check (code ~ '^[a-z]+\.[a-z_]+$'::text),
  constraint ledger_account_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint ledger_account_is_named_by_its_parts check (account_id = ((((((
case
    when livemode then 'live'::text
    else 'test'::text
end || ':'::text) || currency) || ':'::text) || code) || coalesce(':'::text || replace(replace(party_id::text, '%'::text, '%25'::text), ':'::text, '%3A'::text), ''::text)) || coalesce(':'::text || replace(replace(owner_id::text, '%'::text, '%25'::text), ':'::text, '%3A'::text), ''::text))),
  constraint ledger_account_shards_check check (shards >= 0 and shards <= 256)
);
create trigger ledger_account_keeps_its_name before delete or update of account_id, livemode, currency, code, party_id, owner_id, forbids_overdraft on ledger_account for each row execute function forbid_change();

create table ledger_balance (
  account_id text collate "C" not null,
  shard integer not null,
  is_unsharded boolean not null,
  debits_posted bigint default 0 not null,
  credits_posted bigint default 0 not null,
  debits_pending bigint default 0 not null,
  credits_pending bigint default 0 not null,
  constraint ledger_balance_pkey primary key (account_id, shard),
  constraint ledger_balance_credits_pending_check check (credits_pending >= 0),
  constraint ledger_balance_credits_posted_check check (credits_posted >= 0),
  constraint ledger_balance_debits_pending_check check (debits_pending >= 0),
  constraint ledger_balance_debits_posted_check check (debits_posted >= 0),
  constraint ledger_balance_no_overdraft check (not is_unsharded or credits_posted >= (debits_posted + debits_pending)),
  constraint ledger_balance_shard_check check (shard >= 0)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create table ledger_checkpoint (
  account_id text collate "C" not null,
  shard integer not null,
  debits_posted bigint not null,
  credits_posted bigint not null,
  debits_pending bigint not null,
  credits_pending bigint not null,
  constraint ledger_checkpoint_pkey primary key (account_id, shard)
);

create table ledger_transfer (
  aggregate_id id not null,
  operation_id text collate "C" not null,
  step text collate "C" not null,
  phase text not null,
  completes_pending boolean not null,
  debit_account text collate "C" not null,
  debit_shard integer not null,
  credit_account text collate "C" not null,
  credit_shard integer not null,
  posted_minor bigint not null,
  pending_minor bigint not null,
  happened_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  constraint ledger_transfer_pkey primary key (aggregate_id, operation_id, step, completes_pending),
  constraint ledger_transfer_check check (completes_pending = (phase = any (array['post'::text, 'void'::text]))),
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
  constraint ledger_transfer_stays_in_mode_and_currency check ("left"(debit_account, 9) = "left"(credit_account, 9))
);
create index ledger_transfer_age on ledger_transfer using brin (created_at);
create trigger ledger_transfer_is_append_only before delete or update on ledger_transfer for each row execute function forbid_change();
create trigger ledger_transfer_is_never_emptied before truncate on ledger_transfer for each statement execute function forbid_change();

create table ledger_watermark (
  only_row boolean default true not null,
  reached_at timestamp with time zone not null,
  constraint ledger_watermark_pkey primary key (only_row),
  constraint ledger_watermark_only_row_check check (only_row)
);

create table limits_reset (
  only_row boolean default true not null,
  resets bigint not null,
  constraint limits_reset_pkey primary key (only_row),
  constraint limits_reset_only_row_check check (only_row)
);

create table migration (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_pkey primary key (number)
);

create table party (
  party_id id not null,
  name text not null,
  is_blocked boolean default false not null,
  is_suspended boolean default false not null,
  created_at timestamp with time zone not null,
  constraint party_pkey primary key (party_id)
);

create table payer_attempt (
  subject bytea not null,
  open timestamp with time zone[] default '{}'::timestamp with time zone[] not null,
  declined timestamp with time zone[] default '{}'::timestamp with time zone[] not null,
  mismatched timestamp with time zone[] default '{}'::timestamp with time zone[] not null,
  kept_until timestamp with time zone not null,
  paid timestamp with time zone[] default '{}'::timestamp with time zone[] not null,
  constraint payer_attempt_pkey primary key (subject)
) with (fillfactor=50);
create index payer_attempt_kept_until on payer_attempt using btree (kept_until);

create table payer_email (
  invoice_id id not null,
  payment_id id not null,
  party_id id not null,
  series_id id,
  status text not null,
  created_at timestamp with time zone not null,
  recipient text not null,
  paid_at timestamp with time zone,
  amount_minor bigint,
  currency text,
  reference text,
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
  content json,
  about text default 'receipt'::text not null,
  constraint payer_email_pkey primary key (invoice_id, payment_id),
  constraint payer_email_about_check check (about = 'receipt'::text and num_nulls(paid_at, amount_minor, currency, reference) = 0 or about = 'subscription'::text and content is not null) not valid,
  constraint payer_email_check check ((status = 'waiting'::text) = (ended_at is null)),
  constraint payer_email_check1 check (status = 'waiting'::text or text_body is not null),
  constraint payer_email_status_check check (status = any (array['waiting'::text, 'kept'::text, 'sent'::text, 'refused'::text]))
);
create index payer_email_due on payer_email using btree (wake_at) where wake_at is not null;
create index payer_email_of_party on payer_email using btree (party_id, created_at);
create index payer_email_stuck on payer_email using btree (stuck_at) where stuck_at is not null;

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
  attempted_bin text,
  attempted_at timestamp with time zone,
  unsent_attempts integer default 0 not null,
  attempted_card bytea,
  attempted_address bytea,
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

create table payout_limit_rule (
  party_id id not null,
  network text not null,
  currency text not null,
  level text not null,
  min_minor bigint,
  per_payout_minor bigint,
  per_day_minor bigint,
  per_month_minor bigint,
  payouts_per_day bigint,
  card_per_day_minor bigint,
  card_per_month_minor bigint,
  card_payouts_per_day bigint,
  set_by text not null,
  set_at timestamp with time zone not null,
  reason text not null,
  constraint payout_limit_rule_pkey primary key (party_id, currency, network, level),
  constraint payout_limit_rule_card_payouts_per_day_check check (card_payouts_per_day >= 0),
  constraint payout_limit_rule_card_per_day_minor_check check (card_per_day_minor >= 0),
  constraint payout_limit_rule_card_per_month_minor_check check (card_per_month_minor >= 0),
  constraint payout_limit_rule_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint payout_limit_rule_level_check check (level = any (array['*'::text, 'anonymous'::text, 'partial'::text, 'identified'::text])),
  constraint payout_limit_rule_min_minor_check check (min_minor >= 1),
  constraint payout_limit_rule_payouts_per_day_check check (payouts_per_day >= 0),
  constraint payout_limit_rule_per_day_minor_check check (per_day_minor >= 0),
  constraint payout_limit_rule_per_month_minor_check check (per_month_minor >= 0),
  constraint payout_limit_rule_per_payout_minor_check check (per_payout_minor >= 0)
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
  terms json default '{}'::json not null,
  merchant_facts json,
  constraint payout_terminal_pkey primary key (party_id, terminal_id)
);

create table payout_turnover (
  wallet_id id not null,
  period text collate "C" not null,
  amount_minor bigint not null,
  payouts bigint not null,
  constraint payout_turnover_pkey primary key (wallet_id, period)
) with (fillfactor=50);

create table payout_usage (
  subject text collate "C" not null,
  currency text collate "C" not null,
  period text collate "C" not null,
  amount_minor bigint not null,
  payouts bigint not null,
  constraint payout_usage_pkey primary key (subject, currency, period)
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
  waits_until timestamp with time zone,
  rrn text,
  arn text,
  constraint refund_pkey primary key (invoice_id, payment_id, refund_id),
  constraint refund_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint refund_check check ((failure is not null) = (status = 'failed'::text)),
  constraint refund_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint refund_fee_minor_check check (fee_minor >= 0),
  constraint refund_status_check check (status = any (array['pending'::text, 'succeeded'::text, 'failed'::text]))
);

create unlogged table report_line (
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
  constraint report_line_pkey primary key (run_id, aggregate_id, operation_id, sequence)
);

create table search_binding (
  party_id id not null,
  shop_id id not null,
  customer_id id not null,
  binding_id id not null,
  created_at timestamp with time zone not null,
  status text not null,
  external_id text collate "C",
  first6 text,
  last4 text,
  failure text collate "C",
  constraint search_binding_pkey primary key (party_id, customer_id, binding_id)
) with (fillfactor=80);
create index search_binding_external_id on search_binding using btree (party_id, external_id) where external_id is not null;
create index search_binding_of_last4 on search_binding using btree (party_id, last4, created_at, customer_id, binding_id);
create index search_binding_of_party on search_binding using btree (party_id, created_at, customer_id, binding_id);
create index search_binding_of_shop on search_binding using btree (party_id, shop_id, created_at, customer_id, binding_id);

create table search_customer (
  party_id id not null,
  shop_id id not null,
  customer_id id not null,
  created_at timestamp with time zone not null,
  status text not null,
  external_id text collate "C",
  email text collate "C",
  constraint search_customer_pkey primary key (party_id, customer_id)
) with (fillfactor=80);
create index search_customer_external_id on search_customer using btree (party_id, external_id) where external_id is not null;
create index search_customer_of_email on search_customer using btree (party_id, email, created_at, customer_id) where email is not null;
create index search_customer_of_party on search_customer using btree (party_id, created_at, customer_id);
create index search_customer_of_shop on search_customer using btree (party_id, shop_id, created_at, customer_id);

create table search_day_sum (
  party_id id not null,
  shop_id id not null,
  day timestamp with time zone not null,
  what text not null,
  currency text not null,
  status text not null,
  attempt integer not null,
  payment_system text not null,
  decline_class text not null,
  failure text not null,
  bank_code text not null,
  amount_minor bigint not null,
  n bigint not null,
  constraint search_day_sum_pkey primary key (party_id, shop_id, day, what, currency, status, attempt, payment_system, decline_class, failure, bank_code)
) with (fillfactor=80);

create table search_hour_sum (
  party_id id not null,
  shop_id id not null,
  hour timestamp with time zone not null,
  what text not null,
  currency text not null,
  status text not null,
  decline_class text not null,
  amount_minor bigint not null,
  n bigint not null,
  constraint search_hour_sum_pkey primary key (party_id, shop_id, hour, what, currency, status, decline_class)
) with (fillfactor=80);

create table search_invoice (
  party_id id not null,
  shop_id id not null,
  invoice_id id not null,
  created_at timestamp with time zone not null,
  status text not null,
  amount_minor bigint not null,
  external_id text collate "C",
  constraint search_invoice_pkey primary key (party_id, invoice_id)
) with (fillfactor=80);
create index search_invoice_external_id on search_invoice using btree (party_id, external_id) where external_id is not null;
create index search_invoice_of_amount on search_invoice using btree (party_id, amount_minor, created_at, invoice_id);
create index search_invoice_of_shop on search_invoice using btree (party_id, shop_id, created_at, invoice_id);

create table search_list_position (
  only_row boolean default true not null,
  seen text not null,
  rebuild_after text collate "C",
  rebuilt bigint default 0 not null,
  constraint search_list_position_pkey primary key (only_row),
  constraint search_list_position_only_row_check check (only_row)
);

create table search_payment (
  party_id id not null,
  shop_id id not null,
  invoice_id id not null,
  payment_id id not null,
  created_at timestamp with time zone not null,
  status text not null,
  flow text not null,
  amount_minor bigint not null,
  external_id text collate "C",
  customer_id id,
  email text collate "C",
  ip text,
  fingerprint text,
  first6 text,
  last4 text,
  payment_system text,
  rrn text collate "C",
  approval_code text,
  currency text,
  attempt integer,
  decline_class text,
  failure text,
  bank_code text,
  invoice_created_at timestamp with time zone,
  constraint search_payment_pkey primary key (party_id, invoice_id, payment_id)
) with (fillfactor=80);
create index search_payment_external_id on search_payment using btree (party_id, external_id) where external_id is not null;
create index search_payment_invoices_of_amount on search_payment using btree (party_id, amount_minor, invoice_created_at, invoice_id);
create index search_payment_invoices_of_ip on search_payment using btree (party_id, ip, invoice_created_at, invoice_id) where ip is not null;
create index search_payment_invoices_of_last4 on search_payment using btree (party_id, last4, invoice_created_at, invoice_id) where last4 is not null;
create index search_payment_invoices_of_shop on search_payment using btree (party_id, shop_id, invoice_created_at, invoice_id) where invoice_created_at is not null;
create index search_payment_of_amount on search_payment using btree (party_id, amount_minor, created_at, invoice_id, payment_id);
create index search_payment_of_approval_code on search_payment using btree (party_id, approval_code) where approval_code is not null;
create index search_payment_of_customer on search_payment using btree (party_id, customer_id, created_at, invoice_id, payment_id) where customer_id is not null;
create index search_payment_of_email on search_payment using btree (party_id, email, created_at, invoice_id, payment_id) where email is not null;
create index search_payment_of_fingerprint on search_payment using btree (party_id, md5(fingerprint)) where fingerprint is not null;
create index search_payment_of_ip on search_payment using btree (party_id, ip, created_at, invoice_id, payment_id) where ip is not null;
create index search_payment_of_last4 on search_payment using btree (party_id, last4, created_at, invoice_id, payment_id) where last4 is not null;
create index search_payment_of_shop on search_payment using btree (party_id, shop_id, created_at, invoice_id, payment_id);
create index search_payment_rrn on search_payment using btree (party_id, rrn) where rrn is not null;

create table search_payout (
  party_id id not null,
  shop_id id not null,
  withdrawal_id id not null,
  created_at timestamp with time zone not null,
  status text not null,
  amount_minor bigint not null,
  currency text not null,
  constraint search_payout_pkey primary key (party_id, withdrawal_id)
) with (fillfactor=80);
create index search_payout_of_party on search_payout using btree (party_id, shop_id, created_at);

create table search_position (
  only_row boolean default true not null,
  seen text not null,
  rebuild_after text collate "C",
  rebuilt bigint default 0 not null,
  resum_from json,
  constraint search_position_pkey primary key (only_row),
  constraint search_position_only_row_check check (only_row)
);

create table search_refund (
  party_id id not null,
  shop_id id not null,
  invoice_id id not null,
  payment_id id not null,
  refund_id id not null,
  created_at timestamp with time zone not null,
  status text not null,
  external_id text collate "C",
  rrn text collate "C",
  amount_minor bigint,
  currency text,
  constraint search_refund_pkey primary key (party_id, invoice_id, payment_id, refund_id)
) with (fillfactor=80);
create index search_refund_external_id on search_refund using btree (party_id, external_id) where external_id is not null;
create index search_refund_of_shop on search_refund using btree (party_id, shop_id, created_at, invoice_id, payment_id, refund_id);
create index search_refund_rrn on search_refund using btree (party_id, rrn) where rrn is not null;

create table search_retry (
  party_id id not null,
  shop_id id not null,
  invoice_id id not null,
  payment_id id not null,
  created_at timestamp with time zone not null,
  outcome text not null,
  payment_system text not null,
  decline_class text not null,
  bank_code text not null,
  number integer not null,
  days integer not null,
  local_hour integer not null,
  policy text not null,
  constraint search_retry_pkey primary key (party_id, invoice_id, payment_id)
) with (fillfactor=80);
create index search_retry_of_shop on search_retry using btree (party_id, shop_id, created_at);

create table search_series (
  party_id id not null,
  shop_id id not null,
  series_id id not null,
  created_at timestamp with time zone not null,
  status text not null,
  ends_at timestamp with time zone not null,
  root_kind text not null,
  root_of id not null,
  root_id id not null,
  constraint search_series_pkey primary key (party_id, series_id)
) with (fillfactor=80);
create index search_series_of_party on search_series using btree (party_id, created_at, series_id);
create index search_series_of_root on search_series using btree (party_id, root_of, created_at, series_id);
create index search_series_of_shop on search_series using btree (party_id, shop_id, created_at, series_id);

create table search_sum (
  party_id id not null,
  shop_id id not null,
  quarter timestamp with time zone not null,
  what text not null,
  currency text not null,
  status text not null,
  attempt integer not null,
  payment_system text not null,
  decline_class text not null,
  failure text not null,
  bank_code text not null,
  amount_minor bigint not null,
  n bigint not null,
  constraint search_sum_pkey primary key (party_id, shop_id, quarter, what, currency, status, attempt, payment_system, decline_class, failure, bank_code),
  constraint search_sum_what_check check (what = any (array['payment'::text, 'refund'::text, 'payout'::text]))
) with (fillfactor=80);
create trigger search_sum_added after insert on search_sum referencing new table as added for each statement execute function follow_sums();
create trigger search_sum_changed after update on search_sum referencing old table as taken new table as added for each statement execute function follow_sums();
create trigger search_sum_taken after delete on search_sum referencing old table as taken for each statement execute function follow_sums();

create unlogged table security_code (
  session_id id not null,
  card_id id not null,
  half_hour integer not null,
  ciphertext bytea not null,
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
  status text not null,
  card_key bytea not null,
  card_token id not null,
  chain text not null,
  terms json not null,
  state json not null,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  changed_at timestamp with time zone default now() not null,
  card_stops integer default 0 not null,
  awaited_by id[],
  constraint series_pkey primary key (series_id),
  constraint series_status_check check (status = any (array['active'::text, 'stopped'::text, 'withdrawn'::text]))
) with (fillfactor=60);
create index series_due on series using btree (wake_at) where wake_at is not null;
create index series_of_card on series using btree (card_key) where status = 'active'::text;
create index series_stuck on series using btree (stuck_at) where stuck_at is not null;
create trigger consent_wakes_subscription after update of status on series for each row when (new.status = 'withdrawn'::text and old.status <> 'withdrawn'::text) execute function wake_subscription_of_consent();
create trigger new_consent_wakes_subscriptions after update of terms on series for each row when ((old.terms ->> 'consentedAt'::text) is distinct from (new.terms ->> 'consentedAt'::text)) execute function wake_subscriptions_of_new_consent();
create trigger series_wakes_awaiting before update of version on series for each row when (old.awaited_by is not null) execute function wake_awaiting_subscriptions();

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
  captured_at timestamp with time zone,
  decline_class text,
  held_until timestamp with time zone,
  obligation_ended_at timestamp with time zone,
  constraint series_attempt_pkey primary key (series_id, invoice_id, payment_id),
  constraint series_attempt_check check ((ended_at is null) = (outcome = 'pending'::text)),
  constraint series_attempt_outcome_check check (outcome = any (array['pending'::text, 'approved'::text, 'declined'::text, 'lost'::text, 'unsent'::text]))
) with (fillfactor=60);

create table shop (
  party_id id not null,
  shop_id id not null,
  livemode boolean not null,
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
  when_short text default 'refuse'::text not null,
  strict_ids boolean default false not null,
  three_d_secure text default 'whenTheBankSays'::text not null,
  one_off_receipts boolean default false not null,
  constraint shop_pkey primary key (party_id, shop_id),
  constraint shop_category_id_fkey foreign key (category_id) references category(category_id),
  constraint shop_currency_check check (currency ~ '^[A-Z]{3}$'::text),
  constraint shop_three_d_secure_check check (three_d_secure = any (array['always'::text, 'whenTheBankSays'::text, 'never'::text])),
  constraint shop_when_short_check check (when_short = any (array['refuse'::text, 'overdraft'::text, 'wait'::text]))
);

create table shop_guard (
  party_id id not null,
  shop_id id not null,
  bin text collate "C" not null,
  mode text not null,
  since timestamp with time zone not null,
  until timestamp with time zone not null,
  approved bigint not null,
  declined bigint not null,
  constraint shop_guard_pkey primary key (party_id, shop_id, bin),
  constraint shop_guard_mode_check check (mode = any (array['challenge'::text, 'refuse'::text]))
);

create table shop_outcome (
  party_id id not null,
  shop_id id not null,
  bin text collate "C" not null,
  minute timestamp with time zone not null,
  shard integer not null,
  approved integer not null,
  declined integer not null,
  constraint shop_outcome_pkey primary key (party_id, shop_id, bin, minute, shard)
) with (fillfactor=50);
create index shop_outcome_minute on shop_outcome using btree (minute);

create table shop_top_up (
  top_up_id id not null,
  party_id id not null,
  shop_id id not null,
  reference text not null,
  bank_account_id text not null,
  amount_minor bigint not null,
  currency text not null,
  created_at timestamp with time zone not null,
  reversed_at timestamp with time zone,
  constraint shop_top_up_pkey primary key (top_up_id),
  constraint shop_top_up_amount_minor_check check (amount_minor >= 1 and amount_minor <= '999999999999'::bigint),
  constraint shop_top_up_currency_check check (currency ~ '^[A-Z]{3}$'::text)
);
create trigger shop_top_up_is_append_only before delete or update of top_up_id, party_id, shop_id, reference, bank_account_id, amount_minor, currency, created_at on shop_top_up for each row execute function forbid_change();

create table subscription (
  subscription_id id not null,
  party_id id not null,
  shop_id id not null,
  customer_id id,
  version integer not null,
  phase text not null,
  terms json not null,
  state json not null,
  external_id text,
  created_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  wake_at timestamp with time zone,
  attempts integer default 0 not null,
  stuck_at timestamp with time zone,
  stuck_reason text,
  constraint subscription_pkey primary key (subscription_id),
  constraint subscription_phase_check check (phase = any (array['incomplete'::text, 'running'::text, 'paused'::text, 'unpaid'::text, 'ended'::text]))
) with (fillfactor=60);
create index subscription_due on subscription using btree (wake_at) where wake_at is not null;
create index subscription_misconfigured on subscription using btree (subscription_id) where strpos(state::text, '"configuration"'::text) > 0 and (((state -> 'open'::text) -> 0) ->> 'declineClass'::text) = 'configuration'::text;
create index subscription_of_customer on subscription using btree (customer_id, created_at, subscription_id);
create index subscription_of_shop on subscription using btree (party_id, shop_id, created_at, subscription_id);
create index subscription_parked on subscription using btree (subscription_id) where strpos(state::text, '"parkedFor"'::text) > 0 and (state ->> 'parkedFor'::text) is not null;
create index subscription_stuck on subscription using btree (stuck_at) where stuck_at is not null;

create table subscription_invoice (
  invoice_id id not null,
  subscription_id id not null,
  number integer not null,
  constraint subscription_invoice_pkey primary key (invoice_id)
);

create table subscription_key (
  party_id id not null,
  owner_id id not null,
  unique_key text collate "C" not null,
  subscription_id id not null,
  constraint subscription_key_pkey primary key (party_id, owner_id, unique_key)
);

create table subscription_period (
  subscription_id id not null,
  number integer not null,
  kind text not null,
  starts_on text not null,
  ends_on text not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  lines json not null,
  amount_minor bigint not null,
  credit_minor bigint not null,
  outcome text not null,
  invoice_id id,
  constraint subscription_period_pkey primary key (subscription_id, number),
  constraint subscription_period_subscription_id_starts_on_key unique (subscription_id, starts_on),
  constraint subscription_period_amount_minor_check check (amount_minor >= 0),
  constraint subscription_period_check check (invoice_id is not null or outcome <> 'open'::text),
  constraint subscription_period_credit_minor_check check (credit_minor >= 0),
  constraint subscription_period_ends_on_check check (ends_on ~ '^\d{4}-\d{2}-\d{2}$'::text),
  constraint subscription_period_kind_check check (kind = any (array['regular'::text, 'trial'::text, 'first'::text])),
  constraint subscription_period_number_check check (number >= 1),
  constraint subscription_period_outcome_check check (outcome = any (array['open'::text, 'paid'::text, 'unpaid'::text, 'forgiven'::text, 'skipped'::text, 'missed'::text])),
  constraint subscription_period_starts_on_check check (starts_on ~ '^\d{4}-\d{2}-\d{2}$'::text)
) with (fillfactor=60);

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
  paused_until timestamp with time zone,
  paused_because text,
  merchant_facts json,
  constraint terminal_pkey primary key (party_id, shop_id, terminal_id)
);

create table terminal_hold (
  party_id id not null,
  shop_id id not null,
  terminal_id id not null,
  network text not null,
  initiation text not null,
  days integer not null,
  constraint terminal_hold_pkey primary key (party_id, shop_id, terminal_id, network, initiation),
  constraint terminal_hold_days_check check (days >= 1 and days <= 30),
  constraint terminal_hold_initiation_check check (initiation = any (array['payerPresent'::text, 'withoutPayer'::text]))
);

create table test_clock (
  party_id id not null,
  offset_ms bigint not null,
  constraint test_clock_pkey primary key (party_id),
  constraint test_clock_offset_ms_check check (offset_ms >= 0)
);

create table waiting_refund (
  invoice_id id not null,
  payment_id id not null,
  refund_id id not null,
  party_id id not null,
  shop_id id not null,
  created_at timestamp with time zone not null,
  constraint waiting_refund_pkey primary key (invoice_id, payment_id, refund_id)
);
create index waiting_refund_of_shop on waiting_refund using btree (party_id, shop_id, created_at, invoice_id, payment_id, refund_id);

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
  wallet_id id,
  event_types text not null,
  url text not null,
  created_at timestamp with time zone not null,
  written_in xid8 default pg_current_xact_id() not null,
  created_snapshot text default pg_current_snapshot()::text,
  constraint webhook_pkey primary key (webhook_id),
  constraint webhook_topic_check check (topic = any (array['InvoicesTopic'::text, 'CustomersTopic'::text, 'RecurringTopic'::text, 'SubscriptionsTopic'::text, 'WithdrawalsTopic'::text, 'DestinationsTopic'::text])),
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
create index webhook_attempt_of_object on webhook_attempt using btree (webhook_id, aggregate_id, attempted_at);

create table webhook_event_number (
  aggregate_id id not null,
  chunk integer not null,
  base bigint not null,
  constraint webhook_event_number_pkey primary key (aggregate_id, chunk),
  constraint webhook_event_number_base_key unique (base)
);

create table webhook_event_number_counter (
  only_row boolean default true not null,
  last_base bigint not null,
  constraint webhook_event_number_counter_pkey primary key (only_row),
  constraint webhook_event_number_counter_only_row_check check (only_row)
);

create table webhook_feed (
  only_row boolean default true not null,
  seen text not null,
  mismatch_since timestamp with time zone,
  constraint webhook_feed_pkey primary key (only_row),
  constraint webhook_feed_only_row_check check (only_row)
);

create table webhook_key (
  webhook_id id not null,
  key_version integer not null,
  public_key text not null,
  signing_public_key text not null,
  ciphertext bytea not null,
  ciphertext_key_version integer not null,
  signs_from timestamp with time zone not null,
  constraint webhook_key_pkey primary key (webhook_id, key_version)
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
  changed_at timestamp with time zone default now() not null,
  sends integer default 0 not null,
  is_unsent boolean default false not null,
  livemode boolean,
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
