// The fee for a service: a share of the amount and a fixed part, between a minimum and a maximum. Nothing else in the ledger rounds.

export type FeeSchedule = {
  /** Hundredths of a percent. */
  readonly basisPoints: bigint;
  readonly fixedMinor: bigint;
  readonly leastMinor?: bigint;
  readonly mostMinor?: bigint;
};

export const noFee: FeeSchedule = { basisPoints: 0n, fixedMinor: 0n };

/** What a shop is charged for. Without a schedule it is free. */
export type Fees = { readonly processing?: FeeSchedule; readonly refund?: FeeSchedule };

export function feeOf(amountMinor: bigint, schedule: FeeSchedule): bigint {
  const fee = roundHalfUp(amountMinor * schedule.basisPoints, 10_000n) + schedule.fixedMinor;
  if (schedule.leastMinor !== undefined && fee < schedule.leastMinor) return schedule.leastMinor;
  if (schedule.mostMinor !== undefined && fee > schedule.mostMinor) return schedule.mostMinor;
  return fee;
}

/** Neither is negative, so half up is also half away from zero. */
function roundHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}
