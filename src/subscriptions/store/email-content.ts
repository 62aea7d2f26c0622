// What an email about a subscription says, as it is stored with its cause.
import {
  currency,
  instant,
  minorUnits,
  object,
  oneOf,
  optional,
  text,
  wholeNumber,
  written,
  type Codec,
} from '../../platform/database/codec.ts';
import type { PayerEmail } from '../../emails/domain/payer-email.ts';
import { receiptLanguage } from '../../receipts/store/codec.ts';
import { declineClass } from '../../recurring/store/codec.ts';
import type { EmailContent } from '../domain/duties/email-text.ts';
import { emailKinds } from '../domain/duties/emails.ts';
import { announcementReason, endReason } from './codec.ts';

const content: Codec<EmailContent> = object({
  kind: oneOf(...emailKinds),
  product: text,
  currency,
  every: text,
  timeZone: text,
  priceMinor: minorUnits,
  amountMinor: optional(minorUnits),
  period: optional(object({ startsOn: text, endsOn: text })),
  trialUntil: optional(text),
  charges: optional(wholeNumber),
  chargeAt: optional(instant),
  why: optional(announcementReason),
  declineClass: optional(declineClass),
  invoiceId: optional(text),
  paidThrough: optional(instant),
  endedFor: optional(endReason),
  shopId: text,
  language: receiptLanguage,
  contact: optional(text),
  seriesId: optional(text),
});

export function emailContentIn(email: Pick<PayerEmail, 'content'>): EmailContent {
  return content.read(email.content);
}

export function storedContent(of: EmailContent): object {
  return written(content, of) as object;
}
