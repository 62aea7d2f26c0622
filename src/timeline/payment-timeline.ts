// Puts the timeline of a payment together: each source is read once, and each of its rows becomes a line.
import type { Instant } from '../clock.ts';
import type { Payment } from '../payments/domain/payment.ts';
import type { Database } from '../platform/database/database.ts';
import { inOrder, type TimelineItem } from './domain/item.ts';
import { bankLines } from './lines/bank-lines.ts';
import { paymentLines } from './lines/payment-lines.ts';
import { emailLines, ledgerLines, webhookLines } from './lines/record-lines.ts';
import { nextAttemptLines, ruleLines } from './lines/rule-lines.ts';
import type { TimelineSources } from './port.ts';

/** The lines, and the rows behind them that an operator sees in full. */
export async function readPaymentTimeline(
  sources: TimelineSources,
  db: Database,
  payment: Payment,
  now: Instant,
) {
  const { invoiceId, id: paymentId } = payment;
  const invoice = await sources.invoice(db, invoiceId);
  if (!invoice) throw new Error(`Payment ${paymentId} has no invoice ${invoiceId}.`);
  const facts = await sources.facts(db, payment);
  const exchanges = await sources.exchanges(db, invoiceId, `${invoiceId}.${paymentId}.`);
  const charge = await sources.charge(db, payment, invoice.createdAt, now);
  const refusal = await sources.refusal(payment);
  const failedAt = facts.findLast(({ fact }) => fact.type === 'payment_failed')?.at;
  const items: TimelineItem[] = inOrder([
    ...paymentLines(facts),
    ...ruleLines(payment, charge),
    ...bankLines(exchanges, now),
    ...ledgerLines(await sources.transfers(db, invoiceId, `payment/${paymentId}`)),
    ...emailLines(await sources.email(db, { invoiceId, paymentId })),
    ...webhookLines(await sources.deliveries(db, invoiceId, facts), facts),
    ...(failedAt === undefined ? [] : nextAttemptLines(failedAt, { invoice, refusal, charge }, now)),
  ]);
  return { items, facts, exchanges, charge };
}
