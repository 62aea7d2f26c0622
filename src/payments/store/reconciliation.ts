// What payments and refunds expect in a bank's transaction report. Lists all operations of each payment, also those
// never sent, so that an unexpected one shows.
import type { ReconciliationSource } from '../../acquiring/reconciliation/source.store.ts';

/** The end of the ID under which the bank was asked for the money last. */
const chargeOfTerms = `case when terms ->> 'isSteppedUp' = 'true' then '.s' else '.a' end`;

/**
 * IDs follow operationIdOf. The reversal is optional if an operator recorded that the payer has the money back, or if the bank has ended the
 * hold.
 */
export const paymentEntries: ReconciliationSource = {
  table: 'payment',
  key: 'invoice_id',
  operations: `
    select invoice_id as aggregate_id, name || suffix as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id, kind, sign,
      minor as amount_minor, currency, case when suffix = '.f' then name || '.a' when kind <> 'authorise' then name || charge end as original_id,
      terms -> 'payer' -> 'card' ->> 'mask' as card_mask, certainty,
      case certainty
        when 'undone' then name || case when suffix <> charge then '.f' when is_late then '.l' when is_refused then '.u' else '.r' end
        when 'undoes' then name || case when suffix = '.f' then '.a' else charge end
      end as counterpart_id,
      'payment' as object, name as object_id, status, party_id, asked_at, known_at
    from payment
    cross join lateral (
      select invoice_id || '.' || payment_id as name, terms -> 'flow' ->> 'type' = 'instant' as is_instant,
        ${chargeOfTerms} as charge
    ) as known
    cross join lateral (
      select max(created_at) filter (where type = 'payment_processed') as approved_at,
        max(created_at) filter (where type = 'payment_failed') as failed_at,
        max(created_at) filter (where type = 'payment_capture_started') as capture_asked_at,
        max(created_at) filter (where type = 'payment_captured') as captured_at,
        max(created_at) filter (where type in ('payment_reversal_started', 'payment_cancel_started')) as reversal_asked_at,
        max(created_at) filter (where type in ('payment_failed', 'payment_cancelled')) as reversed_at,
        max(created_at) filter (where type = 'payment_reversal_refused') as refused_at,
        max(created_at) filter (where type = 'payment_approved_late') as late_at,
        max(created_at) filter (where type = 'payment_given_back') as given_back_at,
        max(created_at) filter (where type = 'payment_undo_started' and operation = 'f') as undo_at,
        max(created_at) filter (where type = 'payment_undone' and operation = 'f') as undone_at,
        coalesce(bool_or(type = 'payment_undo_started' and operation = 'f2'), false) as is_undo_repeated,
        coalesce(bool_or(type = 'payment_undo_started' and operation in ('u2', 'l2')), false) as is_way_back_repeated,
        max((amount ->> 'minor')::bigint) filter (where type = 'payment_given_back') as given_back_minor,
        max((amount ->> 'minor')::bigint) filter (where type = 'payment_capture_failed') as uncaptured_minor,
        coalesce(bool_or(type = 'payment_reversal_refused'), false) as is_refused,
        coalesce(bool_or(type = 'payment_approved_late'), false) as is_late,
        coalesce(bool_or(type = 'payment_given_back'), false) as is_given_back,
        coalesce(bool_or("settledBecause" is not null and type = 'payment_given_back'), false) as is_late_settled,
        coalesce(bool_or("settledBecause" is not null and type = 'payment_undone' and operation = 'f'), false) as is_undo_settled,
        case when bool_or("settledBecause" is not null and type in ('payment_failed', 'payment_cancelled')
          or type = 'payment_undo_started' and operation in ('u2', 'l2')) then 'may' end as settled
      from event, json_to_recordset(facts) as fact (type text, "paymentId" text, "settledBecause" text, amount json, operation text)
      where aggregate_id = invoice_id and "paymentId" = payment_id
    ) as log
    cross join lateral (
      select status in ('captured', 'refunding', 'refunded') or uncaptured_minor is not null as is_taken
    ) as outcome
    -- Whatever the payment made of the bank's report: it may have been cancelled before.
    cross join lateral (
      select not is_instant and not is_taken and exists (
        select from exchange_note
        where what = 'holdEnded' and operation_id = name || charge
          and exchange_note.bank_id = terms -> 'terminal' ->> 'bankId') as has_ended
    ) as reported
    cross join lateral (values
      (charge, 'authorise', case when is_instant then 1 else 0 end, amount_minor,
        coalesce(settled, case when status in ('authorising', 'challenged', 'reversing') then 'open' when is_late_settled then 'may'
          when status = 'failed' or status = 'cancelled' and is_refused and not is_given_back
            then case when has_ended then 'may' else 'undone' end
          else 'done' end),
        payment.created_at, coalesce(approved_at, failed_at)),
      -- The declined charge of a payment that was stepped up; without a step-up there is only one.
      (case charge when '.a' then '.s' else '.a' end, 'authorise', case when is_instant then 1 else 0 end, amount_minor,
        case when undo_at is null then 'never' when undone_at is null then 'open' when is_undo_settled or is_undo_repeated then 'may' else 'undone' end,
        undo_at, undone_at),
      ('.f', case when is_instant then 'refund' else 'reverse' end, case when is_instant then -1 else 0 end, amount_minor,
        case when undo_at is null then 'never' when undone_at is null then 'open' when is_undo_settled or is_undo_repeated then 'may' else 'undoes' end,
        undo_at, undone_at),
      ('.c', 'capture', 1, coalesce(captured_minor, uncaptured_minor, given_back_minor, amount_minor),
        case when status = 'capturing' then 'open' when is_taken and not is_instant then 'done'
          when is_given_back and not is_instant then 'may' else 'never' end,
        capture_asked_at, captured_at),
      ('.r', 'reverse', case when is_instant then -1 else 0 end, amount_minor,
        coalesce(settled, case when is_refused then 'never' when status in ('reversing', 'cancelling') then 'open'
          when has_ended then 'may' when status = 'cancelled' and not is_taken then 'done'
          when status = 'failed' then 'undoes' else 'never' end),
        case when status = 'failed' then payment.created_at else reversal_asked_at end, reversed_at),
      ('.u', 'refund', -1, coalesce(given_back_minor, amount_minor),
        coalesce(settled, case when not is_refused then 'never' when status in ('reversing', 'cancelling') then 'open'
          when not is_given_back then 'never' when status = 'failed' then 'undoes' else 'done' end),
        refused_at, given_back_at),
      ('.l', case when is_instant then 'refund' else 'reverse' end, case when is_instant then -1 else 0 end, amount_minor,
        case when not is_late then 'never' when is_late_settled or is_way_back_repeated then 'may' when is_given_back then 'undoes' else 'open' end,
        late_at, given_back_at)
    ) as operation (suffix, kind, sign, minor, certainty, asked_at, known_at)
    where invoice_id between :first and :last`,
};

