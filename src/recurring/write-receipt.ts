// Composes a receipt from the payment, its series and its shop.
import type { Database } from '../platform/database/database.ts';
import { languageOf, type Paid } from '../receipts/domain/payer-email.ts';
import { receiptOf, type Receipt, type ReceiptLanguage } from '../receipts/domain/receipt.ts';
import { laterBy } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Mandate } from './domain/mandate.ts';
import type { Series } from './domain/series.ts';
import { seriesFact } from './store/codec.ts';
import { findSeries, readSeriesEvents, type StoredSeries } from './store/series.ts';
import type { Merchants } from '../merchants/merchants.ts';

export type WrittenReceipt = Receipt & { readonly language: ReceiptLanguage };

/** The clocks of two nodes differ by less. */
const clockDifferenceMs = 10_000;
const allEvents = 2 ** 31 - 1;

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

export function openReceipts({
  merchants,
  revokeUrlOf,
}: {
  readonly merchants: Pick<Merchants, 'shop'>;
  /** The link with which the payer ends the charges. */
  readonly revokeUrlOf: (seriesId: string) => string;
}) {
  /** In the given language, else in the one used for email. Undefined if there is no such series. */
  return async function writeReceipt(
    db: Database,
    asked: string | StoredSeries,
    paid: Paid,
    language?: ReceiptLanguage,
  ): Promise<WrittenReceipt | undefined> {
    const found = typeof asked === 'string' ? await findSeries(db, asked) : asked;
    const shop = found && (await merchants.shop(found.series.partyId, found.series.shopId));
    if (!shop) return undefined;
    const { series, settings } = found;
    const { contact, language: ofShop } = settings;
    const { card } = series;
    const mandate = await mandateOf(db, series, paid);
    const chosen = language ?? languageOf(mandate, ofShop);
    const receipt = receiptOf({
      ...paid,
      language: chosen,
      merchant: { name: shop.name, site: shop.url, ...defined({ contact }) },
      mandate,
      card,
      cancelUrl: revokeUrlOf(series.id),
    });
    return { language: chosen, ...receipt };
  };
}
