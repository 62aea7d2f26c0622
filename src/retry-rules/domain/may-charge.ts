// Decides whether a series may be charged now; if not, by which rule and until when. A merchant's check and the charge
// itself both use it, so that they cannot differ.
import { laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Money } from '../../money.ts';
import { monthsAfter } from './calendar.ts';
import { chargedPeriod, compareWithConsent, type AgreedTerms } from './consent-terms.ts';
import { everyOf } from './periods.ts';
import { nextPackAfter, packIdOf, packsInForce, type Counter, type RulePack } from './rule-packs.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import { failingEndsAt, nextRetryAfter, seriesAt, type Failing } from './failures.ts';
import { startOfDay } from './time-zones.ts';

type PaymentName = { readonly invoiceId: string; readonly paymentId: string };

export type ChargedSeries = Failing &
  AgreedTerms & {
    readonly state: { readonly name: 'active' | 'withdrawn' } | ({ readonly name: 'stopped' } & StoppedBy);
    readonly card: Failing['card'] & { readonly endsAt: Instant };
    readonly endsAt?: Instant;
    /** Absent in series of before 0.3.0, whose amounts bind only if the shop says so. */
    readonly bindsAmount?: true;
    readonly latest?: PaymentName;
    readonly lastSuccessAt: Instant;
    readonly notBefore?: { readonly at: Instant; readonly rule: string; readonly pack: string };
  };

/** Decisions of older releases have no class. */
type StoppedBy = { readonly rule: string; readonly pack: string; readonly declineClass?: DeclineClass };

/** The latest stop of the card. It may be older than the consent. */
export type CardStop = { readonly at: Instant } & StoppedBy;

/** A decline of the same card. `isOfCharge`: same shop, amount and currency, payer not present. */
export type Decline = { readonly at: Instant; readonly isOfCharge: boolean };

export type ChargeHistory = {
  readonly series: ChargedSeries;
  readonly cardStop?: CardStop;
  /** When the latest attempt was created that reached the bank, or may still reach it. */
  readonly lastAttemptAt?: Instant;
  readonly isAttemptPending: boolean;
  /** When the latest charge on another invoice was captured. */
  readonly lastCapturedAt?: Instant;
  /** Until when a charge on another invoice is held, which was approved and not captured or released since. */
  readonly heldUntil?: Instant;
  /** The time zone of the shop. */
  readonly timeZone: string;
  /** The latest stop of this one invoice. It may be older than the consent. */
  readonly chargeStop?: CardStop;
  /** This one invoice was given up, forgiven or paid otherwise. */
  readonly hasObligationEnded?: true;
  /** The declines of the last 30 days, oldest first. */
  readonly declines: readonly Decline[];
};

export type Charge = {
  /** When the invoice was created. `then`: it will be created for the charge. */
  readonly invoiceCreatedAt: Instant | 'then';
  /** The payment named as parent, if any. */
  readonly parent?: PaymentName;
  /** Absent: not known yet, and not compared. */
  readonly amount?: Money;
  /** No person waits for the answer of this charge, so it lets another one of the series end first. */
  readonly waitsForOthers?: true;
} & ShopRules;

/** What a shop has made stricter, or left to a warning. */
export type ShopRules = {
  /** Refuses a charge after six months without one, instead of only warning. */
  readonly enforceMaxGap?: boolean;
  /** The amounts of series from before 0.3.0 bind too, instead of only warning. */
  readonly enforceAmount?: boolean;
  /** What happens to a second charge in one period of the schedule. Absent: a warning. */
  readonly periodRule?: 'warn' | 'refuse';
};

export const chargeRefusals = [
  'recurrentStopped',
  'recurrentConsentRevoked',
  'recurrentConsentExpired',
  'recurrentCardExpired',
  'recurrentRetryWindowExpired',
  'recurrentRetryTooEarly',
  'recurrentRetryLimitReached',
  'recurrentParentStale',
  'recurrentAmountAboveConsent',
  'recurrentPeriodAlreadyCharged',
  'recurrentTerminalPaused',
] as const;

