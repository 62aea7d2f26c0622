// The figures of Today, worked out from the sums of the API. Pure.
import type { Minor } from '../minor.ts';

type OffsetCounts = readonly { readonly offset: number; readonly count: number }[];
export type SplitCounts = {
  readonly result: readonly {
    readonly currency: string;
    readonly statusOffsetCounts: readonly { readonly status: string; readonly offsetCount: OffsetCounts }[];
    readonly declinedOffsetCount: OffsetCounts;
  }[];
};
export type SplitAmounts = {
  readonly result: readonly {
    readonly currency: string;
    readonly offsetAmounts: readonly { readonly offset: number; readonly amount: Minor }[];
  }[];
};
export type Attempt = {
  readonly attempt: number;
  readonly currency: string;
  readonly approved: number;
  readonly declined: number;
};
export type Decline = {
  readonly declineClass?: string;
  readonly code?: string;
  readonly currency: string;
  readonly count: number;
  readonly amount: Minor;
};

export const kinds = ['captured', 'open', 'cancelled', 'failed'] as const;
export type Kind = (typeof kinds)[number];
const kindOf: Readonly<Record<string, Kind>> = {
  captured: 'captured',
  refunded: 'captured',
  pending: 'open',
  processed: 'open',
  cancelled: 'cancelled',
  failed: 'failed',
};
const approvedStatuses = ['processed', 'captured', 'refunded', 'cancelled'];

/** Payments of a part of the range. Approved and declined are those that a bank decided: others failed before. */
export type Part = Readonly<Record<Kind, number>> & {
  readonly startMs: number;
  readonly all: number;
  readonly approved: number;
  readonly declined: number;
  readonly amount: bigint;
};

export function partsOf(counts: SplitCounts, amounts: SplitAmounts, currency: string): readonly Part[] {
  const same = counts.result.find((one) => one.currency === currency);
  const byStatus = same?.statusOffsetCounts ?? [];
  const sums = amounts.result.find((one) => one.currency === currency)?.offsetAmounts ?? [];
  const [first] = byStatus;
  return (first?.offsetCount ?? []).map(({ offset }, index) => {
    const countOf = (isMeant: (status: string) => boolean) =>
      byStatus
        .filter(({ status }) => isMeant(status))
        .reduce((sum, { offsetCount }) => sum + (offsetCount[index]?.count ?? 0), 0);
    const ofKind = (kind: Kind) => countOf((status) => kindOf[status] === kind);
    return {
      startMs: offset,
      captured: ofKind('captured'),
      open: ofKind('open'),
      cancelled: ofKind('cancelled'),
      failed: ofKind('failed'),
      all: countOf(() => true),
      approved: countOf((status) => approvedStatuses.includes(status)),
      declined: same?.declinedOffsetCount[index]?.count ?? 0,
      amount: BigInt(sums.find((one) => one.offset === offset)?.amount ?? 0),
    };
  });
}

/** Of so few, a share says little. */
export const fewest = 30;

export type Share = {
  readonly part: number;
  readonly of: number;
  /** Undefined of too few. */
  readonly rate: number | undefined;
  /** Where the true rate lies in 95 of 100 cases: the interval of Wilson. */
  readonly low: number;
  readonly high: number;
};

export function shareOf(part: number, of: number): Share {
  if (of === 0) return { part, of, rate: undefined, low: 0, high: 1 };
  const z = 1.96;
  const rate = part / of;
  const width = 1 + z ** 2 / of;
  const middle = (rate + z ** 2 / (2 * of)) / width;
  const half = (z * Math.sqrt((rate * (1 - rate)) / of + z ** 2 / (4 * of ** 2))) / width;
  return {
    part,
    of,
    rate: of < fewest ? undefined : rate,
    low: Math.max(0, middle - half),
    high: Math.min(1, middle + half),
  };
}

export function totalOf(parts: readonly Part[], what: Exclude<keyof Part, 'startMs' | 'amount'>): number {
  return parts.reduce((sum, part) => sum + part[what], 0);
}

export function amountOf(parts: readonly Part[]): bigint {
  return parts.reduce((sum, { amount }) => sum + amount, 0n);
}

export const charges = ['present', 'first', 'retries'] as const;

/** Approval with the payer present, of first recurring charges, and of retries. */
export function approvalOf(attempts: readonly Attempt[], charge: (typeof charges)[number]): Share {
  const isMeant = { present: 0, first: 1, retries: 2 }[charge];
  const same = attempts.filter(({ attempt }) => Math.min(attempt, 2) === isMeant);
  const approved = same.reduce((sum, one) => sum + one.approved, 0);
  return shareOf(
    approved,
    same.reduce((sum, { declined }) => sum + declined, approved),
  );
}

/** Of the retries that are decided, those approved. What they retry may be of days before, so they are no share of its declines. */
export function retriesOf(attempts: readonly Attempt[]): readonly (Share & { readonly retry: number })[] {
  return attempts
    .filter(({ attempt }) => attempt > 1)
    .toSorted((one, other) => one.attempt - other.attempt)
    .map(({ attempt, approved, declined }) => ({
      retry: attempt - 1,
      ...shareOf(approved, approved + declined),
    }));
}

/** Of retries of subscriptions on one day since the first failure, as the API counts them. */
export type Recovery = { readonly value: string; readonly count: number; readonly recovered: number };
export type Recovered = { readonly day: number; readonly share: Share };

/** Every day from the failure to the last one with a retry, also those without. */
export function recoveredOf(recoveries: readonly Recovery[]): readonly Recovered[] {
  const byDay = new Map(recoveries.map((one) => [Number(one.value), one]));
  const last = Math.max(-1, ...byDay.keys());
  return Array.from({ length: last + 1 }, (_, day) => {
    const { recovered, count } = byDay.get(day) ?? { recovered: 0, count: 0 };
    return { day, share: shareOf(recovered, count) };
  });
}

/** The most frequent class first. One that a newer release brings, or none, is the empty text. */
export function classesOf(declines: readonly Decline[]) {
  const classes = [...new Set(declines.map(({ declineClass }) => declineClass ?? ''))];
  return classes
    .map((declineClass) => {
      const same = declines.filter((one) => (one.declineClass ?? '') === declineClass);
      return {
        declineClass,
        count: same.reduce((sum, { count }) => sum + count, 0),
      };
    })
    .toSorted((one, other) => other.count - one.count);
}
