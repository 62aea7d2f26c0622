// The job of a charge that is undone although it does not decide its payment. It is sent as other refunds are: again while the bank
// remembers it, and later only queried.
import { referencesOf } from '../../acquiring/authorisation/domain/approval.ts';
import { notFinal } from '../../acquiring/authorisation/domain/authorisation.ts';
import type { Bank } from '../../acquiring/domain/bank-port.ts';
import { hearAfterEnd } from '../../acquiring/exchange-log/hear-late-answer.ts';
import { sendOrInquire, unproved } from '../../acquiring/send-or-inquire.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Job } from '../../platform/jobs/job-table.ts';
import type { Logger } from '../../platform/log.ts';
import { undoOf } from '../domain/bank-operations.ts';
import type { Payment, UndoName } from '../domain/payment.ts';
import { findChargeUndo, rescheduleUndo, storeUndoEnd, storeUndoRefusal } from '../store/charge-undos.ts';
import { loadPayment } from '../store/payments.ts';

export type UndoJobDeps = {
  readonly db: Database;
  readonly log: Pick<Logger, 'error'>;
  readonly bankOf: (payment: Payment) => Promise<Bank>;
};

export async function runUndoJob(
  { db, log, bankOf }: UndoJobDeps,
  { key: [invoiceId = '', paymentId = '', name], clock, attempt }: Job,
): Promise<void> {
  const operation = name as UndoName;
  const payment = (await loadPayment(db, { invoiceId, paymentId }))?.payment;
  const undo = payment && (await findChargeUndo(db, payment, operation));
  if (!payment || !undo) return;
  const bank = await bankOf(payment);
  const message = undoOf(payment, undo);
  const answer = await sendOrInquire({ db, bank, operation: message, attempt, clock });
  const at = clock.now();
  if (answer.outcome === 'approved') {
    const { rrn, arn } = referencesOf(answer);
    const { amount } = undo;
    const fact = { type: 'payment_undone', operation, ...defined({ amount, rrn, arn }) } as const;
    const isWritten = await storeUndoEnd(db, payment, undo, fact, at, answer);
    // An operator may have given the money back as well.
    if (!isWritten) await hearAfterEnd({ db, clock, log }, message.operationId, answer);
    return;
  }
  if (answer.outcome === 'declined' && !undo.isRefused) {
    const fact = { type: 'payment_undo_refused', operation, code: answer.code } as const;
    return storeUndoRefusal(db, payment, undo, fact, at, answer);
  }
  const meaning = notFinal(answer, at);
  if ('unknown' in meaning) throw unproved(meaning.unknown, answer);
  await rescheduleUndo(db, payment, undo, meaning.again);
}
