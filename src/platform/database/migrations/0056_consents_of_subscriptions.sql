-- A payer who consents again may have given what a charge of their subscription waits for. Its job looks at once.
create function wake_subscriptions_of_new_consent() returns trigger language plpgsql as $$
begin
  update subscription set wake_at = new.changed_at
  where subscription_id in (
      select subscription_id from subscription_invoice where invoice_id = split_part(new.series_id, '.', 1)
      union all
      select subscription_id from subscription where customer_id = new.terms->'root'->>'invoiceId'
    ) and phase <> 'ended' and (wake_at is null or wake_at > new.changed_at);
  return null;
end $$;
create trigger new_consent_wakes_subscriptions after update of terms on series
  for each row when (old.terms->>'consentedAt' is distinct from new.terms->>'consentedAt')
  execute function wake_subscriptions_of_new_consent();
