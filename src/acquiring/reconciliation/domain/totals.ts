// Counts and sums the differences of a reconciliation. Only the first of each class are listed, so that the report of
// a wrong bank does not fill the memory.
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
  /** Pending in Mandate, within the time allowed. */
  readonly open: number;
  /** At the edge of the period, so that the report before or after may have it. */
  readonly edge: number;
  /** By class, most dangerous first, then by currency. */
  readonly sums: readonly Sum[];
  /** By class in the same order, then by operation. */
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
