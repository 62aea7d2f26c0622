// An amount that differs a little from what was asked for, so that invoices of one price differ. Pure: the draw comes in.
export type RandomAmount = {
  readonly deviationMinor: bigint;
  /** The difference is a multiple of 10 to this power. */
  readonly precision: number;
  readonly direction: 'both' | 'upward' | 'downward';
  readonly minMinor?: bigint;
  readonly maxMinor?: bigint;
  readonly multipleOfMinor?: bigint;
  /** Large and evenly distributed. */
  readonly draw: bigint;
};

/** The lowest and the highest amount that it can become. An amount that does not meet the conditions stays as it is. */
export function rangeOf(amountMinor: bigint, wish: RandomAmount): readonly [lowest: bigint, highest: bigint] {
  if (!meetsConditions(amountMinor, wish)) return [amountMinor, amountMinor];
  const most = wish.deviationMinor - (wish.deviationMinor % stepOf(wish));
  const lowest = wish.direction === 'upward' ? amountMinor : amountMinor - most;
  return [lowest, wish.direction === 'downward' ? amountMinor : amountMinor + most];
}

/** Each amount of the range that is whole steps away has the same chance. */
export function drawnAmount(amountMinor: bigint, wish: RandomAmount): bigint {
  const [lowest, highest] = rangeOf(amountMinor, wish);
  const step = stepOf(wish);
  return lowest + (wish.draw % ((highest - lowest) / step + 1n)) * step;
}

function stepOf({ precision }: RandomAmount): bigint {
  return 10n ** BigInt(precision);
}

function meetsConditions(
  amountMinor: bigint,
  { minMinor = amountMinor, maxMinor = amountMinor, multipleOfMinor = 1n }: RandomAmount,
): boolean {
  return minMinor <= amountMinor && amountMinor <= maxMinor && amountMinor % multipleOfMinor === 0n;
}
