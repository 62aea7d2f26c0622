// What the email with the receipt of one payment says. New terms of a series have a receipt over nothing.
import type { Instant } from '../../clock.ts';
import type { EmailKey } from '../../emails/domain/payer-email.ts';
import type { Money } from '../../money.ts';
import type { PaymentSystem } from '../../cards/domain/card.ts';
import { receiptLanguages, type ReceiptLanguage } from './receipt.ts';
import type { MandateTerms } from './terms.ts';

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

/** What a receipt says, apart from its payment and the name of the shop. */
export type ReceiptContent = {
  readonly shopId: string;
  /** Unless another is asked for. */
  readonly language: ReceiptLanguage;
  readonly contact?: string;
  /** Older nodes store none. */
  readonly timeZone?: string;
  /** Of the series, if the payment is of one. */
  readonly mandate?: MandateTerms & { readonly schedule: string };
  readonly card: { readonly paymentSystem: PaymentSystem; readonly lastDigits: string };
};

export type ReceiptOf = {
  readonly partyId: string;
  /** Absent for a one-off payment. */
  readonly seriesId?: string;
  readonly content: ReceiptContent;
};

/** With the address of the consent. */
export type ReceiptSource = ReceiptOf & { readonly email?: string };

/** In the outbox. */
export function emailKeyOf({ invoiceId, paymentId }: Pick<Paid, 'invoiceId' | 'paymentId'>): EmailKey {
  return { aggregateId: invoiceId, emailId: paymentId };
}

/** The language of the consent, then that of the shop, then English. */
export function languageOf(
  { consent }: { readonly consent?: { readonly locale?: string } },
  ofShop: ReceiptLanguage | undefined,
): ReceiptLanguage {
  const agreedIn = consent?.locale?.slice(0, 2).toLowerCase();
  return receiptLanguages.find((known) => known === agreedIn) ?? ofShop ?? 'en';
}