/** Refunds that undid a charge, failed later, and are sent once more. */
export const repeatedUndoEntries: ReconciliationSource = {
  table: 'payment',
  key: 'invoice_id',
  operations: `
    select invoice_id as aggregate_id, name || '.' || begun.operation as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
      'refund' as kind, -1 as sign, (begun.amount ->> 'minor')::bigint as amount_minor, currency,
      name || case begun.operation when 'f2' then '.a' else ${chargeOfTerms} end as original_id,
      terms -> 'payer' -> 'card' ->> 'mask' as card_mask,
      case when ended.at is null then 'open' when ended.settled then 'may' else 'done' end as certainty, null as counterpart_id,
      'payment' as object, name as object_id, status, payment.party_id, event.created_at as asked_at, ended.at as known_at
    from payment
    cross join lateral (select invoice_id || '.' || payment_id as name) as known
    join event on event.aggregate_id = invoice_id
    cross join lateral json_to_recordset(event.facts) as begun (type text, "paymentId" text, amount json, operation text)
    cross join lateral (
      select max(later.created_at) as at, bool_or("settledBecause" is not null) as settled
      from event as later, json_to_recordset(later.facts) as fact (type text, "paymentId" text, "settledBecause" text, operation text)
      where later.aggregate_id = invoice_id and fact."paymentId" = payment_id and fact.type = 'payment_undone'
        and fact.operation = begun.operation
    ) as ended
    where begun."paymentId" = payment_id and begun.type = 'payment_undo_started' and begun.operation <> 'f'
      and invoice_id between :first and :last`,
};

export const refundEntries: ReconciliationSource = {
  table: 'refund',
  key: 'invoice_id',
  operations: `
    select invoice_id as aggregate_id, name || '.' || refund_id as operation_id, terms -> 'terminal' ->> 'bankId' as bank_id,
      'refund' as kind, -1 as sign, refund.amount_minor, refund.currency, name || ${chargeOfTerms} as original_id,
      terms -> 'payer' -> 'card' ->> 'mask' as card_mask,
      case when refund.waits_until is not null then 'never' when refund.status = 'pending' then 'open'
        when refund.status = 'failed' and not is_returned then 'never' else coalesce(settled, 'done') end as certainty,
      null as counterpart_id, 'refund' as object, name || '.' || refund_id as object_id, refund.status, refund.party_id,
      coalesce(reserved.happened_at, refund.created_at) as asked_at, ended.happened_at as known_at
    from refund
    join payment using (invoice_id, payment_id)
    cross join lateral (select invoice_id || '.' || payment_id as name) as known
    cross join lateral (
      select case when bool_or("settledBecause" is not null or type = 'refund_returned') then 'may' end as settled,
        coalesce(bool_or(type = 'refund_returned'), false) as is_returned
      from event, json_to_recordset(facts) as fact (type text, "paymentId" text, "refundId" text, "settledBecause" text)
      where aggregate_id = invoice_id and "paymentId" = payment_id and "refundId" = refund_id
    ) as log
    left join ledger_transfer as reserved on reserved.aggregate_id = invoice_id and not reserved.completes_pending
      and reserved.step = 'refund' and reserved.operation_id = 'payment/' || payment_id || '/refund/' || refund_id
    left join ledger_transfer as ended on ended.aggregate_id = invoice_id and ended.completes_pending and ended.step = 'refund'
      and ended.operation_id = 'payment/' || payment_id || '/refund/' || refund_id
    where invoice_id between :first and :last`,
};
