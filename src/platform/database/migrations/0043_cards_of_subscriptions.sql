-- Another active card, or none, changes what a subscription of the customer does next. Its job looks at once, also at one that waits
-- for nothing.
create function wake_subscriptions_of_customer() returns trigger language plpgsql as $$
begin
  update subscription set wake_at = new.changed_at
  where customer_id = new.customer_id and phase <> 'ended' and (wake_at is null or wake_at > new.changed_at);
  return null;
end $$;
create trigger customer_wakes_subscriptions after update of active_binding_id, status on customer
  for each row when (old.active_binding_id is distinct from new.active_binding_id or old.status <> new.status)
  execute function wake_subscriptions_of_customer();