export type ChargeRefusal = {
  readonly code: (typeof chargeRefusals)[number];
  readonly rule: string;
  readonly pack: string;
  /** Who can help, if a bank's response is the reason. */
  readonly declineClass?: DeclineClass;
  /** The earliest time at which the charge is allowed, if nothing else changes. */
  readonly retryAfter?: Instant;
};

export const chargeWarnings = [
  'recurrentGapExceeded',
  'recurrentParentNotLatest',
  'amountAboveConsent',
  'amountBelowConsent',
  'periodAlreadyCharged',
] as const;
export type ChargeWarning = (typeof chargeWarnings)[number];

export type ChargeDecision =
  | {
      readonly may: true;
      readonly isRetry: boolean;
      readonly packs: readonly string[];
      readonly warnings: readonly ChargeWarning[];
    }
  | ({ readonly may: false } & ChargeRefusal);

/** The largest gap in months between two charges, by network guidance. */
export const maxGapMonths = 6;
const anInstantMs = 1;
/** How long after a hold its capture may stay unknown. Older nodes do not say that a hold has ended. */
const captureUnknownMs = 7 * 24 * 3_600_000;

export function mayCharge(history: ChargeHistory, charge: Charge, now: Instant): ChargeDecision {
  const decision = decisionAt(history, charge, now);
  if (decision.may) return decision;
  const { recheckAt, ...refusal } = decision;
  const retryAfter = recheckAt && firstAccepted(history, charge, recheckAt);
  return { ...refusal, ...(retryAfter ? { retryAfter } : {}) };
}

/** No charge while all terminals of the shop are paused. What the rules refuse comes first. */
export function unlessPaused(decision: ChargeDecision, pausedUntil: Instant | undefined): ChargeDecision {
  if (!decision.may || pausedUntil === undefined) return decision;
  return {
    may: false,
    code: 'recurrentTerminalPaused',
    rule: 'terminalPaused',
    pack: decision.packs[0] as string,
    declineClass: 'configuration',
    retryAfter: pausedUntil,
  };
}

type Refused = { readonly may: false; readonly recheckAt?: Instant } & ChargeRefusal;

/** Undefined if no later time would change the decision. */
function firstAccepted(history: ChargeHistory, charge: Charge, from: Instant): Instant | undefined {
  for (let at = from; ;) {
    const decision = decisionAt(history, charge, at);
    if (decision.may) return at;
    const { recheckAt } = decision;
    if (recheckAt === undefined) return undefined;
    if (recheckAt <= at) throw new Error(`Rule ${decision.rule} of ${decision.pack} ends before it starts.`);
    at = recheckAt;
  }
}

