// Stored JSON of receipts: the terms that each shows, and what an email says.
import { defined } from '../../defined.ts';
import type { NewPayerEmail, PayerEmail } from '../../emails/domain/payer-email.ts';
import { chargeReasons } from '../../acquiring/domain/initiation.ts';
import { paymentSystem } from '../../cards/store/codec.ts';
import {
  object,
  oneOf,
  optional,
  text,
  variants,
  wholeNumber,
  written,
  type Codec,
} from '../../platform/database/codec.ts';
import { emailKeyOf, type Paid, type ReceiptContent, type ReceiptOf } from '../domain/receipt-email.ts';
import { receiptLanguages } from '../domain/receipt.ts';
import type { AmountRule, MandateTerms } from '../domain/terms.ts';

const amountRule: Codec<AmountRule> = variants<AmountRule, 'kind'>('kind', {
  fixed: { amountMinor: wholeNumber },
  upTo: { amountMinor: wholeNumber },
  variable: { text },
});

/** The members of terms, for everything that has them. */
export const agreed = {
  schedule: optional(text),
  validUntil: optional(text),
  amountRule: optional(amountRule),
  trialEnd: optional(text),
  amountAfterTrialMinor: optional(wholeNumber),
  firstChargeOn: optional(text),
  charges: optional(wholeNumber),
  chargeReason: optional(oneOf(...chargeReasons)),
};
export const mandateTerms: Codec<MandateTerms> = object(agreed);

export const receiptLanguage = oneOf(...receiptLanguages);

const receiptContent: Codec<ReceiptContent> = object({
  shopId: text,
  language: receiptLanguage,
  contact: optional(text),
  timeZone: optional(text),
  mandate: optional(object({ ...agreed, schedule: text })),
  card: object({ paymentSystem, lastDigits: text }),
});

export function receiptEmailOf(
  { content, ...of }: ReceiptOf,
  { at, amount, reference, approvalCode, ...payment }: Paid,
  recipient: string,
): NewPayerEmail {
  return {
    about: 'receipt',
    ...emailKeyOf(payment),
    ...of,
    recipient,
    paid: { at, amount, reference, ...defined({ approvalCode }) },
    content: written(receiptContent, content) as object,
  };
}

/** What its email keeps of a receipt. */
export function receiptIn({ partyId, seriesId, content }: PayerEmail): ReceiptOf | undefined {
  return content && { partyId, ...defined({ seriesId }), content: receiptContent.read(content) };
}
