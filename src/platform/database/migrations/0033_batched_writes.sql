-- Hot writes of many callers in one statement. Each function takes a list of changes, writes those that hold, one after the other, and
-- returns the member `asker` of each. A change that does not hold, or whose rows another transaction has locked, is left out with all that
-- belongs to it. Only a change that is sent with "mayWait" waits for locks; it is alone.

-- Journals of transfers that are not pending. Returns false and writes nothing if any of them is unusual: post_journal takes those. All of
-- them use one shard of each account, and the balances are changed in the order in which every journal locks them.
create function post_singles(aggregates text[], operations text[], times timestamptz[], journals json[])
returns boolean language plpgsql as $$
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

-- Journals of one statement. A journal that is unusual locks its balances in an order of its own, so it needs the statement for itself: with
-- others it fails it.
create function record_journals(aggregates text[], operations text[], times timestamptz[], journals json[])
returns text language plpgsql as $$
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

create or replace function record_journal(for_aggregate text, for_operation text, happened timestamptz, entries json)
returns text language plpgsql as $$
begin
  if entries is null then return null; end if;
  return record_journals(array[for_aggregate], array[for_operation], array[happened], array[entries]);
end $$;

drop function post_single;

-- Locks all rows that an approved charge changes. False if one of them has changed since it was read, or the attempt has ended; also if
-- another transaction has locked one, unless the caller waits.
create function lock_approved_charge(of_series text, of_series_version int, of_invoice text, of_payment text, of_version int, waits boolean)
returns boolean language plpgsql as $$
begin
  if waits then
    perform from series
    join series_attempt as attempt using (series_id)
    join payment using (invoice_id, payment_id)
    join invoice using (invoice_id)
    where series.series_id = of_series and series.version = of_series_version and attempt.invoice_id = of_invoice
      and attempt.payment_id = of_payment and attempt.outcome in ('pending', 'unsent', 'lost') and payment.version = of_version
    for no key update;
  else
    perform from series
    join series_attempt as attempt using (series_id)
    join payment using (invoice_id, payment_id)
    join invoice using (invoice_id)
    where series.series_id = of_series and series.version = of_series_version and attempt.invoice_id = of_invoice
      and attempt.payment_id = of_payment and attempt.outcome in ('pending', 'unsent', 'lost') and payment.version = of_version
    for no key update skip locked;
  end if;
  return found;
end $$;

-- Writes charges that their banks have approved, each with its series and its receipt. An ended charge does not end again. A charge that
-- was given up is approved after all if its bank refuses every way back.
create function approve_charges(changes json) returns table (asker int, is_posted boolean) language plpgsql as $$
declare
  may_wait constant boolean := (changes -> 0 ->> 'mayWait')::boolean;
  change record;
  changed record;
  aggregates text[] := '{}';
  operations text[] := '{}';
  times timestamptz[] := '{}';
  journals json[] := '{}';
