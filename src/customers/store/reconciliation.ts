// What verification charges should have in a bank's transaction report.
import type { ReconciliationSource } from '../../acquiring/reconciliation/source.store.ts';

/**
 * The log, read once for all bindings of a page, says whether a charge was reversed or refunded. A binding that an operator has
 * resolved may be refunded at the bank or not.
 */
export const bindingEntries: ReconciliationSource = {
  table: 'binding',
  key: 'customer_id',
  operations: `
    select customer_id as aggregate_id, name || '.' || suffix as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
      kind, sign, amount_minor, currency, case when kind <> 'authorise' then name || '.charge' end as original_id,
      terms -> 'card' -> 'details' ->> 'mask' as card_mask, certainty,
      case certainty when 'undone' then name || '.reverse' when 'undoes' then name || '.charge' end as counterpart_id,
      'binding' as object, name as object_id, status, party_id, asked_at, known_at
    from binding
    left join (
      select aggregate_id, "bindingId",
        max(created_at) filter (where type = 'binding_charged') as charged_at,
        max(created_at) filter (where type = 'binding_reversal_started') as reversal_asked_at,
        max(created_at) filter (where type = 'binding_refund_started') as refund_asked_at,
        max(created_at) filter (where type in ('binding_succeeded', 'binding_failed')) as ended_at,
        bool_or(type = 'binding_failed' and reason is not null) as is_closed
      from event, json_to_recordset(facts) as fact (type text, "bindingId" text, reason text)
      where aggregate = 'customer' and aggregate_id between :first and :last
      group by aggregate_id, "bindingId"
    ) as log on log.aggregate_id = customer_id and log."bindingId" = binding_id
    cross join lateral (
      select customer_id || '.' || binding_id as name, case when is_closed then 'may' end as closed,
        refund_asked_at is not null as is_refunded
    ) as known
    cross join lateral (values
      ('charge', 'authorise', 1,
        coalesce(closed, case when status in ('authorising', 'challenged', 'reversing') then 'open'
          when charged_at is null then 'undone' else 'done' end),
        created_at, coalesce(charged_at, ended_at)),
      ('reverse', 'reverse', -1,
        coalesce(closed, case when is_refunded or status in ('authorising', 'challenged') then 'never'
          when status in ('reversing', 'returning') then 'open' when charged_at is null then 'undoes' else 'done' end),
        case when charged_at is null then created_at else coalesce(reversal_asked_at, charged_at) end, ended_at),
      ('refund', 'refund', -1,
        coalesce(closed, case when not is_refunded then 'never' when status = 'refunding' then 'open' else 'done' end),
        refund_asked_at, ended_at)
    ) as operation (suffix, kind, sign, certainty, asked_at, known_at)
    where customer_id between :first and :last`,
};