/** The decision at one instant, and when it can change next. In between it is constant. */
function decisionAt(
  history: ChargeHistory,
  charge: Charge,
  now: Instant,
): (ChargeDecision & { may: true }) | Refused {
  const series = seriesAt(history.series, now);
  const packs = packsInForce(series.card.paymentSystem, now);
  const final = finalRefusal({ ...history, series }, charge, packs, now);
  if (final) return { may: false, ...final };

  const { failingSince } = series;
  const house = packIdOf(packs[0] as RulePack);
  const agreed = agreement({ ...history, series }, charge, now);
  const { period, periodRule } = agreed;
  const undecided = periodRule === 'refuse' && undecidedCharge(history, now);
  if (agreed.refusedFor) {
    const { rule, until } = agreed.refusedFor;
    const refusal = { code: 'recurrentAmountAboveConsent', rule, pack: house } as const;
    return { may: false, ...refusal, ...(until && !undecided ? { recheckAt: until } : {}) };
  }
  const failingEnd = failingSince === undefined ? undefined : failingEndsAt(failingSince, packs);
  // Events that change the decision: a pack comes into force, or a new invoice counts as a new obligation.
  const changes = [
    nextPackAfter(series.card.paymentSystem, now),
    failingEnd && charge.invoiceCreatedAt === 'then' ? laterBy(failingEnd, anInstantMs) : undefined,
  ];
  if (history.isAttemptPending && (failingSince !== undefined || charge.waitsForOthers)) {
    // The outcome of the pending attempt decides, and its time is unknown.
    return { may: false, code: 'recurrentRetryTooEarly', rule: 'attemptPending', pack: house };
  }
  if (undecided) return { may: false, code: 'recurrentPeriodAlreadyCharged', rule: undecided, pack: house };
  const found = waits(history, series, packs, now);
  if (period && periodRule === 'refuse') {
    const until = startOfDay(period.end, history.timeZone);
    found.push({ code: 'recurrentPeriodAlreadyCharged', until, rule: 'period', pack: house });
  }
  const strictest = latestOf(found);
  if (strictest) {
    const { until, ...refusal } = strictest;
    return { may: false, ...refusal, recheckAt: earliestOf(until, changes) };
  }
  return {
    may: true,
    isRetry: failingSince !== undefined,
    packs: packs.map(packIdOf),
    warnings: [...warningsOf(series, charge, now), ...agreed.warnings],
  };
}

/** A charge that may still take its money, in whichever period. Its outcome decides, and the time of that is unknown. */
function undecidedCharge({ isAttemptPending, heldUntil }: ChargeHistory, now: Instant) {
  if (isAttemptPending) return 'attemptPending';
  return heldUntil !== undefined && now < laterBy(heldUntil, captureUnknownMs) ? 'holdPending' : undefined;
}

/** What the charge has to do with the payer's consent. */
function agreement(
  { series, lastCapturedAt, timeZone }: ChargeHistory,
  { amount, enforceAmount, periodRule }: Charge,
  now: Instant,
) {
  const finding = amount && compareWithConsent(series, amount, now);
  const isAbove = finding?.is === 'above';
  const period = chargedPeriod(series, lastCapturedAt, timeZone, now);
  const warnings: ChargeWarning[] = [
    ...(isAbove ? (['amountAboveConsent'] as const) : []),
    ...(finding?.is === 'below' ? (['amountBelowConsent'] as const) : []),
    ...(period ? (['periodAlreadyCharged'] as const) : []),
  ];
  return {
    warnings,
    period,
    periodRule: everyOf(series.mandate.schedule) ? periodRule : undefined,
    refusedFor: isAbove && (series.bindsAmount || enforceAmount) ? finding : undefined,
  };
}

/** Refusals that end only with a new consent, card or invoice. */
function finalRefusal(
  { series, cardStop, chargeStop, hasObligationEnded }: ChargeHistory,
  charge: Charge,
  packs: readonly RulePack[],
  now: Instant,
): ChargeRefusal | undefined {
  const house = packIdOf(packs[0] as RulePack);
  const { state, endsAt, card, deadUntil, lastSuccessAt } = series;
  if (state.name === 'withdrawn') return { code: 'recurrentConsentRevoked', rule: 'consent', pack: house };
  const others = [cardStop, chargeStop].find((stop) => stop && isInForce(stop, series));
  const stop = state.name === 'stopped' ? state : others;
  if (stop) {
    const { rule, pack, declineClass } = stop;
    return { code: 'recurrentStopped', rule, pack, ...defined({ declineClass }) };
  }
  if (endsAt !== undefined && now >= endsAt) {
    return { code: 'recurrentConsentExpired', rule: 'consent', pack: house };
  }
  if (now >= card.endsAt) return { code: 'recurrentCardExpired', rule: 'cardExpiry', pack: house };
  const { invoiceCreatedAt } = charge;
  if (deadUntil !== undefined && invoiceCreatedAt !== 'then' && invoiceCreatedAt <= deadUntil) {
    return { code: 'recurrentRetryWindowExpired', rule: 'retryWindow', pack: house };
  }
  if (hasObligationEnded)
    return { code: 'recurrentRetryWindowExpired', rule: 'obligationEnded', pack: house };
  if (charge.enforceMaxGap && isGapExceeded(lastSuccessAt, now)) {
    return { code: 'recurrentParentStale', rule: 'gap', pack: house };
  }
  return undefined;
}

