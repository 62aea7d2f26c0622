// What follows when a charge of a subscription has ended, or was refused before it was sent.
import { latest, laterBy, type Instant } from '../../clock.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import { defined } from '../../defined.ts';
import type { ChargeRefusal } from '../../retry-rules/domain/may-charge.ts';
import type { StopScope } from '../../retry-rules/domain/response-codes.ts';
import type { Revocation } from '../../recurring/domain/series.ts';
import {
  decideConsentEnded,
  decidePaid,
  decideRevoked,
  finalAction,
  givingUp,
  openPeriod,
  reasonToGiveUp,
  settled,
} from './commands.ts';
import { givesUpAt, nextTryAt } from './dunning/dunning.ts';
import {
  caseAfter,
  evolveAll,
  policyOfPeriod,
  type OpenPeriod,
  type Subscription,
  type SubscriptionFact,
} from './subscription.ts';

type Facts = readonly SubscriptionFact[];

export type ChargeEnding =
  | { readonly outcome: 'captured' }
  | {
      readonly outcome: 'failed';
      readonly declineClass: DeclineClass;
      /** A stop of this charge alone leaves the next period untouched. */
      readonly stop?: StopScope;
      /** The earliest time at which the rules allow a charge again. */
      readonly retryAfter?: Instant;
    }
  /** The bank was unavailable, or gets no charges for a time, and nothing was sent. */
  | { readonly outcome: 'unsent'; readonly isHeld?: true; readonly retryAfter?: Instant }
  | {
      readonly outcome: 'refused';
      readonly code: ChargeRefusal['code'] | 'customerNotReady';
      readonly retryAfter?: Instant;
      readonly revokedBy?: Revocation['by'];
    };

/** Who can help after a refusal that counts as a failure. */
export const classOfRefusal = {
  recurrentParentStale: 'configuration',
  recurrentAmountAboveConsent: 'payerPresent',
  recurrentStopped: 'newCard',
  recurrentCardExpired: 'newCard',
} as const;

/** When a charge that no rule gives a time for is tried again. */
const postponedMs = 3_600_000;
/** When a charge that failed by a mistake of the merchant's or the operator's is tried again. */
const mistakeMs = 24 * 3_600_000;

/** What was not sent, by what the rules or a hold say of it. */
export function triedAgainAt(retryAfter: Instant | undefined, now: Instant): Instant {
  return retryAfter !== undefined && retryAfter > now ? retryAfter : laterBy(now, postponedMs);
}

/** Nothing, if the payment is not the one in progress: its outcome was recorded before. */
export function decideChargeEnded(
  subscription: Subscription,
  { number, paymentId }: { readonly number: number; readonly paymentId: string },
  ending: ChargeEnding,
  now: Instant,
): Facts {
  const period = openPeriod(subscription, number);
  if (!period || period.charging !== paymentId) return [];
  switch (ending.outcome) {
    case 'captured':
      return decidePaid(subscription, number, 'charge', now);
    case 'failed':
      return afterFailure(subscription, period, ending, now);
    case 'unsent': {
      const why = ending.isHeld ? 'held' : 'unsent';
      return postponed(subscription, period, { why, retryAfter: ending.retryAfter }, now);
    }
    case 'refused':
      return afterRefusal(subscription, period, ending, now).map((fact) =>
        fact.type === 'charge_failed' ? { ...fact, isUnsent: true } : fact,
      );
  }
}

function afterFailure(
  subscription: Subscription,
  period: OpenPeriod,
  { declineClass, stop, retryAfter }: ChargeEnding & { outcome: 'failed' },
  now: Instant,
): Facts {
  const { number } = period;
  const failed = { type: 'charge_failed', number, declineClass } as const;
  const { phase, schedule, terms } = subscription;
  if (phase === 'ended' || stop === 'charge') return givenUp(subscription, failed, now);
  if (phase === 'unpaid' || !schedule) return [failed];
  // The merchant's or the operator's mistake ends nothing for the payer, and is corrected sooner or later.
  if (declineClass === 'configuration')
    return [{ ...failed, nextTryAt: latest(laterBy(now, mistakeMs), retryAfter ?? now) }];
  const policy = policyOfPeriod(subscription, period);
  const so = caseAfter(period, declineClass, now);
  const failure = { at: now, declineClass, ...defined({ retryAfter }) };
  const next = nextTryAt(policy, so, failure, { id: terms.id, zone: schedule.zone });
  return [{ ...failed, ...defined({ nextTryAt: next }), givesUpAt: givesUpAt(policy, so.firstFailedAt) }];
}

