-- Payouts that were pending when counters of identities and cards began: their share was copied into those, and is given back if
-- they fail. The counters never had what old nodes created later.
update withdrawal set terms = (
  select json_object_agg(key, value)
  from (
    select key, value from json_each(withdrawal.terms)
    union all
    select 'countedFor', to_json(array_remove(
      array['identity:' || withdrawal.identity_id, 'card:' || encode(card.fingerprint, 'hex')], null))
  ) as member
)
from migration as counting, destination
left join card on card.card_id = split_part(destination.card_token, '.', 2) and card.fingerprint_key_version = 1
where destination.destination_id = withdrawal.destination_id and counting.name = '0008_payouts.sql'
  and withdrawal.status = 'sending' and withdrawal.terms ->> 'isCounted' = 'true' and withdrawal.terms -> 'countedFor' is null
  and withdrawal.created_at < counting.applied_at
  and withdrawal.created_at >= date_trunc('month', counting.applied_at at time zone 'UTC' - interval '2 days') at time zone 'UTC';
