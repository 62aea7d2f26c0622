// What a reconciliation has found, counted and added up; of each class the first differences are kept for the list, so that a
// book that has nothing to do with ours does not fill the memory.
import {
  differenceClasses,
  type Difference,
  type DifferenceClass,
  type Classification,
} from './difference.ts';

export type Sum = {
  readonly class: DifferenceClass;
  readonly currency: string;
  readonly number: number;
  readonly atStakeMinor: bigint;
};

export type Totals = {
  readonly equal: number;
  /** Under way here, for no longer than it may be. */
  readonly open: number;
  /** At the edge of the period, so that it may be in the book before or after. */
  readonly edge: number;
  /** By class, the most dangerous first, and currency. */
  readonly sums: readonly Sum[];
  /** The same order, and then by operation. */
  readonly differences: readonly Difference[];
};

export function openTotals(maxList: number) {
  const counts = { equal: 0, open: 0, edge: 0 };
  const sums = new Map<string, Sum>();
  const listed = new Map<DifferenceClass, Difference[]>();

  function addDifference(difference: Difference): void {
    const { class: name, currency, atStakeMinor } = difference;
    const key = `${name} ${currency}`;
    const before = sums.get(key) ?? { class: name, currency, number: 0, atStakeMinor: 0n };
    sums.set(key, {
      ...before,
      number: before.number + 1,
      atStakeMinor: before.atStakeMinor + atStakeMinor,
    });
    const list = listed.get(name) ?? [];
    if (list.length < maxList) list.push(difference);
    listed.set(name, list);
  }

  return {
    add(equal: number, classifications: readonly Classification[]): void {
      counts.equal += equal;
      for (const classification of classifications) {
        if (typeof classification === 'string') counts[classification] += 1;
        else addDifference(classification);
      }
    },
    result(): Totals {
      const classes = Object.keys(differenceClasses) as DifferenceClass[];
      const place = (sum: Sum) => classes.indexOf(sum.class);
      return {
        ...counts,
        sums: [...sums.values()].sort(
          (a, b) => place(a) - place(b) || (a.currency < b.currency ? -1 : a.currency > b.currency ? 1 : 0),
        ),
        differences: classes.flatMap((name) => listed.get(name) ?? []),
      };
    },
  };
}