/** A stop concerns the consents given before it. */
export function isInForce({ at }: CardStop, { consentedAt }: Pick<ChargedSeries, 'consentedAt'>): boolean {
  return at >= consentedAt;
}

/** No invoice of the series can be charged any more, unless the payer consents again. */
export function canNeverCharge(series: ChargedSeries, now: Instant): boolean {
  const packs = packsInForce(series.card.paymentSystem, now);
  const history = { series, isAttemptPending: false, declines: [], timeZone: 'UTC' };
  return finalRefusal(history, { invoiceCreatedAt: 'then' }, packs, now) !== undefined;
}

type Wait = {
  readonly code: 'recurrentRetryTooEarly' | 'recurrentRetryLimitReached' | 'recurrentPeriodAlreadyCharged';
  readonly until: Instant;
  readonly rule: string;
  readonly pack: string;
};

function waits(
  history: ChargeHistory,
  series: ChargedSeries,
  packs: readonly RulePack[],
  now: Instant,
): Wait[] {
  const { lastAttemptAt, declines, timeZone } = history;
  const found: Wait[] = [];
  const { notBefore } = series;
  if (notBefore && now < notBefore.at) {
    const { at: until, rule, pack } = notBefore;
    found.push({ code: 'recurrentRetryTooEarly', until, rule, pack });
  }
  if (series.failingSince !== undefined && lastAttemptAt !== undefined) {
    const next = nextRetryAfter(lastAttemptAt, packs, timeZone);
    if (next && now < next.at) {
      const { at: until, ...by } = next;
      found.push({ code: 'recurrentRetryTooEarly', until, ...by });
    }
  }
  for (const pack of packs) {
    const name = packIdOf(pack);
    for (const counter of pack.counters) {
      const until = fullUntil(counter, declines, now);
      if (until) found.push({ code: 'recurrentRetryLimitReached', until, rule: counter.rule, pack: name });
    }
  }
  return found;
}

/** When the counter's window has space again. Undefined if it has space now. */
function fullUntil(
  { maxDeclines, withinMs, of }: Counter,
  declines: readonly Decline[],
  now: Instant,
): Instant | undefined {
  const opened = laterBy(now, -withinMs);
  const inside = declines.filter(({ at, isOfCharge }) => at > opened && (of === 'card' || isOfCharge));
  const first = inside[inside.length - maxDeclines];
  return first && laterBy(first.at, withinMs);
}

function warningsOf(series: ChargedSeries, { parent }: Charge, now: Instant): ChargeWarning[] {
  const { latest: last, lastSuccessAt } = series;
  const isLatest =
    !parent || !last || (parent.invoiceId === last.invoiceId && parent.paymentId === last.paymentId);
  return [
    ...(isGapExceeded(lastSuccessAt, now) ? (['recurrentGapExceeded'] as const) : []),
    ...(isLatest ? [] : (['recurrentParentNotLatest'] as const)),
  ];
}

function isGapExceeded(lastSuccessAt: Instant, now: Instant): boolean {
  return now > monthsAfter(lastSuccessAt, maxGapMonths);
}

/** The strictest wait. The first one among equals. */
function latestOf(found: readonly Wait[]): Wait | undefined {
  let last: Wait | undefined;
  for (const each of found) if (!last || each.until > last.until) last = each;
  return last;
}

function earliestOf(first: Instant, others: readonly (Instant | undefined)[]): Instant {
  return others.reduce<Instant>((earliest, each) => (each && each < earliest ? each : earliest), first);
}
