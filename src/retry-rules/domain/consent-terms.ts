// What the payer agreed to, as far as it limits charges: amounts, a currency, and one charge in each period.
import type { Instant } from '../../clock.ts';
import type { Currency, Money } from '../../money.ts';
import { endOfDay } from './calendar.ts';
import { everyOf, periodAt, type Period } from './periods.ts';
import { localDayOf } from './time-zones.ts';

export type AgreedTerms = {
  readonly mandate: {
    readonly schedule: string;
    readonly amountRule?:
      | { readonly kind: 'fixed' | 'upTo'; readonly amountMinor: number }
      | { readonly kind: 'variable'; readonly text: string };
    readonly trialEnd?: string;
    readonly amountAfterTrialMinor?: number;
    readonly payment: { readonly currency: Currency };
  };
  /** When the payer was last present and authenticated: the capture of the first payment, or a renewal. */
  readonly consentedAt: Instant;
  /** The first instant after the trial, in the shop's zone of that time. Older series have none and end it in UTC. */
  readonly trialEndsAt?: Instant;
};

/** The largest amount that the payer agreed to, at one instant. Undefined: any amount. */
function agreedAmountAt(
  terms: AgreedTerms,
  now: Instant,
): { readonly minor: number; readonly isFixed: boolean } | undefined {
  const { amountRule, amountAfterTrialMinor } = terms.mandate;
  const isFixed = amountRule?.kind === 'fixed';
  const trialEndsAt = trialEndOf(terms);
  if (amountAfterTrialMinor !== undefined && trialEndsAt !== undefined && now >= trialEndsAt)
    return { minor: amountAfterTrialMinor, isFixed };
  return amountRule && amountRule.kind !== 'variable'
    ? { minor: amountRule.amountMinor, isFixed }
    : undefined;
}

export type AmountFinding =
  /** `until`: when another amount applies. */
  | { readonly is: 'above'; readonly rule: 'amount' | 'currency'; readonly until?: Instant }
  | { readonly is: 'below' };

/** How an amount differs from what the payer agreed to. */
export function compareWithConsent(
  terms: AgreedTerms,
  amount: Money,
  now: Instant,
): AmountFinding | undefined {
  if (amount.currency !== terms.mandate.payment.currency) return { is: 'above', rule: 'currency' };
  const agreed = agreedAmountAt(terms, now);
  if (agreed === undefined) return undefined;
  if (amount.minor > agreed.minor) {
    const until = trialEndOf(terms);
    return { is: 'above', rule: 'amount', ...(until !== undefined && now < until ? { until } : {}) };
  }
  return agreed.isFixed && amount.minor < agreed.minor ? { is: 'below' } : undefined;
}

export function trialEndOf({ mandate, trialEndsAt }: Pick<AgreedTerms, 'mandate' | 'trialEndsAt'>) {
  return trialEndsAt ?? (mandate.trialEnd === undefined ? undefined : endOfDay(mandate.trialEnd, 'UTC'));
}

/** The period at an instant, if a charge was captured in it. Periods are counted from the consent. */
export function chargedPeriod(
  { mandate, consentedAt: from }: AgreedTerms,
  lastCapturedAt: Instant | undefined,
  timeZone: string,
  now: Instant,
): Period | undefined {
  const { schedule, trialEnd } = mandate;
  const every = lastCapturedAt === undefined ? undefined : everyOf(schedule);
  if (lastCapturedAt === undefined || !every) return undefined;
  const period = periodAt({ every, from, ...(trialEnd === undefined ? {} : { trialEnd }) }, timeZone, now);
  return localDayOf(lastCapturedAt, timeZone) >= period.start ? period : undefined;
}
