-- A change may end a period earlier, and start the next one with its own invoice.

-- A second row of a period, or a second period of an invoice, fails it: the job gets stuck, and nothing is charged.
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
