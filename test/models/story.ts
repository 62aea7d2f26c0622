// What a question about a recurring charge rests on: agreements, cards and every attempt that was ever made. Nothing in it is a
// state: no window, no counter and no stop is kept.
import type { Micros } from './calendar.ts';
import type { Network } from './declines.ts';

export interface Terms {
  currency: string;
  rule?: { kind: 'fixed' | 'upTo'; amount: number } | { kind: 'variable' };
  schedule?: string;
  /** Local dates as `2026-11-23`. Of a trial it is the last day. */
  trialEnd?: string;
  amountAfterTrial?: number;
  validUntil?: string;
}

/** The payer was present and agreed: with the first payment, a binding or a consent link. */
export interface Consent {
  at: Micros;
  terms: Terms;
}

export interface Shop {
  id: string;
  zone: string;
  enforceMaxGap?: boolean;
  enforceAmount?: boolean;
  periodRule?: 'warn' | 'refuse';
}

export interface Card {
  fingerprint: string;
  network: Network;
  /** `2027-04` */
  expires: string;
}

export interface Series {
  id: string;
  shop: string;
  fingerprint: string;
  /** In the order of time, the first is the root's. */
  consents: readonly [Consent, ...Consent[]];
  revokedAt?: Micros;
  /** Made before amounts were enforced. */
  isOld?: boolean;
}

export interface Invoice {
  id: string;
  createdAt: Micros;
}

export type Outcome = { at: Micros } & (
  | { kind: 'lost' | 'unsent' }
  /** `capturedAt` is later than `at` for a hold. */
  | { kind: 'captured'; capturedAt: Micros }
  /** Approved as a hold, and cancelled or expired later. */
  | { kind: 'released'; releasedAt: Micros }
  | { kind: 'declined'; code: string; advice?: string }
);

/** A payment. Without a series the payer was present and gave no consent. */
export interface Attempt {
  id: string;
  series?: string;
  shop: string;
  fingerprint: string;
  invoice: Invoice;
  amount: number;
  currency: string;
  payerPresent?: boolean;
  makeRecurrent?: boolean;
  createdAt: Micros;
  /** Absent while the attempt is pending. */
  outcome?: Outcome;
}

/** Given up, forgiven, paid elsewhere: no charge of the series is to collect the invoice any more. */
export interface Ended {
  series: string;
  invoice: string;
  at: Micros;
}

export interface Story {
  shops: readonly Shop[];
  cards: readonly Card[];
  series: readonly Series[];
  attempts: readonly Attempt[];
  ended?: readonly Ended[];
}

export interface Question {
  at: Micros;
  series: string;
  invoice: Invoice;
  amount: number;
  currency: string;
  /** The attempt named as parent. A saved card has none. */
  parent?: string;
}

export type Code =
  | 'recurrentRetryTooEarly'
  | 'recurrentRetryWindowExpired'
  | 'recurrentRetryLimitReached'
  | 'recurrentStopped'
  | 'recurrentConsentRevoked'
  | 'recurrentConsentExpired'
  | 'recurrentCardExpired'
  | 'recurrentParentStale'
  | 'recurrentAmountAboveConsent'
  | 'recurrentPeriodAlreadyCharged';

export type Warning =
  | 'recurrentGapExceeded'
  | 'recurrentParentNotLatest'
  | 'amountAboveConsent'
  | 'amountBelowConsent'
  | 'periodAlreadyCharged';

/** Refusals have no rank, so all that apply are named. None: the charge may be made. */
export interface Answer {
  refusals: Code[];
  retryAfter?: Micros;
  warnings: Warning[];
}
