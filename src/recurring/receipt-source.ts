// What receipts of a series say: the terms that the payer had agreed to with a payment, the card, and the wishes of the shop.
import { laterBy, type Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import {
  languageOf,
  type Paid,
  type ReceiptRequest,
  type ReceiptSource,
} from '../receipts/domain/receipt-email.ts';
import type { Receipts } from '../receipts/receipts.ts';
import { storePayerEmail } from '../emails/store/payer-emails.ts';
import type { Mandate } from './domain/mandate.ts';
import type { Series } from './domain/series.ts';
import { timeZoneOf } from './domain/settings.ts';
import { seriesFact } from './store/codec.ts';
import { readSeriesEvents, type StoredSeries } from './store/series.ts';

/** The clocks of two nodes differ by less. */
const clockDifferenceMs = 10_000;
const allEvents = 2 ** 31 - 1;

export async function receiptSourceOf(
  db: Database,
  { series, settings }: StoredSeries,
  paid: Paid,
): Promise<ReceiptSource> {
  const { id: seriesId, partyId, shopId } = series;
  const { paymentSystem, lastDigits } = series.card;
  const mandate = await mandateOf(db, series, paid);
  const { schedule, validUntil, amountRule, trialEnd, amountAfterTrialMinor, firstChargeOn, charges } =
    mandate;
  const amounts = { amountRule, trialEnd, amountAfterTrialMinor };
  return {
    partyId,
    seriesId,
    content: {
      shopId,
      language: languageOf(mandate, settings.language),
      timeZone: timeZoneOf(settings, paid.amount.currency),
      ...defined({ contact: settings.contact }),
      mandate: { schedule, ...defined({ validUntil, ...amounts, firstChargeOn, charges }) },
      card: { paymentSystem, lastDigits },
    },
    ...defined({ email: series.mandate.payer.contactInfo.email }),
  };
}

/** As an email, if the payer has an address and this service sends emails. */
export async function queueReceipt(
  receipts: Pick<Receipts, 'emailOf'>,
  tx: Database,
  stored: StoredSeries,
  request: ReceiptRequest,
  now: Instant,
): Promise<void> {
  const email = receipts.emailOf(await receiptSourceOf(tx, stored, request.paid), request);
  if (email) await storePayerEmail(tx, email, now);
}

/** What the payer had agreed to with the payment. They may have agreed to other terms since. */
async function mandateOf(db: Database, series: Series, paid: Paid): Promise<Mandate> {
  const isWith = ({ payment }: Mandate) => payment.reference === paid.reference;
  const isLatest = laterBy(series.consentedAt, clockDifferenceMs) < paid.at || isWith(series.mandate);
  if (isLatest) return series.mandate;
  let mandate = series.mandate;
  for (const event of await readSeriesEvents(db, series.id, 0, allEvents)) {
    for (const fact of seriesFact.known(event.facts)) {
      if (fact.type === 'series_started') mandate = fact.terms.mandate;
      if (fact.type === 'consent_renewed') mandate = fact.mandate ?? mandate;
      const isOf =
        'paymentId' in fact && fact.paymentId === paid.paymentId && fact.invoiceId === paid.invoiceId;
      if (isOf || isWith(mandate)) return mandate;
    }
  }
  return series.mandate;
}
