-- A charge that has begun leaves the lease of its subscription's job, so the end of its payment need not claim the row again.

-- A row without attempts is held by no job. A job that claims it later reads the end of the payment itself. Older nodes read
-- `is_claimed`, which here also means that the job may run without a claim.
create or replace function wake_subscriptions(changes json) returns table (asker int, is_claimed boolean) language plpgsql
set enable_seqscan = off as $$
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

-- The start of a charge changes no index of its series: with space on the page it adds no entry, and logs the difference alone.
alter table series set (fillfactor = 60);
