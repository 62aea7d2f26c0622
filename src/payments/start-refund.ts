// Starts a refund, for a merchant and for an operator alike. Both are bound by what is left, and by the shop's money.
import type { Banks } from '../acquiring/banks.ts';
import { latest, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import { accept, refuse } from '../refusal.ts';
import type { Shop } from '../merchants/domain/party.ts';
import type { PaymentRef } from '../recurring/domain/series.ts';
import { followUpOf } from './domain/bank-operations.ts';
import { awaitingFunds, decideRefund, type Refund, type StartRefund } from './domain/refund.ts';
import { storeRefundStart } from './store/payment-changes.ts';
import { findPayments, loadDatedPayment, type DatedPayment } from './store/payments.ts';
import { findRefunds } from './store/refunds.ts';
import { firstWaitingRefund } from './store/waiting-refunds.ts';

/** `fingerprint`: of a request that names an external ID. The bank is sent the refund afterwards. */
export async function startRefund(
  { db, banks }: { readonly db: Database; readonly banks: Pick<Banks, 'takes'> },
  stored: DatedPayment,
  command: StartRefund,
  { whenShort }: Pick<Shop, 'whenShort'>,
  now: Instant,
  fingerprint: Buffer | null,
) {
  const decision = decideRefund(stored.payment, command, latest(now, stored.changedAt));
  if (!decision.ok) return decision;
  const { id, amount } = decision.value.refund;
  const taken = await banks.takes(followUpOf(stored.payment, { do: 'refund', id, amount }));
  if (!taken.ok) return taken;
  const store = async (started: typeof decision.value) => {
    const written = await storeRefundStart(db, stored, started, fingerprint, now);
    return written === 'stored' ? accept(started.refund) : written;
  };
  const mayWait = whenShort === 'wait';
  // Refunds of a shop are paid in the order of their requests, so one that could be paid waits behind the others.
  const isQueued = mayWait && (await firstWaitingRefund(db, stored.payment)) !== undefined;
  const written = isQueued ? 'insufficient' : await store(decision.value);
  if (written !== 'insufficient') return written;
  if (!mayWait) return refuse('insufficentAccountBalance');
  const waiting = await store(awaitingFunds(decision.value));
  if (waiting === 'insufficient') throw new Error('A refund that waits for money reserved some.');
  return waiting;
}

/** The payment that has taken the money of an invoice. Undefined if none has, or if all is refunded. */
export async function refundableOf(
  db: Database,
  invoice: { readonly partyId: string; readonly invoiceId: string },
) {
  for (const { payment } of (await findPayments(db, invoice)) ?? []) {
    const { invoiceId, id: paymentId, state } = payment;
    if (state.name !== 'captured' && state.name !== 'refunding') continue;
    const leftMinor = state.amount.minor - state.refundedMinor;
    return { invoiceId, paymentId, leftMinor, isRefunding: state.name === 'refunding' };
  }
  return undefined;
}

/** How a refund stands. `failedFor` is the innermost code of its error. */
export async function standingOfRefund(
  db: Database,
  name: PaymentRef & { readonly refundId: string },
): Promise<{ readonly status: Refund['status']; readonly failedFor?: string }> {
  const [refund] = await findRefunds(db, name);
  if (!refund) throw new Error(`Refund ${name.refundId} of invoice ${name.invoiceId} is not found.`);
  const { status } = refund;
  return status === 'failed' ? { status, ...defined({ failedFor: refund.failure.at(-1) }) } : { status };
}

/** Within a transaction. A second one that starts meanwhile is a version conflict. */
export async function startRefundOf(
  deps: Parameters<typeof startRefund>[0],
  {
    invoiceId,
    paymentId,
    amountMinor,
    reason,
  }: PaymentRef & Required<Pick<StartRefund, 'amountMinor' | 'reason'>>,
  shop: Pick<Shop, 'whenShort'>,
  now: Instant,
) {
  const stored = await loadDatedPayment(deps.db, { invoiceId, paymentId });
  if (!stored) throw new Error(`Payment ${invoiceId}/${paymentId} to refund is not found.`);
  return startRefund(deps, stored, { amountMinor, reason }, shop, now, null);
}
