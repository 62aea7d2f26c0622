-- Subscriptions whose charge lets another one of the series end first. The next change of the series wakes their jobs, which look again.
alter table series add column awaited_by id[];

-- A row that another transaction holds is not waited for: that one makes it due itself, or is its job and reads this change. None is
-- locked that is not changed: an ended subscription, or one that is due already.
create function wake_awaiting_subscriptions() returns trigger language plpgsql as $$
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
create trigger series_wakes_awaiting before update of version on series
  for each row when (old.awaited_by is not null) execute function wake_awaiting_subscriptions();
