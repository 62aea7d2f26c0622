-- The payer starts a subscription with a payment, and need not be a customer.
alter table subscription alter column customer_id drop not null;

-- A payer who revokes the consent of their payment ends the subscription that charges follow it in. Its job looks at once.
create function wake_subscription_of_consent() returns trigger language plpgsql as $$
begin
  update subscription set wake_at = new.changed_at
  where subscription_id in (
      select subscription_id from subscription_invoice where invoice_id = split_part(new.series_id, '.', 1)
    ) and phase <> 'ended' and (wake_at is null or wake_at > new.changed_at);
  return null;
end $$;
create trigger consent_wakes_subscription after update of status on series
  for each row when (new.status = 'withdrawn' and old.status <> 'withdrawn')
  execute function wake_subscription_of_consent();

-- The merchant's own key of a subscription that has not ended. A customer has one such subscription; without a customer, a shop has.
create table subscription_key (
  party_id id not null,
  owner_id id not null,
  unique_key text collate "C" not null,
  subscription_id id not null,
  primary key (party_id, owner_id, unique_key)
);
