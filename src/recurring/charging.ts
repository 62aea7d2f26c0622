// Charges without the payer present: whether one is allowed, and what it changes of its series. A change is written with its payment,
// and only if the series has not changed since it was evaluated.
import { latest, laterBy, type Instant } from '../clock.ts';
import type { Cards } from '../cards/vault.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import type { Receipts } from '../receipts/receipts.ts';
import { canNeverCharge, mayCharge, type Charge } from '../retry-rules/domain/may-charge.ts';
import { credentialOf } from './card-credential.ts';
import {
  applyOutcome,
  stopOfDecline,
  storedRef,
  type ChargeOutcome,
  type NetworkDecline,
  type PaymentRef,
} from './domain/series.ts';
import type { Charging, DeclinedCharge, Evaluation } from './port.ts';
import { queueReceipt, receiptSourceOf } from './receipt-source.ts';
import {
  findChargeOfSeries,
  findPendingAttempt,
  findPendingCharge,
  readChargeHistory,
  storeAwaited,
  storeCardStop,
  storeChargeEnd,
  storeDecline,
  storeHoldEnd,
  storeInvoiceStop,
  storeObligationEnd,
} from './store/attempts.ts';
import { approvedChargeOf, startedChargeOf, type PendingCharge } from './store/charge-changes.ts';
import { findSeries, lockSeries, mustLockSeries, type StoredSeries } from './store/series.ts';

type Deps = {
  readonly cards: Pick<Cards, 'credential' | 'expedite'>;
  readonly receipts: Pick<Receipts, 'emailOf'>;
};

export function openCharging({ cards, receipts }: Deps): Charging {
  return {
    async evaluate(db, asked, { now, isLocked }) {
      // A separate statement: a statement that waits for a lock reads all other rows as they were before.
      if (isLocked && !(await lockSeries(db, asked.seriesId))) return undefined;
      return evaluate(db, asked.seriesId, asked, now);
    },

    preview: evaluate,

    async canNeverCharge(db, seriesId, now) {
      const stored = await findSeries(db, seriesId);
      return !stored || canNeverCharge(stored.series, now);
    },

    chargeStarted({ stored, cardStops, decision }, { invoiceId, paymentId, amount }, now) {
      if (!decision.may) throw new Error('A charge was started that is not allowed.');
      const { isRetry, packs, warnings } = decision;
      const fact = {
        type: 'recurring_charge_started',
        invoiceId,
        paymentId,
        isRetry,
        amount: { minor: Number(amount.minor), currency: amount.currency },
        packs,
        warnings,
      } as const;
      return startedChargeOf({ stored, cardStops }, fact, amount, now);
    },

    async chargeApproved(db, { seriesId, pendingCharge, ...member }, { ending, receipt }, now) {
      const found = pendingCharge ?? (await findPendingCharge(db, seriesId, member));
      const end = found && endOf(found, ending, now);
      if (!end || end.isDecline || end.cardStop) return undefined;
      const email =
        receipt && receipts.emailOf(await receiptSourceOf(db, found.stored, receipt.paid), receipt);
      return approvedChargeOf(found, end, email, now);
    },

    recordOutcome: (tx, seriesId, member, ending, now) =>
      recordOutcome(cards, tx, { seriesId, member, ending }, now),
    endOfCharge,
    awaitEnd,
    holdEnded: storeHoldEnd,
    obligationEnded: storeObligationEnd,
    recordDecline: (tx, charge, answer, now) => recordDecline(cards, tx, charge, answer, now),
    queueReceipt: (tx, stored, receipt, now) => queueReceipt(receipts, tx, stored, receipt, now),
  };
}

/** Longer than the window of any counter. */
const declinesCountMs = 31 * 24 * 3_600_000;

async function evaluate(
  db: Database,
  seriesId: string,
  charge: Charge & { invoiceId?: string },
  now: Instant,
): Promise<Evaluation | undefined> {
  const found = await readChargeHistory(db, seriesId, charge, laterBy(now, -declinesCountMs));
  if (!found) return undefined;
  const { stored, history, ...asOfNow } = found;
  const { enforceMaxGap, enforceAmount, periodRule } = stored.settings;
  const rules = defined({ enforceMaxGap, enforceAmount, periodRule });
  const decision = mayCharge(history, { ...charge, ...rules }, now);
  return { series: stored.series, token: stored.handles.token, decision, stored, ...asOfNow };
}

async function recordOutcome(
  cards: Deps['cards'],
  tx: Database,
  charged: { readonly seriesId: string; readonly member: PaymentRef; readonly ending: ChargeOutcome },
  now: Instant,
): Promise<StoredSeries> {
  const { seriesId, member, ending } = charged;
  const stored = await mustLockSeries(tx, seriesId);
  const attempt = await findPendingAttempt(tx, seriesId, member, ending.outcome === 'approved');
  if (!attempt) return stored;
  const charge = { stored, attempt };
  const end = endOf(charge, ending, now);
  await storeChargeEnd(tx, charge, end, now);
  const { partyId, shopId } = stored.series;
  if (end.isDecline) await storeDecline(tx, stored.handles.key, { ...attempt, partyId, shopId }, true);
  const at = latest(now, stored.changedAt);
  if (end.invoiceStop) await storeInvoiceStop(tx, attempt, end.invoiceStop, at);
  if (end.cardStop) {
    const by = { ...attempt, partyId, shopId, seriesId };
    await storeCardStop(tx, stored.handles.key, by, end.cardStop, at);
  }
  if (end.stop && end.stop.scope !== 'charge') await cards.expedite(tx, stored.handles.token, now);
  return stored;
}

async function endOfCharge(db: Database, seriesId: string, member: PaymentRef) {
  const charge = await findChargeOfSeries(db, seriesId, member);
  if (!charge) throw new Error(`Series ${seriesId} has no charge of invoice ${member.invoiceId}.`);
  const { outcome, effect } = charge;
  return { outcome, ...(effect === 'stop charge' ? ({ stop: 'charge' } as const) : {}) };
}

async function awaitEnd(tx: Database, seriesId: string, subscriptionId: string): Promise<boolean> {
  // A statement that waits for the lock itself would read the attempts as they were before.
  await lockSeries(tx, seriesId);
  return storeAwaited(tx, seriesId, subscriptionId);
}

/** An event of a series is never earlier than the one before. */
function endOf(
  { stored: { series, changedAt }, attempt }: PendingCharge,
  ending: ChargeOutcome,
  now: Instant,
) {
  return applyOutcome(series, attempt, ending, latest(now, changedAt));
}

async function recordDecline(
  cards: Deps['cards'],
  tx: Database,
  charge: DeclinedCharge,
  answer: NetworkDecline,
  now: Instant,
): Promise<void> {
  const credential = await credentialOf(cards, tx, charge);
  if (!credential) return;
  const declined = { ...charge, ...storedRef(charge), createdAt: now };
  await storeDecline(tx, credential.key, declined, false);
  const stop = stopOfDecline(answer, now);
  // The verification charge of a binding has no invoice that could be charged again.
  if (stop?.scope === 'charge') await ('invoiceId' in charge && storeInvoiceStop(tx, charge, stop, now));
  else if (stop) await storeCardStop(tx, credential.key, declined, stop, now);
}
