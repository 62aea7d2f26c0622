// Stored JSON of series: facts, terms, states and shop settings.
import { authenticationResult, networkId, references } from '../../acquiring/store/codec.ts';
import { paymentSystem } from '../../cards/store/codec.ts';
import {
  currency,
  flag,
  instant,
  list,
  mapped,
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
import type { Bundle } from '../consent-bundle.ts';
import type { ConsentGiven, Mandate, MandateGiven, ContactInfo } from '../domain/mandate.ts';
import {
  storedRef,
  type AdvanceNotice,
  type BindingRef,
  type Imported,
  type NotBefore,
  type PaymentRef,
  type Series,
  type SeriesCard,
  type SeriesFact,
  type SeriesTerms,
} from '../domain/series.ts';
import type { Duties, RecurringSettings } from '../domain/settings.ts';

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

type StoredTerms = Omit<SeriesTerms, 'root'> & { readonly root: PaymentRef };
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
  imported: optional(object<Imported>({ lastChargedAt: optional(instant) })),
};
type Kept = 'id' | 'partyId' | 'shopId';
/** Terms without a column of their own. */
export type RowTerms = Omit<SeriesTerms, Kept>;
export const rowTerms: Codec<RowTerms> = mapped<Omit<StoredTerms, Kept>, RowTerms>(object(termsMembers), {
  read: (stored) => ({ ...stored, root: rootOf(stored) }),
  write: (known) => ({ ...known, root: storedRef(known.root) }),
});
const terms: Codec<SeriesTerms> = mapped<StoredTerms, SeriesTerms>(
  object({ id: text, partyId: text, shopId: text, ...termsMembers }),
  {
    read: (stored) => ({ ...stored, root: rootOf(stored) }),
    write: (known) => ({ ...known, root: storedRef(known.root) }),
  },
);

function rootOf({ kind, root }: Pick<StoredTerms, 'kind' | 'root'>): PaymentRef | BindingRef {
  return kind === 'customer' ? { customerId: root.invoiceId, bindingId: root.paymentId } : root;
}

/** A series without a parent stores its root as its latest. */
export type RowState = Omit<Series, keyof SeriesTerms | 'latest'> & { readonly latest: PaymentRef };
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

/** The hash chain covers their text as it is stored. */
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
    opens: optional(oneOf(true)),
  },
  recurring_charge_unsent: member,
  obligation_ended: { invoiceId: text, failingSince: optional(instant), notBefore: optional(notBefore) },
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

/** The bundle with its facts read, for a page about it. */
export function readBundle(bundle: Bundle) {
  const entries = bundle.entries.map((entry) => ({ ...entry, facts: seriesFact.known(entry.facts) }));
  return { ...bundle, entries };
}

export const duties: Codec<Duties> = object({
  announceEachHours: optional(wholeNumber),
  emailsBy: optional(oneOf('service', 'merchant')),
  chargeUnannounced: optional(flag),
});
export const recurringSettings: Codec<RecurringSettings> = object({
  terms: optional(mandateTerms),
  timeZone: optional(text),
  enforceMaxGap: optional(flag),
  enforceAmount: optional(flag),
  periodRule: optional(oneOf('warn', 'refuse')),
  requireConsentEvidence: optional(flag),
  needsApiKey: optional(flag),
  pauseByPayer: optional(flag),
  newCardByPayer: optional(flag),
  contact: optional(text),
  language: optional(receiptLanguage),
  duties: optional(duties),
});
