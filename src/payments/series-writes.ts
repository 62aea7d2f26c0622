// What a change of a payment writes of the series it begins or belongs to. It is written in the same transaction, so that a
// crash leaves both as they were, or both changed.
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import { seriesIdOf } from '../recurring/domain/series.ts';
import type { Recurring } from '../recurring/port.ts';
import type { PendingCharge, ApprovedCharge } from '../recurring/store/charge-fragments.ts';
import { evolve, type Approval, type Payment, type PaymentFact } from './domain/payment.ts';
import {
  approvalOf,
  endingOf,
  isNetworksDecline,
  paidOf,
  receiptAddressOf,
} from './domain/series-effects.ts';

type Write = (tx: Database) => Promise<void>;

/** Undefined when the change concerns no series and no counter. `answer` is what the bank said, where it led to the change. */
export function seriesWriteOf(
  payment: Payment,
  facts: readonly PaymentFact[],
  answer: BankResponse | undefined,
  now: Instant,
  recurring: Recurring,
): Write | undefined {
  const { payer, makeRecurrent, invoiceId, id: paymentId } = payment;
  const member = { invoiceId, paymentId };
  const writes: Write[] = [];
  let after = payment;
  for (const fact of facts) {
    const ending = endingOf(after, fact, answer);
    after = evolve(after, fact);
    if (ending && 'seriesId' in payer) {
      writes.push((tx) => recurring.recordOutcome(tx, payer.seriesId, member, ending, now));
    } else if (ending && payer.type === 'resource' && isNetworksDecline(ending)) {
      writes.push((tx) => recurring.recordDecline(tx, { ...payment, ...member, token: payer.token }, now));
    }
    if (fact.type === 'payment_captured') {
      const approval = approvalOf(after);
      if (makeRecurrent) writes.push((tx) => parentMade(tx, payment, approval, now, recurring));
      const seriesId = 'seriesId' in payer ? payer.seriesId : makeRecurrent ? seriesIdOf(member) : undefined;
      if (seriesId !== undefined) {
        const paid = paidOf(payment, fact.amount, approval);
        const email = receiptAddressOf(payer);
        const owed = { seriesId, paid, ...defined({ email }) };
        writes.push((tx) => recurring.queueReceipt(tx, owed, now));
      }
    }
  }
  if (writes.length === 0) return undefined;
  return async (tx) => {
    for (const write of writes) await write(tx);
  };
}

/** What a charge that was approved changes of its series, where that is all that follows. */
export async function successOf(
  { db, recurring }: { readonly db: Database; readonly recurring: Recurring },
  payment: Payment,
  facts: readonly PaymentFact[],
  {
    answer,
    charge,
  }: { readonly answer?: BankResponse | undefined; readonly charge?: PendingCharge | undefined },
  now: Instant,
): Promise<ApprovedCharge | undefined> {
  const { payer, makeRecurrent, invoiceId, id: paymentId } = payment;
  const processed = facts.find(({ type }) => type === 'payment_processed');
  const ending = processed && endingOf(payment, processed, answer);
  if (!ending || !('seriesId' in payer) || makeRecurrent) return undefined;
  const { seriesId } = payer;
  const name = { seriesId, invoiceId, paymentId, ...defined({ preloaded: charge }) };
  const captured = facts.find((fact) => fact.type === 'payment_captured');
  const after = facts.reduce(evolve, payment);
  const paid = captured && paidOf(payment, captured.amount, approvalOf(after));
  const email = receiptAddressOf(payer);
  return recurring.chargeApproved(db, name, { ending, paid, email }, now);
}

async function parentMade(
  tx: Database,
  payment: Payment,
  approval: Approval,
  now: Instant,
  recurring: Recurring,
): Promise<void> {
  const {
    payer,
    invoiceId,
    id: paymentId,
    partyId,
    shopId,
    livemode,
    recurrentTerms,
    amount,
    createdAt,
  } = payment;
  const member = { invoiceId, paymentId };
  if ('seriesId' in payer) return recurring.addParent(tx, payer.seriesId, member, now);
  const { ip, fingerprint, url } = payer.clientInfo;
  await recurring.start(
    tx,
    {
      ...member,
      partyId,
      shopId,
      livemode,
      card: { ...payer.card, token: payer.token },
      ...defined({ given: recurrentTerms }),
      evidence: {
        payer: {
          ip,
          fingerprint,
          ...defined({ page: url }),
          contactInfo: payer.contactInfo,
        },
        payment: {
          createdAt,
          amountMinor: Number(amount.minor),
          currency: amount.currency,
          ...approval,
        },
      },
    },
    now,
  );
}
