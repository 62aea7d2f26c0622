// Composes a receipt from the payment, its series and its shop.
import type { Database } from '../platform/database/database.ts';
import { languageOf, type Paid } from '../receipts/domain/payer-email.ts';
import { receiptOf, type Receipt, type ReceiptLanguage } from '../receipts/domain/receipt.ts';
import { findSeriesWithSettings, type SeriesWithSettings } from '../recurring/store/series.ts';
import { defined } from '../defined.ts';
import type { Merchants } from '../merchants/merchants.ts';

export type WrittenReceipt = Receipt & { readonly language: ReceiptLanguage };

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
    asked: string | SeriesWithSettings,
    paid: Paid,
    language?: ReceiptLanguage,
  ): Promise<WrittenReceipt | undefined> {
    const found = typeof asked === 'string' ? await findSeriesWithSettings(db, asked) : asked;
    const shop = found && (await merchants.shop(found.series.partyId, found.series.shopId));
    if (!shop) return undefined;
    const { series, settings } = found;
    const { contact, language: ofShop } = settings;
    const { mandate, card } = series;
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
