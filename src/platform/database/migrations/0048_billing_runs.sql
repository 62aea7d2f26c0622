-- The changes of subscriptions that are due at once, as one statement for all of them. Of two changes of one subscription the earlier is
-- written, and the other is left out like one that moved.
create function lock_subscription(of_subscription text, of_version int, waits boolean) returns boolean language plpgsql as $$
begin
  if waits then
    perform from subscription where subscription_id = of_subscription and version = of_version for no key update;
  else
    perform from subscription where subscription_id = of_subscription and version = of_version for no key update skip locked;
  end if;
  return found;
end $$;

-- A second row of a period, or a second period of an invoice, fails it: the job gets stuck, and nothing is charged.
create function change_subscriptions(changes json) returns table (asker int, version int) language plpgsql
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
    select * from change
    where "mayWait" or not exists (
      select from change as earlier
      where earlier.asker < change.asker and earlier.subscription_id = change.subscription_id
    )
  ), locked as materialized (
    select * from ready where lock_subscription(subscription_id, version, coalesce("mayWait", false))
  ), changed as (
    update subscription
    set version = subscription.version + json_array_length(events), changed_at = greatest(subscription.changed_at, happened_at),
        phase = locked.phase, state = locked.state, wake_at = locked.wake_at, attempts = 0, stuck_at = null, stuck_reason = null
    from locked where subscription.subscription_id = any (array[locked.subscription_id])
    returning locked.asker, subscription.subscription_id, subscription.version, subscription.party_id, subscription.changed_at, events
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
    select subscription_id, version - json_array_length(events) + entry.ordinal::int, 'subscription', party_id, changed_at, entry.facts
    from changed cross join lateral json_array_elements(events) with ordinality as entry (facts, ordinal)
  )
  select asker, version from changed;
end $$;

-- A payment of each has ended. What is not due yet is claimed by the node that wakes it.
create function wake_subscriptions(changes json) returns table (asker int, is_claimed boolean) language plpgsql
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
  select locked.asker, exists (select from claimed where claimed.asker = locked.asker) from locked;
end $$;
