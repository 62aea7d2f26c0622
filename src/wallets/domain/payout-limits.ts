// Limits of payouts in one currency: per payout, and the turnover of an identity and of a card in a day and a month.
// Days and months are in UTC, on the party's clock.
import { instantAt, type Instant } from '../../clock.ts';
import { largestAmountMinor } from '../../money.ts';
import { refuse, accept, type Outcome } from '../../refusal.ts';
import type { Level } from '../../identities/domain/provider.ts';
import { defined } from '../../defined.ts';

/** In minor units. Undefined means no limit. */
export type TurnoverLimits = {
  readonly perDayMinor?: bigint;
  readonly perMonthMinor?: bigint;
  readonly payoutsPerDay?: bigint;
};

export type PayoutLimits = TurnoverLimits & {
  readonly minMinor?: bigint;
  readonly perPayoutMinor?: bigint;
  /** For one card. What is not given here is as for one identity. */
  readonly card?: TurnoverLimits;
};

/** Stands for every party, network or level. */
export const any = '*';

/** A row that an operator set. The amounts are in the currency's own minor units, so there is no row for all currencies. */
export type LimitRule = {
  readonly partyId: string;
  readonly network: string;
  readonly currency: string;
  readonly level: Level | typeof any;
  readonly limits: PayoutLimits;
  readonly source: { readonly setBy: string; readonly setAt: Instant; readonly reason: string };
};

export type LimitKey = { readonly level: Level; readonly currency: string; readonly network?: string };

/** The most specific row: the party's own before one for all, then that of the network, then that of the level. */
export function limitsIn(rules: readonly LimitRule[], key: LimitKey): PayoutLimits | undefined {
  const { level, currency, network = any } = key;
  const specificity = (rule: LimitRule) =>
    (rule.partyId === any ? 0 : 4) + (rule.network === any ? 0 : 2) + (rule.level === any ? 0 : 1);
  return rules
    .filter((rule) => rule.currency === currency)
    .filter((rule) => [any, network].includes(rule.network) && [any, level].includes(rule.level))
    .sort((a, b) => specificity(b) - specificity(a))[0]?.limits;
}

/** A transfer has no network. If rows are only for single networks, the least of each limit applies. */
export function transferLimitsIn(
  rules: readonly LimitRule[],
  key: Omit<LimitKey, 'network'>,
): TurnoverLimits | undefined {
  const ofAll = limitsIn(rules, key);
  if (ofAll) return ofAll;
  const each = rules.flatMap(({ network }) => limitsIn(rules, { ...key, network }) ?? []);
  if (each.length === 0) return undefined;
  const least = (limit: keyof TurnoverLimits) =>
    each.reduce<bigint | undefined>((known, { [limit]: one }) => {
      return known === undefined || (one !== undefined && one < known) ? one : known;
    }, undefined);
  return defined({
    perDayMinor: least('perDayMinor'),
    perMonthMinor: least('perMonthMinor'),
    payoutsPerDay: least('payoutsPerDay'),
  });
}

/** For a sandbox in which no row is set: the range of the contract's test environment, in minor units of any currency. */
export const sandboxLimits: PayoutLimits = { minMinor: 100n, perPayoutMinor: 60_000_000n };

/** What an identity or a card has paid out or received in a day and a month, with the payout in question. */
export type Turnover = {
  readonly subject: string;
  readonly dayMinor: bigint;
  readonly dayPayouts: bigint;
  readonly monthMinor: bigint;
};

/** Whose turnover a payout adds to, and how much that may be. */
export type Counter = { readonly subject: string; readonly limits: TurnoverLimits };

/** A transfer to another identity has no card. */
export function countersOf(
  { card, perDayMinor, perMonthMinor, payoutsPerDay }: PayoutLimits,
  { identityId, cardHash }: { readonly identityId: string; readonly cardHash?: Buffer },
): Counter[] {
  const ofIdentity: TurnoverLimits = defined({ perDayMinor, perMonthMinor, payoutsPerDay });
  const ofCard = { ...ofIdentity, ...card };
  return [
    { subject: `identity:${identityId}`, limits: ofIdentity },
    ...(cardHash ? [{ subject: `card:${cardHash.toString('hex')}`, limits: ofCard }] : []),
  ].filter((counter) => hasLimit(counter.limits));
}

/** Whether a card's hash is needed, which may have to be read. */
export function countsCards({ card, ...limits }: PayoutLimits): boolean {
  return hasLimit({ ...limits, ...card });
}

