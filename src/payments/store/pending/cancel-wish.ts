// A merchant's wish to cancel a payment whose outcome is not known, in SQL. It is no fact of the payment: what follows from it is.
import { isUndecided } from '../../../acquiring/authorisation/domain/challenge.ts';
import type { Instant } from '../../../clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import { statement } from '../../../platform/database/statement.ts';
import { paymentColumns, rowOf, type StoredPayment } from '../rows.ts';

/** A request to the bank that is in progress keeps its claim. A payer at their bank is not waited for. */
const wantCancel = statement({
  name: 'want_cancel',
  parameters: {
    invoice_id: 'text',
    payment_id: 'text',
    version: 'int4',
    state: paymentColumns.state,
    now: 'timestamptz',
  },
  row: { version: 'int4' },
  text: `update payment set version = version + 1, state = :state,
           wake_at = case when status = 'challenged' then least(wake_at, :now) else wake_at end
         where invoice_id = :invoice_id and payment_id = :payment_id and version = :version
         returning version`,
});

/** False on a version conflict. */
export async function storeCancelWish(
  db: Database,
  { payment, version }: StoredPayment,
  cancelReason: string,
  now: Instant,
): Promise<boolean> {
  const { state } = payment;
  if (!isUndecided(state)) throw new Error(`A payment in state ${state.name} has an outcome.`);
  const { state: wanted } = rowOf({ ...payment, state: { ...state, cancelReason } }, version);
  const { invoiceId: invoice_id, id: payment_id } = payment;
  return (await db.run(wantCancel, { invoice_id, payment_id, version, state: wanted, now })).length > 0;
}
