// Decides whether a series may be charged now; if not, by which rule and until when. A merchant's check and the charge
// itself both use it, so that they cannot differ.
import { laterBy, type Instant } from '../../clock.ts';
import { monthsAfter } from './calendar.ts';
import { nextPackAfter, packIdOf, packsInForce, type Counter, type RulePack } from './rule-packs.ts';
import { failingEndsAt, seriesAt, type Failing } from './failures.ts';

type PaymentName = { readonly invoiceId: string; readonly paymentId: string };

export type ChargedSeries = Failing & {
  readonly state:
    | { readonly name: 'active' | 'withdrawn' }
    | { readonly name: 'stopped'; readonly rule: string; readonly pack: string };
  readonly card: Failing['card'] & { readonly endsAt: Instant };
  /** When the payer was last present and authenticated. */
  readonly consentedAt: Instant;
  readonly endsAt?: Instant;
  readonly latest: PaymentName;
  readonly lastSuccessAt: Instant;
  readonly notBefore?: { readonly at: Instant; readonly rule: string; readonly pack: string };
};

/** The latest stop of the card. It may be older than the consent. */
export type CardStop = { readonly at: Instant; readonly rule: string; readonly pack: string };

/** A decline of the same card. `isOfCharge`: same shop, amount and currency, payer not present. */
export type Decline = { readonly at: Instant; readonly isOfCharge: boolean };

export type ChargeHistory = {
  readonly series: ChargedSeries;
  readonly cardStop?: CardStop;
  /** When the latest attempt was created that reached the bank, or may still reach it. */
  readonly lastAttemptAt?: Instant;
  readonly isAttemptPending: boolean;
  /** The issuer stopped this one charge. */
  readonly chargeStop?: CardStop;
  /** The declines of the last 30 days, oldest first. */
  readonly declines: readonly Decline[];
};

export type Charge = {
  /** When the invoice was created. `then`: it will be created for the charge. */
  readonly invoiceCreatedAt: Instant | 'then';
  /** The payment named as parent, if any. */
  readonly parent?: PaymentName;
  readonly enforceMaxGap?: boolean;
};

export type ChargeRefusal = {
  readonly code:
    | 'recurrentStopped'
    | 'recurrentConsentRevoked'
    | 'recurrentConsentExpired'
    | 'recurrentCardExpired'
    | 'recurrentRetryWindowExpired'
    | 'recurrentRetryTooEarly'
    | 'recurrentRetryLimitReached'
    | 'recurrentParentStale';
  readonly rule: string;
  readonly pack: string;
  /** The earliest time at which the charge is allowed, if nothing else changes. */
  readonly retryAfter?: Instant;
};

export type ChargeWarning = 'recurrentGapExceeded' | 'recurrentParentNotLatest';

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

export function mayCharge(standing: ChargeHistory, charge: Charge, now: Instant): ChargeDecision {
  const verdict = verdictAt(standing, charge, now);
  if (verdict.may) return verdict;
  const { recheckAt, ...refusal } = verdict;
  const retryAfter = recheckAt && firstAccepted(standing, charge, recheckAt);
  return { ...refusal, ...(retryAfter ? { retryAfter } : {}) };
}

type Refused = { readonly may: false; readonly recheckAt?: Instant } & ChargeRefusal;

/** Undefined if no later time would change the decision. */
function firstAccepted(standing: ChargeHistory, charge: Charge, from: Instant): Instant | undefined {
  for (let at = from; ;) {
    const verdict = verdictAt(standing, charge, at);
    if (verdict.may) return at;
    const { recheckAt } = verdict;
    if (recheckAt === undefined) return undefined;
    if (recheckAt <= at) throw new Error(`Rule ${verdict.rule} of ${verdict.pack} ends before it starts.`);
    at = recheckAt;
  }
}

