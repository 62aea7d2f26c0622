// A letter: the receipt of one recurring payment, on its way to the payer by mail. Pure.
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import { receiptLanguages, type ReceiptLanguage } from './receipt.ts';

/** What a receipt says of the payment. */
export type Paid = {
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly at: Instant;
  readonly amount: Money;
  readonly reference: string;
  readonly approvalCode?: string;
};

/** What is to be mailed: to that address, else to that of the consent; without either there is no letter. */
export type ReceiptOwed = { readonly paid: Paid; readonly email?: string };

/** The payment it is the receipt of. */
export type PaymentOfEmail = Pick<Paid, 'invoiceId' | 'paymentId'>;

export type PayerEmail = {
  readonly partyId: string;
  readonly seriesId: string;
  readonly paid: Paid;
  readonly recipient: string;
  readonly createdAt: Instant;
  readonly status: 'waiting' | 'kept' | 'sent' | 'refused';
  /** What was written to the payer, once it was. */
  readonly written?: { readonly subject: string; readonly text: string; readonly html: string };
  readonly endedAt?: Instant;
  /** What the mail server said of the address. */
  readonly refusal?: string;
};

/** By what a mail server and a mail program know it, at every attempt. */
export function payerEmailIdOf({ invoiceId, paymentId }: PaymentOfEmail): string {
  return `receipt.${invoiceId}.${paymentId}`;
}

/** That in which the payer agreed, else the shop's, else English. */
export function languageOf(
  { consent }: { readonly consent?: { readonly locale?: string } },
  ofShop: ReceiptLanguage | undefined,
): ReceiptLanguage {
  const agreedIn = consent?.locale?.slice(0, 2).toLowerCase();
  return receiptLanguages.find((known) => known === agreedIn) ?? ofShop ?? 'en';
}