begin
  for change in
    select * from json_to_recordset(changes) as one (asker int, invoice_id text, payment_id text, version int, status text,
      captured_minor bigint, refunded_minor bigint, state json, wake_at timestamptz, attempts int, invoice_paid boolean,
      in_progress boolean, events json, happened_at timestamptz, exchanges json, journal_operation text, journal_entries json,
      series_id text, series_version int, series_status text, series_chain text, series_state json, series_changed_at timestamptz,
      series_wake_at timestamptz, series_facts json, attempt_is_captured boolean, attempt_held_until timestamptz,
      attempt_network text, attempt_code text, attempt_advice text, attempt_effect text, attempt_rule text, attempt_pack text, attempt_class text, email_recipient text, email_paid_at timestamptz, email_amount_minor bigint, email_currency text, email_reference text,
      email_approval_code text, email_content json, email_claimed_until timestamptz)
    order by series_id collate "C", one.asker
  loop
    -- The journal of a hold needs a statement of its own.
    continue when not may_wait
      and exists (select from json_array_elements(change.journal_entries) as entry where entry ->> 'phase' <> 'single');
    continue when not lock_approved_charge(change.series_id, change.series_version, change.invoice_id, change.payment_id,
      change.version, may_wait);

    update series
    set version = series.version + 1, status = change.series_status, chain = change.series_chain, state = change.series_state,
        changed_at = change.series_changed_at, wake_at = change.series_wake_at, attempts = 0, stuck_at = null, stuck_reason = null
    where series_id = change.series_id
    returning party_id, append_event('series', series_id, series.version, party_id, changed_at, change.series_facts)
    into changed;

    update series_attempt
    set outcome = 'approved', ended_at = change.series_changed_at,
        captured_at = case when change.attempt_is_captured then change.series_changed_at end, held_until = change.attempt_held_until,
        network = change.attempt_network, code = change.attempt_code, advice = change.attempt_advice, effect = change.attempt_effect, rule = change.attempt_rule,
        pack = change.attempt_pack, decline_class = change.attempt_class
    where series_id = change.series_id and invoice_id = change.invoice_id and payment_id = change.payment_id;

    insert into payer_email (invoice_id, payment_id, party_id, series_id, status, created_at, recipient, paid_at, amount_minor, currency,
      reference, approval_code, content, wake_at, attempts)
    select change.invoice_id, change.payment_id, changed.party_id, change.series_id, 'waiting', change.happened_at,
      change.email_recipient, change.email_paid_at, change.email_amount_minor, change.email_currency, change.email_reference,
      change.email_approval_code, change.email_content, change.email_claimed_until, 1
    where change.email_recipient is not null
    on conflict do nothing;
    is_posted := found;

    update payment
    set version = payment.version + 1, status = change.status, captured_minor = change.captured_minor,
        refunded_minor = change.refunded_minor, state = change.state, wake_at = change.wake_at, attempts = change.attempts,
        stuck_at = null, stuck_reason = null
    where invoice_id = change.invoice_id and payment_id = change.payment_id;

    update invoice
    set version = invoice.version + json_array_length(change.events),
        changed_at = greatest(invoice.changed_at, change.happened_at),
        status = case when change.invoice_paid then 'paid' else invoice.status end, payment_in_progress = change.in_progress,
        wake_at = case when change.in_progress or change.invoice_paid or invoice.status <> 'unpaid' then null else due_date end
    where invoice_id = change.invoice_id
    returning changed_at, append_events('invoice', invoice_id, invoice.version, party_id, changed_at, change.events)
    into changed;

    perform record_exchanges(change.exchanges);
    if change.journal_entries is not null then
      aggregates := aggregates || change.invoice_id;
      operations := operations || change.journal_operation;
      times := times || changed.changed_at;
      journals := journals || change.journal_entries;
    end if;
    asker := change.asker;
    return next;
  end loop;
  -- Last, because the balances of busy accounts stay locked until the end.
  perform record_journals(aggregates, operations, times, journals);
end $$;

-- Locks the rows that a new charge changes, as above.
create function lock_new_charge(of_series text, of_series_version int, of_card_stops int, of_invoice text, of_invoice_version int, waits boolean)
returns boolean language plpgsql as $$
begin
  if waits then
    perform from series, invoice
    where series_id = of_series and series.version = of_series_version and card_stops = of_card_stops
      and invoice_id = of_invoice and invoice.version = of_invoice_version
    for no key update;
  else
    perform from series, invoice
    where series_id = of_series and series.version = of_series_version and card_stops = of_card_stops
      and invoice_id = of_invoice and invoice.version = of_invoice_version
    for no key update skip locked;
  end if;
  return found;
end $$;

-- Writes charges that are about to be sent, each with its invoice and series. A taken external ID fails a change that may wait.
create function start_charges(changes json) returns table (asker int) language plpgsql as $$
declare
  may_wait constant boolean := (changes -> 0 ->> 'mayWait')::boolean;
  change record;
  changed record;
