// Writes receipts, and says which of them are emailed.
import { defined } from '../defined.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { NewPayerEmail } from '../emails/domain/payer-email.ts';
import type { Paid, ReceiptOf, ReceiptRequest, ReceiptSource } from './domain/receipt-email.ts';
import { receiptOf, type Receipt, type ReceiptFacts, type ReceiptLanguage } from './domain/receipt.ts';
import { receiptEmailOf } from './store/codec.ts';

export type WrittenReceipt = Receipt & { readonly language: ReceiptLanguage };

export type Receipts = {
  /** In the payer's language, unless another is given. Undefined if there is no such shop. */
  write(of: ReceiptOf, paid: Paid, language?: ReceiptLanguage): Promise<WrittenReceipt | undefined>;
  /** Undefined if the payer has no address, or this service sends no emails. */
  emailOf(source: ReceiptSource, request: ReceiptRequest): NewPayerEmail | undefined;
  /** Whether payments of the shop without a series have receipts. */
  wantsOneOff(shop: { readonly partyId: string; readonly shopId: string }): Promise<boolean>;
};

export function openReceipts({
  merchants,
  boughtWith,
  revokeUrlOf,
  sendsEmail,
}: {
  readonly merchants: Pick<Merchants, 'shop'>;
  /** With an invoice, which never changes it. New terms may have been agreed to with a binding. */
  readonly boughtWith: (invoiceId: string) => Promise<Pick<ReceiptFacts, 'product' | 'period'>>;
  /** The link with which the payer ends the charges. */
  readonly revokeUrlOf: (seriesId: string) => string;
  /** False in live mode without a mail server, where an email would be neither sent nor seen. */
  readonly sendsEmail: boolean;
}): Receipts {
  return {
    async write({ partyId, seriesId, content }, paid, language = content.language) {
      const { shopId, contact, timeZone, mandate, card } = content;
      const shop = await merchants.shop(partyId, shopId);
      if (!shop) return undefined;
      const merchant = { name: shop.name, site: shop.url, ...defined({ contact }) };
      // Without both, the receipt would not say that the charges continue.
      if ((seriesId === undefined) !== (mandate === undefined))
        throw new Error('A receipt has half a series.');
      const recurring =
        seriesId === undefined || !mandate ? undefined : { mandate, cancelUrl: revokeUrlOf(seriesId) };
      const known = defined({
        timeZone,
        recurring,
      });
      const bought = await boughtWith(paid.invoiceId);
      return { language, ...receiptOf({ ...paid, ...bought, ...known, language, merchant, card }) };
    },

    wantsOneOff: async ({ partyId, shopId }) =>
      (await merchants.shop(partyId, shopId))?.oneOffReceipts ?? false,

    emailOf({ email: ofConsent, ...of }, { paid, email: recipient = ofConsent }) {
      return sendsEmail && recipient !== undefined ? receiptEmailOf(of, paid, recipient) : undefined;
    },
  };
}