/** The decision at one instant, and when it can change next. In between it is constant. */
function verdictAt(
  standing: ChargeHistory,
  charge: Charge,
  now: Instant,
): (ChargeDecision & { may: true }) | Refused {
  const series = seriesAt(standing.series, now);
  const packs = packsInForce(series.card.paymentSystem, now);
  const final = finalRefusal({ ...standing, series }, charge, packs, now);
  if (final) return { may: false, ...final };

  const { failingSince } = series;
  const house = packIdOf(packs[0] as RulePack);
  const failingEnd = failingSince === undefined ? undefined : failingEndsAt(failingSince, packs);
  // Events that change the decision: a pack comes into force, or a new invoice counts as a new obligation.
  const changes = [
    nextPackAfter(series.card.paymentSystem, now),
    failingEnd && charge.invoiceCreatedAt === 'then' ? laterBy(failingEnd, anInstantMs) : undefined,
  ];
  if (failingSince !== undefined && standing.isAttemptPending) {
    // The outcome of the pending attempt decides, and its time is unknown.
    return { may: false, code: 'recurrentRetryTooEarly', rule: 'attemptPending', pack: house };
  }
  const latest = latestOf(waits(standing, series, packs, now));
  if (latest) {
    const { until, ...refusal } = latest;
    return { may: false, ...refusal, recheckAt: earliestOf(until, changes) };
  }
  return {
    may: true,
    isRetry: failingSince !== undefined,
    packs: packs.map(packIdOf),
    warnings: warningsOf(series, charge, now),
  };
}

/** Refusals that end only with a new consent, card or invoice. */
function finalRefusal(
  { series, cardStop, chargeStop }: ChargeHistory,
  charge: Charge,
  packs: readonly RulePack[],
  now: Instant,
): ChargeRefusal | undefined {
  const house = packIdOf(packs[0] as RulePack);
  const { state, endsAt, card, deadUntil, lastSuccessAt } = series;
  if (state.name === 'withdrawn') return { code: 'recurrentConsentRevoked', rule: 'consent', pack: house };
  const stop =
    state.name === 'stopped' ? state : cardStop && cardStop.at >= series.consentedAt ? cardStop : chargeStop;
  if (stop) return { code: 'recurrentStopped', rule: stop.rule, pack: stop.pack };
  if (endsAt !== undefined && now >= endsAt) {
    return { code: 'recurrentConsentExpired', rule: 'consent', pack: house };
  }
  if (now >= card.endsAt) return { code: 'recurrentCardExpired', rule: 'cardExpiry', pack: house };
  const { invoiceCreatedAt } = charge;
  if (deadUntil !== undefined && invoiceCreatedAt !== 'then' && invoiceCreatedAt <= deadUntil) {
    return { code: 'recurrentRetryWindowExpired', rule: 'retryWindow', pack: house };
  }
  if (charge.enforceMaxGap && isGapExceeded(lastSuccessAt, now)) {
    return { code: 'recurrentParentStale', rule: 'gap', pack: house };
  }
  return undefined;
}

/** No invoice of the series can be charged any more, unless the payer consents again. */
export function canNeverCharge(series: ChargedSeries, now: Instant): boolean {
  const packs = packsInForce(series.card.paymentSystem, now);
  const standing = { series, isAttemptPending: false, declines: [] };
  return finalRefusal(standing, { invoiceCreatedAt: 'then' }, packs, now) !== undefined;
}

type Wait = {
  readonly code: 'recurrentRetryTooEarly' | 'recurrentRetryLimitReached';
  readonly until: Instant;
  readonly rule: string;
  readonly pack: string;
};

function waits(
  standing: ChargeHistory,
  series: ChargedSeries,
  packs: readonly RulePack[],
  now: Instant,
): Wait[] {
  const { lastAttemptAt, declines } = standing;
  const found: Wait[] = [];
  const { notBefore } = series;
  if (notBefore && now < notBefore.at) {
    const { at: until, rule, pack } = notBefore;
    found.push({ code: 'recurrentRetryTooEarly', until, rule, pack });
  }
  for (const pack of packs) {
    const name = packIdOf(pack);
    if (pack.retries && series.failingSince !== undefined && lastAttemptAt !== undefined) {
      const until = laterBy(lastAttemptAt, pack.retries.onceWithinMs);
      if (now < until) found.push({ code: 'recurrentRetryTooEarly', until, rule: 'onceADay', pack: name });
    }
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
  const { latest, lastSuccessAt } = series;
  const isLatest =
    !parent || (parent.invoiceId === latest.invoiceId && parent.paymentId === latest.paymentId);
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
  let latest: Wait | undefined;
  for (const each of found) if (!latest || each.until > latest.until) latest = each;
  return latest;
}

function earliestOf(first: Instant, others: readonly (Instant | undefined)[]): Instant {
  return others.reduce<Instant>((earliest, each) => (each && each < earliest ? each : earliest), first);
}