begin
  for change in
    select * from json_to_recordset(changes) as one (asker int, invoice_id text, payment_id text, party_id text, shop_id text, version int,
      status text, created_at timestamptz, amount_minor bigint, currency text, captured_minor bigint, refunded_minor bigint, terms json,
      state json, external_id text, invoice_version int, fingerprint bytea, wake_at timestamptz, attempts int, happened_at timestamptz,
      facts json, exchanges json, series_id text, series_version int, series_status text, series_chain text, series_state json,
      series_changed_at timestamptz, series_wake_at timestamptz, series_facts json, series_card_stops int, is_retry boolean, packs text)
    order by series_id collate "C", one.asker
  loop
    continue when not lock_new_charge(change.series_id, change.series_version, change.series_card_stops, change.invoice_id,
      change.invoice_version, may_wait);
    if change.external_id is not null then
      continue when not may_wait and exists (
        select from external_id as claim
        where claim.party_id = change.party_id and operation = 'createPayment' and claim.external_id = change.external_id
      );
      insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
      values (change.party_id, 'createPayment', change.external_id, change.invoice_id || '.' || change.payment_id, change.fingerprint);
    end if;

    update series
    set version = series.version + 1, status = change.series_status, chain = change.series_chain, state = change.series_state,
        changed_at = change.series_changed_at, wake_at = change.series_wake_at, attempts = 0, stuck_at = null, stuck_reason = null
    where series_id = change.series_id;
    perform append_event('series', change.series_id, change.series_version + 1, change.party_id, change.series_changed_at,
      change.series_facts);

    insert into series_attempt (series_id, invoice_id, payment_id, created_at, amount_minor, currency, is_retry, packs, outcome)
    values (change.series_id, change.invoice_id, change.payment_id, change.series_changed_at, change.amount_minor, change.currency,
      change.is_retry, change.packs, 'pending');

    insert into payment (invoice_id, payment_id, party_id, shop_id, version, status, created_at, amount_minor, currency, captured_minor,
      refunded_minor, terms, state, external_id, wake_at, attempts)
    values (change.invoice_id, change.payment_id, change.party_id, change.shop_id, change.version, change.status, change.created_at,
      change.amount_minor, change.currency, change.captured_minor, change.refunded_minor, change.terms, change.state,
      change.external_id, change.wake_at, change.attempts);

    update invoice
    set version = invoice.version + 1, changed_at = greatest(invoice.changed_at, change.happened_at),
        payments_made = payments_made + 1, payment_in_progress = true, wake_at = null
    where invoice_id = change.invoice_id
    returning append_event('invoice', invoice_id, invoice.version, party_id, changed_at, change.facts)
    into changed;

    perform record_exchanges(change.exchanges);
    asker := change.asker;
    return next;
  end loop;
end $$;

-- Ends emails that were sent, kept or refused. An email that has ended stays as it is.
create function end_payer_emails(changes json) returns table (asker int) language plpgsql as $$
declare
  may_wait constant boolean := (changes -> 0 ->> 'mayWait')::boolean;
  change record;
begin
  for change in
    select * from json_to_recordset(changes) as one (asker int, invoice_id text, payment_id text, status text, now timestamptz, subject text,
      text_body text, html_body text, refusal text)
    order by invoice_id collate "C", payment_id collate "C"
  loop
    if not may_wait then
      perform from payer_email
      where invoice_id = change.invoice_id and payment_id = change.payment_id and status = 'waiting' for no key update skip locked;
      continue when not found;
    end if;
    update payer_email
    set status = change.status, ended_at = change.now, subject = change.subject, text_body = change.text_body,
        html_body = change.html_body, refusal = change.refusal, wake_at = null, attempts = 0, stuck_at = null, stuck_reason = null
    where invoice_id = change.invoice_id and payment_id = change.payment_id and status = 'waiting';
    continue when not found;
    asker := change.asker;
    return next;
  end loop;
end $$;
