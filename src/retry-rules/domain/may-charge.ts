// May this series be charged now? If not: why, by which rule of which pack, and from when on. Pure, and asked in two
// places that must not differ: by a merchant beforehand, and by the transaction that makes the charge.
import { laterBy, type Instant } from '../../clock.ts';
import { monthsAfter } from './calendar.ts';
import { nextPackAfter, packIdOf, packsInForce, type Counter, type RulePack } from './rule-packs.ts';
import { failingEndsAt, seriesAt, type Failing } from './failures.ts';

type PaymentName = { readonly invoiceId: string; readonly paymentId: string };

/** What the rules look at of a series. */
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

/** A stop of the card that may concern this series: the latest there is. */
export type CardStop = { readonly at: Instant; readonly rule: string; readonly pack: string };

/** A decline of the same card: of the same charge when shop, amount and currency are the same and no payer was there. */
export type Decline = { readonly at: Instant; readonly isOfCharge: boolean };

/** What is known when the question is asked. */
export type ChargeHistory = {
  readonly series: ChargedSeries;
  readonly cardStop?: CardStop;
  /** When the latest attempt was made that reached the bank, or may yet. */
  readonly lastAttemptAt?: Instant;
  readonly isAttemptPending: boolean;
  /** The issuer has stopped this very charge. */
  readonly chargeStop?: CardStop;
  /** Those of the last 30 days, the oldest first. */
  readonly declines: readonly Decline[];
};

export type Charge = {
  /** Of the invoice to be charged; `then`: one that will be made for it. */
  readonly invoiceCreatedAt: Instant | 'then';
  /** The payment named as parent, when one is. */
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
  /** The first moment it may be charged, if nothing else happens until then. */
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

/** How many months may lie between two charges, by the guidance of the networks. */
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

/** Undefined when it never will be, unless something happens. */
function firstAccepted(standing: ChargeHistory, charge: Charge, from: Instant): Instant | undefined {
  for (let at = from; ;) {
    const verdict = verdictAt(standing, charge, at);
    if (verdict.may) return at;
    const { recheckAt } = verdict;
    if (recheckAt === undefined) return undefined;
    if (recheckAt <= at) throw new Error(`the rule ${verdict.rule} of ${verdict.pack} ends before it holds`);
    at = recheckAt;
  }
}

/** The verdict at one moment, and when the next one may be another: nothing changes in between. */
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
  // What will be another question then: a pack that comes into force, an invoice that will be a new obligation.
  const changes = [
    nextPackAfter(series.card.paymentSystem, now),
    failingEnd && charge.invoiceCreatedAt === 'then' ? laterBy(failingEnd, anInstantMs) : undefined,
  ];
  if (failingSince !== undefined && standing.isAttemptPending) {
    // The end of that attempt decides, and nobody knows when that is.
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

/** Time does not heal these. */
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

/** No charge of the series comes any more, whatever the invoice; at most the payer consents anew, with his card. */
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

/** When the window of a counter has room again; undefined when it has room now. */
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

/** The strictest; among equals the first. */
function latestOf(found: readonly Wait[]): Wait | undefined {
  let latest: Wait | undefined;
  for (const each of found) if (!latest || each.until > latest.until) latest = each;
  return latest;
}

function earliestOf(first: Instant, others: readonly (Instant | undefined)[]): Instant {
  return others.reduce<Instant>((earliest, each) => (each && each < earliest ? each : earliest), first);
}
