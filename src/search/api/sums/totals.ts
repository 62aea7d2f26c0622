// Adds up rows of sums.

type Row = { readonly n: bigint; readonly amount_minor: bigint };
type Total = { readonly key: string; readonly count: bigint; readonly minor: bigint };

/** Those of something, in the order in which the keys come first: a correction may leave a group at nothing or less for a while. */
export function totalsBy<One extends Row>(rows: readonly One[], keyOf: (row: One) => string): Total[] {
  const totals = new Map<string, Total>();
  for (const row of rows) {
    const key = keyOf(row);
    const { count, minor } = totals.get(key) ?? { count: 0n, minor: 0n };
    totals.set(key, { key, count: count + row.n, minor: minor + row.amount_minor });
  }
  return [...totals.values()].filter(({ count }) => count > 0n);
}

/** Those that failed without a class were not decided by a bank, such as those whose payer left 3-D Secure. */
export function isDeclined(row: { readonly status: string; readonly decline_class: string }): boolean {
  return row.status === 'failed' && row.decline_class !== '';
}

/** The share of each key, in hundredths of a percent; the largest first. */
export function percentsBy<One extends Row>(
  rows: readonly One[],
  keyOf: (row: One) => string,
): (Total & { readonly percents: number })[] {
  const totals = totalsBy(rows, keyOf);
  const all = totals.reduce((sum, { count }) => sum + count, 0n);
  return totals
    .map((total) => ({
      ...total,
      percents: Math.round(Number((total.count * 1_000_000n) / all) / 100) / 100,
    }))
    .toSorted((one, other) => Number(other.count - one.count));
}
