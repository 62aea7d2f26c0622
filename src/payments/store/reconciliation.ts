// What payments and refunds expect in a bank's transaction report. Lists all three operations of each payment, also those
// never sent, so that an unexpected one shows.
import type { ReconciliationSource } from '../../acquiring/reconciliation/domain/reconciliation-source.ts';

/**
 * IDs follow operationIdOf. If an operator recorded that the payer has the money back, the reversal is optional; that
 * nothing was charged must be in the report.
 */
export const paymentEntries: ReconciliationSource = {
  table: 'payment',
  key: 'invoice_id',
  operations: `
    select invoice_id as aggregate_id, name || suffix as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id, kind, sign,
      minor as amount_minor, currency, case when kind <> 'authorise' then name || '.a' end as original_id,
      terms -> 'payer' -> 'card' ->> 'mask' as card_mask, certainty,
      case certainty when 'undone' then name || '.r' when 'undoes' then name || '.a' end as counterpart_id,
      'payment' as object, name as object_id, status, party_id, asked_at, known_at
    from payment
    cross join lateral (
      select invoice_id || '.' || payment_id as name, terms -> 'flow' ->> 'type' = 'instant' as is_instant,
        status in ('captured', 'refunding', 'refunded') as is_taken
    ) as known
    cross join lateral (
      select max(created_at) filter (where type = 'payment_processed') as approved_at,
        max(created_at) filter (where type = 'payment_failed') as failed_at,
        max(created_at) filter (where type = 'payment_capture_started') as capture_asked_at,
        max(created_at) filter (where type = 'payment_captured') as captured_at,
        max(created_at) filter (where type in ('payment_reversal_started', 'payment_cancel_started')) as reversal_asked_at,
        max(created_at) filter (where type in ('payment_failed', 'payment_cancelled')) as reversed_at,
        case when bool_or("settledBecause" is not null and type in ('payment_failed', 'payment_cancelled')) then 'may' end
          as settled
      from event, json_to_recordset(facts) as fact (type text, "paymentId" text, "settledBecause" text)
      where aggregate_id = invoice_id and "paymentId" = payment_id
    ) as log
    cross join lateral (values
      ('.a', 'authorise', case when is_instant then 1 else 0 end, amount_minor,
        coalesce(settled, case when status in ('authorising', 'challenged', 'reversing') then 'open'
          when status = 'failed' then 'undone' else 'done' end),
        payment.created_at, coalesce(approved_at, failed_at)),
      ('.c', 'capture', 1, coalesce(captured_minor, amount_minor),
        case when status = 'capturing' then 'open' when is_taken and not is_instant then 'done' else 'never' end,
        capture_asked_at, captured_at),
      ('.r', 'reverse', case when is_instant then -1 else 0 end, amount_minor,
        coalesce(settled, case when status in ('reversing', 'cancelling') then 'open' when status = 'cancelled' then 'done'
          when status = 'failed' then 'undoes' else 'never' end),
        case when status = 'failed' then payment.created_at else reversal_asked_at end, reversed_at)
    ) as operation (suffix, kind, sign, minor, certainty, asked_at, known_at)
    where invoice_id between :first and :last`,
};

export const refundEntries: ReconciliationSource = {
  table: 'refund',
  key: 'invoice_id',
  operations: `
    select invoice_id as aggregate_id, name || '.' || refund_id as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
      'refund' as kind, -1 as sign, refund.amount_minor, refund.currency, name || '.a' as original_id,
      terms -> 'payer' -> 'card' ->> 'mask' as card_mask,
      case refund.status when 'pending' then 'open' when 'failed' then 'never' else coalesce(settled, 'done') end as certainty,
      null as counterpart_id, 'refund' as object, name || '.' || refund_id as object_id, refund.status, refund.party_id,
      refund.created_at as asked_at, ended.happened_at as known_at
    from refund
    join payment using (invoice_id, payment_id)
    cross join lateral (select invoice_id || '.' || payment_id as name) as known
    cross join lateral (
      select case when bool_or("settledBecause" is not null) then 'may' end as settled
      from event, json_to_recordset(facts) as fact (type text, "paymentId" text, "refundId" text, "settledBecause" text)
      where aggregate_id = invoice_id and "paymentId" = payment_id and "refundId" = refund_id
    ) as log
    left join ledger_transfer as ended on ended.aggregate_id = invoice_id and ended.completes_pending and ended.step = 'refund'
      and ended.operation_id = 'payment/' || payment_id || '/refund/' || refund_id
    where invoice_id between :first and :last`,
};
