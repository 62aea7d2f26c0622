// A payer email: the receipt of one recurring payment on its way to the payer. New terms have a receipt over nothing.
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import { receiptLanguages, type ReceiptLanguage } from './receipt.ts';

export type Paid = {
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly at: Instant;
  readonly amount: Money;
  readonly reference: string;
  readonly approvalCode?: string;
};

/** A receipt to send to `email`, or to the address of the consent. Without either, no email is sent. */
export type ReceiptRequest = { readonly paid: Paid; readonly email?: string };

export type PaymentOfEmail = Pick<Paid, 'invoiceId' | 'paymentId'>;

export type PayerEmail = {
  readonly partyId: string;
  readonly seriesId: string;
  readonly paid: Paid;
  readonly recipient: string;
  readonly createdAt: Instant;
  readonly status: 'waiting' | 'kept' | 'sent' | 'refused';
  /** The content, once it was rendered. */
  readonly written?: { readonly subject: string; readonly text: string; readonly html: string };
  readonly endedAt?: Instant;
  /** How the mail server rejected the address. */
  readonly refusal?: string;
};

/** The message ID, equal for every attempt. */
export function payerEmailIdOf({ invoiceId, paymentId }: PaymentOfEmail): string {
  return `receipt.${invoiceId}.${paymentId}`;
}

/** The language of the consent, then that of the shop, then English. */
export function languageOf(
  { consent }: { readonly consent?: { readonly locale?: string } },
  ofShop: ReceiptLanguage | undefined,
): ReceiptLanguage {
  const agreedIn = consent?.locale?.slice(0, 2).toLowerCase();
  return receiptLanguages.find((known) => known === agreedIn) ?? ofShop ?? 'en';
}
