// Writes what a change of a payment means for its series, in the same transaction or statement, so that a crash cannot
// separate them.
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import type { Charging, Consents, StoredSeries } from '../recurring/port.ts';
import type { PaymentRef } from '../recurring/domain/series.ts';
import type { PendingCharge, ApprovedCharge } from '../recurring/store/charge-changes.ts';
import type { Approval } from '../acquiring/authorisation/domain/approval.ts';
import type { Banks } from '../acquiring/banks.ts';
import { operationIdOf, type Payment } from './domain/payment.ts';
import type { ReceiptRequest } from '../receipts/domain/receipt-email.ts';
import type { Receipts } from '../receipts/receipts.ts';
import { storePayerEmail } from '../emails/store/payer-emails.ts';
import { timeZoneOf } from '../recurring/domain/settings.ts';
import { approvedAlone, type SeriesEffects } from './domain/series-effects.ts';

export type SeriesWriteDeps = {
  readonly charging: Charging;
  readonly consents: Pick<Consents, 'start' | 'addParent' | 'settings'>;
  readonly receipts: Pick<Receipts, 'emailOf' | 'wantsOneOff'>;
  readonly pauseTerminal: Banks['pauseTerminal'];
};

/** Undefined if there is nothing to write. */
export async function seriesWriteOf(
  payment: Payment,
  { oneOffReceiptDue, ...ofSeries }: SeriesEffects,
  now: Instant,
  deps: SeriesWriteDeps,
): Promise<((tx: Database) => Promise<void>) | undefined> {
  const wanted =
    oneOffReceiptDue && (await deps.receipts.wantsOneOff(payment)) ? oneOffReceiptDue : undefined;
  if (!wanted && Object.keys(ofSeries).length === 0) return undefined;
  return async (tx) => {
    await write(tx, payment, ofSeries, now, deps);
    if (wanted) await queueOneOffReceipt(tx, payment, wanted, now, deps);
  };
}

async function write(
  tx: Database,
  payment: Payment,
  { chargeEnded, cardDeclined, terminalPaused, holdEnded, parentMade: approval, receiptDue }: SeriesEffects,
  now: Instant,
  { charging, consents, pauseTerminal }: SeriesWriteDeps,
): Promise<void> {
  const member = { invoiceId: payment.invoiceId, paymentId: payment.id };
  let series: StoredSeries | undefined;
  if (chargeEnded)
    series = await charging.recordOutcome(tx, chargeEnded.seriesId, member, chargeEnded.ending, now);
  if (cardDeclined) {
    const declined = { ...payment, ...member, token: cardDeclined.token };
    await charging.recordDecline(tx, declined, cardDeclined.answer, now);
  }
  if (terminalPaused) {
    const operationId = operationIdOf(payment, 'authorise');
    await pauseTerminal(tx, payment, payment.terminal, { operationId, ...terminalPaused }, now);
  }
  if (holdEnded) {
    const capturedAt = holdEnded.isCaptured ? now : undefined;
    series = await charging.holdEnded(tx, holdEnded.seriesId, member, capturedAt);
  }
  if (approval) series = await parentMade(tx, payment, member, approval, now, consents);
  if (receiptDue && series) await charging.queueReceipt(tx, series, receiptDue, now);
}

/** Without a consent, the settings of the shop say the language. */
async function queueOneOffReceipt(
  tx: Database,
  { partyId, shopId, payer }: Payment,
  request: ReceiptRequest,
  now: Instant,
  { consents, receipts }: SeriesWriteDeps,
): Promise<void> {
  if ('seriesId' in payer) throw new Error('A charge of a series has the receipt of its series.');
  const { paymentSystem, lastDigits } = payer.card;
  const settings = await consents.settings(tx, { partyId, shopId });
  const content = {
    shopId,
    language: settings.language ?? 'en',
    timeZone: timeZoneOf(settings, request.paid.amount.currency),
    ...defined({ contact: settings.contact }),
    card: { paymentSystem, lastDigits },
  };
  const email = receipts.emailOf({ partyId, content }, request);
  if (email) await storePayerEmail(tx, email, now);
}

/** The parameters of the statement that changes the payment, if only the approval of a charge follows. */
export async function successOf(
  { db, charging }: { readonly db: Database; readonly charging: Charging },
  { invoiceId, id: paymentId }: Payment,
  effects: SeriesEffects,
  pendingCharge: PendingCharge | undefined,
  now: Instant,
): Promise<ApprovedCharge | undefined> {
  const approved = approvedAlone(effects);
  if (!approved) return undefined;
  const { seriesId, ...what } = approved;
  const name = { seriesId, invoiceId, paymentId, ...defined({ pendingCharge }) };
  return charging.chargeApproved(db, name, what, now);
}

async function parentMade(
  tx: Database,
  payment: Payment,
  member: PaymentRef,
  approval: Approval,
  now: Instant,
  consents: SeriesWriteDeps['consents'],
): Promise<StoredSeries> {
  const { payer, partyId, shopId, livemode, recurrentTerms, amount, createdAt } = payment;
  if ('seriesId' in payer) return consents.addParent(tx, payer.seriesId, member, now);
  const { ip, fingerprint, url } = payer.clientInfo;
  return consents.start(
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
