-- No charge of the series is to collect the invoice of this attempt any more, and its failure does not count for other invoices.
alter table series_attempt add column obligation_ended_at timestamptz;

-- Subscriptions that wait for the operator or the merchant: charging is stopped, or fails by a mistake in the set-up.
create index subscription_parked on subscription (subscription_id) where (state->>'parkedFor') is not null;
create index subscription_misconfigured on subscription (subscription_id)
  where (state->'open'->0->>'declineClass') = 'configuration';
