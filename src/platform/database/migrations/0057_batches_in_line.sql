-- The changes of many charges and subscriptions as before, with less work for each. The earlier change of a row is found by a hash
-- instead of by pairs, and rows are locked within the statement instead of by a call for each change.
create or replace function start_charges(changes json) returns table (asker int) language plpgsql
set enable_seqscan = off as $$
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

create or replace function approve_charges(changes json) returns table (asker int, is_posted boolean) language plpgsql
set enable_seqscan = off as $$
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

create or replace function change_subscriptions(changes json) returns table (asker int, version int) language plpgsql
set enable_seqscan = off as $$
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
      "creditMinor" bigint, outcome text, "invoiceId" text)
  ), ended as materialized (
    select subscription_id, period.*
    from locked cross join lateral json_to_recordset(ended_periods) as period (number int, outcome text, "invoiceId" text)
  ), period_created as (
    insert into subscription_period (subscription_id, number, kind, starts_on, ends_on, starts_at, ends_at, due_at, lines,
      amount_minor, credit_minor, outcome, invoice_id)
    select subscription_id, number, kind, "startsOn", "endsOn", "startsAt", "endsAt", "dueAt", lines, "amountMinor",
      "creditMinor", outcome, "invoiceId"
    from created
  ), period_ended as (
    update subscription_period as period
    set outcome = ended.outcome, invoice_id = coalesce(ended."invoiceId", period.invoice_id)
    from ended where period.subscription_id = any (array[ended.subscription_id]) and period.number = ended.number
  ), invoiced as (
    insert into subscription_invoice (invoice_id, subscription_id, number)
    select "invoiceId", subscription_id, number from created where "invoiceId" is not null
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

create or replace function end_payer_emails(changes json) returns table (asker int) language plpgsql
set enable_seqscan = off as $$
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

create or replace function wake_subscriptions(changes json) returns table (asker int, is_claimed boolean) language plpgsql
set enable_seqscan = off as $$
#variable_conflict use_column
begin
  return query
  with change as materialized (
    select * from json_to_recordset(changes) as one (asker int, "mayWait" boolean, subscription_id text, at timestamptz,
      leased_until timestamptz)
    order by subscription_id collate "C"
  ), locked as materialized (
    select change.*, found.wake_at from change cross join lateral (
      select wake_at from subscription where subscription_id = change.subscription_id for no key update skip locked
    ) as found
    where not coalesce("mayWait", false)
    union all
    select change.*, found.wake_at from change cross join lateral (
      select wake_at from subscription where subscription_id = change.subscription_id for no key update
    ) as found
    where "mayWait"
  ), claimed as (
    update subscription set wake_at = locked.leased_until, attempts = 1
    from locked where subscription.subscription_id = any (array[locked.subscription_id]) and locked.wake_at > locked.at
    returning locked.asker
  )
  select asker, asker in (select asker from claimed) from locked;
end $$;

drop function lock_new_charge(text, int, int, text, int, boolean);
drop function lock_approved_charge(text, int, text, text, int, boolean);
drop function lock_subscription(text, int, boolean);
