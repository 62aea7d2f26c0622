// Limits of payouts from a wallet, by the level of its identity: per payout, day and month, and payouts per day.
// Days and months are in UTC, on the party's clock.
import { instantAt, type Instant } from '../../clock.ts';
import { modeName, type ModeName } from '../../livemode.ts';
import { decimalsOf, largestAmountMinor, type Currency } from '../../money.ts';
import { refuse, accept, type Outcome } from '../../refusal.ts';
import type { Level } from '../../identities/domain/provider.ts';
import { defined } from '../../defined.ts';

/** In minor units. Undefined means no limit. */
export type PayoutLimits = {
  readonly perPayoutMinor?: bigint;
  readonly perDayMinor?: bigint;
  readonly perMonthMinor?: bigint;
  readonly payoutsPerDay?: bigint;
};

/** The smallest payout that card networks accept, whatever was agreed. */
const smallestPayoutMinor = 100n;

/** In whole units of any currency. Undefined means no limit. */
type UsualLimits = {
  readonly perPayout: bigint;
  readonly perDay?: bigint;
  readonly perMonth?: bigint;
  readonly payoutsPerDay?: bigint;
};

/** The sandbox limits nothing but what the test cards need. */
const sandboxLimits: UsualLimits = { perPayout: 600_000n };

const usualLimits: Readonly<Record<ModeName, Readonly<Record<Level, UsualLimits>>>> = {
  test: { anonymous: sandboxLimits, partial: sandboxLimits, identified: sandboxLimits },
  live: {
    anonymous: { perPayout: 15_000n, perDay: 15_000n, perMonth: 40_000n, payoutsPerDay: 10n },
    partial: { perPayout: 60_000n, perDay: 200_000n, perMonth: 600_000n, payoutsPerDay: 100n },
    identified: { perPayout: 600_000n },
  },
};

/** For a party with which no limits were agreed. */
export function usualLimitsOf(livemode: boolean, level: Level, currency: Currency): PayoutLimits {
  const { perPayout, perDay, perMonth, payoutsPerDay } = usualLimits[modeName(livemode)][level];
  const unitMinor = 10n ** BigInt(decimalsOf(currency));
  const inMinor = (units: bigint | undefined) => units && units * unitMinor;
  return defined({
    perPayoutMinor: inMinor(perPayout),
    perDayMinor: inMinor(perDay),
    perMonthMinor: inMinor(perMonth),
    payoutsPerDay,
  });
}

export function countsTurnover({ perDayMinor, perMonthMinor, payoutsPerDay }: PayoutLimits): boolean {
  return perDayMinor !== undefined || perMonthMinor !== undefined || payoutsPerDay !== undefined;
}

export function periodsOf(at: Instant): { readonly day: string; readonly month: string } {
  return { day: at.slice(0, 10), month: at.slice(0, 7) };
}

/** Paid out this day and this month, including the payout in question. */
export type Turnover = {
  readonly dayMinor: bigint;
  readonly dayPayouts: bigint;
  readonly monthMinor: bigint;
};

/** Also refuses a payout that exceeds a whole day or month, because waiting would not help. */
export function requirePerPayout(
  { perPayoutMinor, perDayMinor, perMonthMinor }: PayoutLimits,
  minor: bigint,
): Outcome<undefined, 'invalidCashAmount' | 'payoutLimitPerPayout'> {
  if (minor < smallestPayoutMinor || minor > largestAmountMinor) return refuse('invalidCashAmount');
  const isBeyond = (limit?: bigint) => limit !== undefined && minor > limit;
  if ([perPayoutMinor, perDayMinor, perMonthMinor].some(isBeyond)) return refuse('payoutLimitPerPayout');
  return accept(undefined);
}

export type TurnoverRefusal = 'payoutLimitPerDay' | 'payoutLimitPerMonth' | 'payoutLimitNumberPerDay';

export function requireTurnover(
  limits: PayoutLimits,
  turnover: Turnover,
  now: Instant,
): Outcome<undefined, TurnoverRefusal> {
  const { perDayMinor, perMonthMinor, payoutsPerDay } = limits;
  // If no payout is allowed, no wait helps.
  if (payoutsPerDay === 0n) return refuse('payoutLimitNumberPerDay');
  // The longest period first, so that a caller who waits is not refused again the next day.
  if (perMonthMinor !== undefined && turnover.monthMinor > perMonthMinor) {
    return refuse('payoutLimitPerMonth', { details: { retryAfter: nextMonth(now) } });
  }
  if (perDayMinor !== undefined && turnover.dayMinor > perDayMinor) {
    return refuse('payoutLimitPerDay', { details: { retryAfter: nextDay(now) } });
  }
  if (payoutsPerDay !== undefined && turnover.dayPayouts > payoutsPerDay) {
    return refuse('payoutLimitNumberPerDay', { details: { retryAfter: nextDay(now) } });
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