function hasLimit({ perDayMinor, perMonthMinor, payoutsPerDay }: TurnoverLimits): boolean {
  return perDayMinor !== undefined || perMonthMinor !== undefined || payoutsPerDay !== undefined;
}

export function periodsOf(at: Instant): { readonly day: string; readonly month: string } {
  return { day: at.slice(0, 10), month: at.slice(0, 7) };
}

/** Also refuses a payout that exceeds a whole day or month, because waiting would not help. */
export function requirePerPayout(
  limits: PayoutLimits,
  minor: bigint,
): Outcome<undefined, 'invalidCashAmount' | 'payoutLimitPerPayout'> {
  const { minMinor = 1n, perPayoutMinor } = limits;
  const least = minMinor < 1n ? 1n : minMinor;
  if (minor < least || minor > largestAmountMinor)
    return refuse('invalidCashAmount', { hint: `Pay out ${least} to ${largestAmountMinor} minor units.` });
  if (perPayoutMinor !== undefined && minor > perPayoutMinor)
    return refuse('payoutLimitPerPayout', { hint: atMost(perPayoutMinor, 'one payout') });
  return requireOneTurnover(limits, minor);
}

/** A single amount that exceeds a whole day or month. */
export function requireOneTurnover(
  { card, ...limits }: PayoutLimits,
  minor: bigint,
): Outcome<undefined, 'payoutLimitPerPayout'> {
  for (const { perDayMinor, perMonthMinor } of [limits, { ...limits, ...card }]) {
    if (perDayMinor !== undefined && minor > perDayMinor)
      return refuse('payoutLimitPerPayout', { hint: atMost(perDayMinor, 'a day') });
    if (perMonthMinor !== undefined && minor > perMonthMinor)
      return refuse('payoutLimitPerPayout', { hint: atMost(perMonthMinor, 'a month') });
  }
  return accept(undefined);
}

function atMost(limit: bigint, per: string): string {
  return `The limit is ${limit} minor units for ${per}.`;
}

export type TurnoverRefusal = 'payoutLimitPerDay' | 'payoutLimitPerMonth' | 'payoutLimitNumberPerDay';

/** The refusal that lasts longest, so that a caller who waits is not refused again the next day. */
export function requireTurnover(
  counters: readonly Counter[],
  turnovers: readonly Turnover[],
  now: Instant,
): Outcome<undefined, TurnoverRefusal> {
  const refusals = turnovers.flatMap((turnover) => {
    const counter = counters.find(({ subject }) => subject === turnover.subject);
    const within = counter ? requireOne(counter.limits, turnover, now) : accept(undefined);
    return within.ok ? [] : [within];
  });
  const until = ({ refusal }: (typeof refusals)[number]) => refusal.details?.['retryAfter'] ?? '~';
  return refusals.sort((a, b) => (until(a) < until(b) ? 1 : -1))[0] ?? accept(undefined);
}

function requireOne(
  { perDayMinor, perMonthMinor, payoutsPerDay }: TurnoverLimits,
  turnover: Turnover,
  now: Instant,
): Outcome<undefined, TurnoverRefusal> {
  // If no payout is allowed, no wait helps.
  if (payoutsPerDay === 0n) return refuse('payoutLimitNumberPerDay');
  if (perMonthMinor !== undefined && turnover.monthMinor > perMonthMinor) {
    const hint = atMost(perMonthMinor, 'a month');
    return refuse('payoutLimitPerMonth', { hint, details: { retryAfter: nextMonth(now) } });
  }
  if (perDayMinor !== undefined && turnover.dayMinor > perDayMinor) {
    const hint = atMost(perDayMinor, 'a day');
    return refuse('payoutLimitPerDay', { hint, details: { retryAfter: nextDay(now) } });
  }
  if (payoutsPerDay !== undefined && turnover.dayPayouts > payoutsPerDay) {
    const hint = `The limit is ${payoutsPerDay} payouts a day.`;
    return refuse('payoutLimitNumberPerDay', { hint, details: { retryAfter: nextDay(now) } });
  }
  return accept(undefined);
}

function nextDay(now: Instant): Instant {
  return instantAt(
    Date.UTC(Number(now.slice(0, 4)), Number(now.slice(5, 7)) - 1, Number(now.slice(8, 10)) + 1),
  );
}

function nextMonth(now: Instant): Instant {
  return instantAt(Date.UTC(Number(now.slice(0, 4)), Number(now.slice(5, 7))));
}
