// Writes what a change of a payment means for its series, in the same transaction or statement, so that a crash cannot
// separate them.
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import type { Recurring } from '../recurring/port.ts';
import type { PaymentRef } from '../recurring/domain/series.ts';
import type { PendingCharge, ApprovedCharge } from '../recurring/store/charge-fragments.ts';
import type { Approval } from '../acquiring/authorisation/domain/approval.ts';
import type { Banks } from '../acquiring/banks.ts';
import { operationIdOf, type Payment } from './domain/payment.ts';
import { approvedAlone, type SeriesEffect } from './domain/series-effects.ts';

export type SeriesWriteDeps = {
  readonly recurring: Recurring;
  readonly pauseTerminal: Banks['pauseTerminal'];
};

/** Undefined if there is nothing to write. */
export function seriesWriteOf(
  payment: Payment,
  effects: readonly SeriesEffect[],
  now: Instant,
  deps: SeriesWriteDeps,
): ((tx: Database) => Promise<void>) | undefined {
  if (effects.length === 0) return undefined;
  return async (tx) => {
    for (const effect of effects) await write(tx, payment, effect, now, deps);
  };
}

async function write(
  tx: Database,
  payment: Payment,
  effect: SeriesEffect,
  now: Instant,
  { recurring, pauseTerminal }: SeriesWriteDeps,
): Promise<void> {
  const member = { invoiceId: payment.invoiceId, paymentId: payment.id };
  switch (effect.effect) {
    case 'chargeEnded':
      return recurring.recordOutcome(tx, effect.seriesId, member, effect.ending, now);
    case 'holdEnded':
      return recurring.holdEnded(tx, effect.seriesId, member, effect.isCaptured ? now : undefined);
    case 'cardDeclined':
      return recurring.recordDecline(tx, { ...payment, ...member, token: effect.token }, effect.answer, now);
    case 'terminalPaused': {
      const operationId = operationIdOf(payment, 'authorise');
      return pauseTerminal(tx, payment, payment.terminal, { operationId, ...effect.answer }, now);
    }
    case 'parentMade':
      return parentMade(tx, payment, member, effect.approval, now, recurring);
    case 'receiptDue':
      return recurring.queueReceipt(tx, effect.seriesId, effect.receipt, now);
  }
}

/** The parameters of the statement that changes the payment, if only the approval of a charge follows. */
export async function successOf(
  { db, recurring }: { readonly db: Database; readonly recurring: Recurring },
  { invoiceId, id: paymentId }: Payment,
  effects: readonly SeriesEffect[],
  charge: PendingCharge | undefined,
  now: Instant,
): Promise<ApprovedCharge | undefined> {
  const approved = approvedAlone(effects);
  if (!approved) return undefined;
  const { seriesId, ...what } = approved;
  const name = { seriesId, invoiceId, paymentId, ...defined({ preloaded: charge }) };
  return recurring.chargeApproved(db, name, what, now);
}

async function parentMade(
  tx: Database,
  payment: Payment,
  member: PaymentRef,
  approval: Approval,
  now: Instant,
  recurring: Recurring,
): Promise<void> {
  const { payer, partyId, shopId, livemode, recurrentTerms, amount, createdAt } = payment;
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
        payer: { ip, fingerprint, ...defined({ page: url }), contactInfo: payer.contactInfo },
        payment: { createdAt, amountMinor: Number(amount.minor), currency: amount.currency, ...approval },
      },
    },
    now,
  );
}
