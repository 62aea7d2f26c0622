// What is kept of the agreement a series stands on.
import {
  instant,
  object,
  oneOf,
  optional,
  text,
  variants,
  wholeNumber,
  type Codec,
} from '../../platform/database/codec.ts';
import type { AmountRule, MandateTerms } from '../../receipts/domain/terms.ts';
import type { ConsentGiven, MandateGiven } from '../domain/mandate.ts';

const amountRule: Codec<AmountRule> = variants<AmountRule, 'kind'>('kind', {
  fixed: { amountMinor: wholeNumber },
  upTo: { amountMinor: wholeNumber },
  variable: { text },
});
const consentGiven: Codec<ConsentGiven> = object({
  text: optional(text),
  textHash: text,
  ticked: oneOf(true),
  tickedAt: instant,
  checkbox: optional(text),
  locale: optional(text),
  version: optional(text),
});
const terms = {
  schedule: optional(text),
  validUntil: optional(text),
  amountRule: optional(amountRule),
  trialEnd: optional(text),
  amountAfterTrialMinor: optional(wholeNumber),
};
export const mandateTerms: Codec<MandateTerms> = object(terms);
export const mandateGiven: Codec<MandateGiven> = object({ ...terms, consent: optional(consentGiven) });