type Failed = SubscriptionFact & { type: 'charge_failed' };

/** This period only. The next one is another obligation. */
function givenUp(subscription: Subscription, failed: Failed, now: Instant): Facts {
  return settled(
    subscription,
    [failed, { type: 'period_closed', number: failed.number, outcome: 'unpaid' }],
    now,
  );
}

type Postponement = {
  readonly why: string;
  readonly retryAfter: Instant | undefined;
  /** The payer's own declines make it wait, and dunning does not. Otherwise the try is made, however late. */
  readonly byDeclines?: boolean;
};

/** Nothing was sent, so it is no failure of the payer's. */
function postponed(
  subscription: Subscription,
  { number, givesUpAt: end }: OpenPeriod,
  { why, retryAfter, byDeclines = false }: Postponement,
  now: Instant,
): Facts {
  const at = triedAgainAt(retryAfter, now);
  const until = byDeclines && end !== undefined && at >= end ? undefined : at;
  const later = { type: 'charge_postponed', number, why, ...defined({ until }) } as const;
  return subscription.phase === 'ended'
    ? [later, { type: 'period_closed', number, outcome: 'unpaid' }]
    : [later];
}

function afterRefusal(
  subscription: Subscription,
  period: OpenPeriod,
  { code, retryAfter, revokedBy }: ChargeEnding & { outcome: 'refused' },
  now: Instant,
): Facts {
  const failing = (declineClass: DeclineClass) =>
    afterFailure(subscription, period, { outcome: 'failed', declineClass }, now);
  const { phase, terms } = subscription;
  const { number } = period;
  const failed: Failed = { type: 'charge_failed', number, declineClass: 'stopped' };
  switch (code) {
    case 'recurrentRetryTooEarly':
    case 'recurrentRetryLimitReached':
      return postponed(subscription, period, { why: code, retryAfter, byDeclines: true }, now);
    // The bank waits, or the payer has paid for this time.
    case 'recurrentTerminalPaused':
    case 'recurrentPeriodAlreadyCharged':
      return postponed(subscription, period, { why: code, retryAfter }, now);
    case 'recurrentParentStale':
    case 'recurrentAmountAboveConsent':
    case 'recurrentStopped':
    case 'recurrentCardExpired':
      return failing(classOfRefusal[code]);
    case 'recurrentConsentRevoked':
    case 'recurrentConsentExpired': {
      if (phase === 'ended') return failing('stopped');
      const after = evolveAll(subscription, [failed], now);
      const isRevoked = code === 'recurrentConsentRevoked';
      return [
        failed,
        ...(isRevoked ? decideRevoked(after, revokedBy) : decideConsentEnded(after, 'consentEnded')),
      ];
    }
    case 'recurrentRetryWindowExpired':
      if (phase === 'ended' || phase === 'unpaid') return failing('stopped');
      // No stop of a bank: its time is over.
      return [failed, ...finalAction(evolveAll(subscription, [failed], now), number, reasonToGiveUp(period))];
    case 'customerNotReady': {
      if (phase !== 'running' || !endsTrial(subscription)) return failing('newCard');
      const noCard: Failed = { ...failed, declineClass: 'newCard' };
      const after = evolveAll(subscription, [noCard], now);
      return [noCard, ...givingUp(after, number, terms.trialWithoutCard)];
    }
  }
}

/** No charge has reached a bank yet, and no period has been paid otherwise. */
function endsTrial({ schedule, hasCharged }: Subscription): boolean {
  return !hasCharged && (schedule?.leading.some(({ kind }) => kind === 'trial') ?? false);
}
