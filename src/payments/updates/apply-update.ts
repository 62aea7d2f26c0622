// Writes what a bank tells about a payment after its outcome was final. Run it in the transaction that takes the update from the
// bank's list.
import type { OperationUpdate, UpdateOutcome } from '../../acquiring/domain/bank-updates.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/log.ts';
import { paymentOfOperation, type PaymentFact } from '../domain/payment.ts';
import { storeUndoStart } from '../store/charge-undos.ts';
import { readPaymentFacts } from '../store/invoice-log.ts';
import { ShopLacksMoney, storeEvents } from '../store/payment-changes.ts';
import { loadPayment, reschedule } from '../store/payments.ts';
import type { StoredPayment } from '../store/rows.ts';
import { factsOf, type UpdateMeaning } from './facts-of-update.ts';

type Deps = { readonly db: Database; readonly log: Pick<Logger, 'error'> };

/** The payment's next job follows at once: `applied` may have made it due. */
export async function applyUpdate(
  { db, log }: Deps,
  update: OperationUpdate,
  now: Instant,
): Promise<UpdateOutcome> {
  const { operationId, what } = update;
  const { stored, meaning } = await interpret(db, update);
  if ('fact' in meaning && stored) {
    const { fact } = meaning;
    if (fact.type === 'payment_undo_started') {
      await storeUndoStart(db, stored.payment, fact, now);
      return { outcome: 'applied' };
    }
    const isAside = await store(db, stored, fact, now);
    if (isAside) log.error({ operationId, what }, 'capture failed, and the shop lacks the money');
    return { outcome: 'applied' };
  }
  if ('fact' in meaning) throw new Error(`The update of ${operationId} has a meaning without its payment.`);
  if (meaning.outcome === 'contradiction')
    log.error({ operationId, what, why: meaning.why }, 'bank update contradicts the stored result');
  if (meaning.outcome === 'tooEarly' && stored) await reschedule(db, stored, now);
  return meaning;
}

/** Whether the charge is known to be approved late, so that it goes back or has gone. */
export async function isKnownLate(db: Database, operationId: string, at: Instant): Promise<boolean> {
  const { meaning } = await interpret(db, { operationId, what: 'approvedLate', at });
  return 'isUndone' in meaning;
}

async function interpret(
  db: Database,
  update: OperationUpdate,
): Promise<{ readonly stored: StoredPayment | undefined; readonly meaning: UpdateMeaning }> {
  const [invoiceId, paymentId] = paymentOfOperation(update.operationId) ?? [];
  const stored = invoiceId && paymentId ? await loadPayment(db, { invoiceId, paymentId }) : undefined;
  const meaning: UpdateMeaning = stored
    ? factsOf(update, stored.payment, await readPaymentFacts(db, stored.payment))
    : { outcome: 'contradiction', why: 'there is no such operation' };
  return { stored, meaning };
}

/** True if the shop lacks the money of a capture that failed. */
async function store(db: Database, stored: StoredPayment, fact: PaymentFact, now: Instant): Promise<boolean> {
  // With a second write, the statement gets a savepoint: opening an account or a short balance must not end the transaction.
  const write = (one: PaymentFact) => storeEvents(db, stored, [[one]], now, { alsoWrite: async () => {} });
  try {
    if (!(await write(fact))) throw conflict(stored);
    return false;
  } catch (error) {
    if (!(error instanceof ShopLacksMoney) || fact.type !== 'payment_capture_failed') throw error;
  }
  if (!(await write({ ...fact, isAside: true }))) throw conflict(stored);
  return true;
}

/** The update is taken again. */
function conflict({ payment }: StoredPayment): Error {
  return new Error(`Payment ${payment.invoiceId}/${payment.id} was changed meanwhile.`);
}
