// Stored JSON of series: facts, terms, states and shop settings.
import { authenticationResult, networkId, references } from '../../acquiring/store/codec.ts';
import { paymentSystem } from '../../cards/store/codec.ts';
import {
  currency,
  flag,
  instant,
  list,
  object,
  oneOf,
  optional,
  text,
  variants,
  wholeNumber,
  type Codec,
} from '../../platform/database/codec.ts';
import { declineClasses } from '../../acquiring/domain/decline-class.ts';
import { agreed, mandateTerms, receiptLanguage } from '../../receipts/store/codec.ts';
import type { ConsentGiven, Mandate, MandateGiven, ContactInfo } from '../domain/mandate.ts';
import type {
  AdvanceNotice,
  NotBefore,
  PaymentRef,
  Series,
  SeriesCard,
  SeriesFact,
  SeriesTerms,
} from '../domain/series.ts';
import type { RecurringSettings } from '../domain/settings.ts';

export const contactInfo = object<ContactInfo>({
  email: optional(text),
  phoneNumber: optional(text),
  firstName: optional(text),
  lastName: optional(text),
  country: optional(text),
  state: optional(text),
  city: optional(text),
  address: optional(text),
  postalCode: optional(text),
});
const consentGiven: Codec<ConsentGiven> = object({
  text: optional(text),
  textHash: text,
  ticked: oneOf(true),
  tickedAt: instant,
  checkbox: optional(text),
  locale: optional(text),
  version: optional(text),
  link: optional(text),
  receivedAt: optional(instant),
  userAgent: optional(text),
});
const consent = optional(consentGiven);
export const mandateGiven: Codec<MandateGiven> = object({ ...agreed, consent });
const mandate: Codec<Mandate> = object({
  ...agreed,
  schedule: text,
  evidence: oneOf('attestedByMerchant', 'missing'),
  consent,
  payer: object({
    ip: optional(text),
    fingerprint: optional(text),
    page: optional(text),
    contactInfo,
  }),
  payment: object({
    createdAt: instant,
    amountMinor: wholeNumber,
    currency,
    reference: text,
    approvalCode: optional(text),
    eci: optional(text),
    networkTransactionId: optional(text),
    references: optional(references),
    networkIds: optional(list(networkId)),
    authenticated: optional(authenticationResult),
    liabilityShift: optional(flag),
  }),
});

const member = { invoiceId: text, paymentId: text };
const paymentRef: Codec<PaymentRef> = object(member);
const card: Codec<SeriesCard> = object({ paymentSystem, lastDigits: text, endsAt: instant });
const ruled = { rule: text, pack: text };
const notBefore: Codec<NotBefore> = object({ at: instant, ...ruled });
export const declineClass = oneOf(...declineClasses);
const helper = { declineClass: optional(declineClass) };
const stopped = { ...ruled, scope: oneOf('charge', 'cardInShop', 'card', 'series'), ...helper };
const revocation = { by: oneOf('payer', 'merchant', 'operator'), reason: optional(text) };

const termsMembers = {
  kind: oneOf('parent', 'customer'),
  root: paymentRef,
  rootNetworkTransactionId: optional(text),
  card,
  mandate,
  consentedAt: instant,
  endsAt: optional(instant),
  trialEndsAt: optional(instant),
  bindsAmount: optional(oneOf(true)),
};
/** Terms without a column of their own. */
export type RowTerms = Omit<SeriesTerms, 'id' | 'partyId' | 'shopId'>;
export const rowTerms: Codec<RowTerms> = object(termsMembers);
const terms: Codec<SeriesTerms> = object({ id: text, partyId: text, shopId: text, ...termsMembers });

export type RowState = Omit<Series, keyof SeriesTerms>;
export const rowState: Codec<RowState> = object({
  state: variants<Series['state'], 'name'>('name', {
    active: {},
    stopped: { at: instant, ...stopped },
    withdrawn: { at: instant, ...revocation },
  }),
  latest: paymentRef,
  failingSince: optional(instant),
  ...helper,
  deadUntil: optional(instant),
  notBefore: optional(notBefore),
  lastSuccessAt: instant,
  chargesMade: wholeNumber,
  noticedUntil: instant,
});

const notice: Codec<AdvanceNotice> = object({
  kind: oneOf(
    'cardExpiring',
    'gapNearing',
    'rareChargeNearing',
    'trialEnding',
    'consentEnding',
    'consentEnded',
  ),
  at: instant,
  about: instant,
});

/** Read as stored, because the hash chain covers their text. */
export const seriesFact = variants<SeriesFact, 'type'>('type', {
  series_started: { terms },
  recurring_charge_started: {
    ...member,
    isRetry: flag,
    amount: optional(object({ minor: wholeNumber, currency })),
    packs: list(text),
    warnings: list(text),
  },
  recurring_charge_succeeded: { ...member, createdAt: instant, lastSuccessAt: optional(instant) },
  recurring_charge_failed: {
    ...member,
    isRetry: flag,
    answer: object({ network: optional(text), code: optional(text), advice: optional(text) }),
    ...helper,
    notBefore: optional(notBefore),
  },
  recurring_charge_unsent: member,
  series_stopped: stopped,
  consent_withdrawn: revocation,
  parent_added: member,
  consent_renewed: {
    card,
    endsAt: optional(instant),
    trialEndsAt: optional(instant),
    mandate: optional(mandate),
    bindsAmount: optional(oneOf(true)),
  },
  notice_due: { notice },
});

export const recurringSettings: Codec<RecurringSettings> = object({
  terms: optional(mandateTerms),
  timeZone: optional(text),
  enforceMaxGap: optional(flag),
  enforceAmount: optional(flag),
  periodRule: optional(oneOf('warn', 'refuse')),
  requireConsentEvidence: optional(flag),
  needsApiKey: optional(flag),
  contact: optional(text),
  language: optional(receiptLanguage),
});
