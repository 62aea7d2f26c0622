// What withdrawals should have in a bank's transaction report.
import type { ReconciliationSource } from '../../acquiring/reconciliation/source.store.ts';

/**
 * `known_at` is when the ledger posted or voided the payout. Not every bank reports returned payouts, so their lines may be
 * missing.
 */
export const payoutEntries: ReconciliationSource = {
  table: 'withdrawal',
  key: 'withdrawal_id',
  operations: `
    select withdrawal_id as aggregate_id, withdrawal_id || '.p' as operation_id, terms -> 'route' ->> 'bankId' as bank_id,
      'payout' as kind, -1 as sign, amount_minor, withdrawal.currency, null as original_id, card ->> 'mask' as card_mask,
      case withdrawal.status when 'sending' then 'open' when 'succeeded' then 'done' else 'never' end as certainty,
      null as counterpart_id, 'withdrawal' as object, withdrawal_id as object_id, withdrawal.status, withdrawal.party_id,
      withdrawal.created_at as asked_at, ended.happened_at as known_at
    from withdrawal
    left join destination using (destination_id)
    left join ledger_transfer as ended on ended.aggregate_id = withdrawal_id and ended.operation_id = 'withdrawal'
      and ended.step = 'payout' and ended.completes_pending
    where withdrawal_id between :first and :last
    union all
    select withdrawal_id, withdrawal_id || '.p.returned', terms -> 'route' ->> 'bankId', 'return', 1,
      (result -> 'returned' -> 'amount' ->> 'minor')::int8, withdrawal.currency, withdrawal_id || '.p', card ->> 'mask',
      'may', null, 'withdrawal', withdrawal_id, withdrawal.status, withdrawal.party_id, withdrawal.created_at,
      (result -> 'returned' ->> 'at')::timestamptz
    from withdrawal
    left join destination using (destination_id)
    where withdrawal_id between :first and :last and result -> 'returned' is not null`,
};
