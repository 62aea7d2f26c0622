// Parts of amounts. Each line is rounded once, and the last of several parts takes the rest.
import { epochMsOf, type Instant } from '../../../clock.ts';
import { lineCostMinor, type CartLine } from '../../../invoices/domain/invoice.ts';

/** Rounded half up. */
export function shareOf(amountMinor: bigint, part: bigint, whole: bigint): bigint {
  return (2n * amountMinor * part + whole) / (2n * whole);
}

/** One unit of each line, for a part of its price. */
export function partOfLines(lines: readonly CartLine[], part: number, whole: number): CartLine[] {
  return lines.map((line) => ({
    ...line,
    quantity: 1n,
    priceMinor: shareOf(lineCostMinor(line), BigInt(part), BigInt(whole)),
  }));
}

export function sumOf(lines: readonly CartLine[]): bigint {
  return lines.reduce((sum, line) => sum + lineCostMinor(line), 0n);
}

/** A total in equal parts. The last one takes the rest. */
export function instalmentsOf(totalMinor: bigint, count: number): { eachMinor: bigint; lastMinor: bigint } {
  const eachMinor = totalMinor / BigInt(count);
  return { eachMinor, lastMinor: totalMinor - eachMinor * BigInt(count - 1) };
}

/** What the time after an instant costs, by whole seconds. */
export function restOfLines(
  lines: readonly CartLine[],
  { startsAt, endsAt }: Span,
  from: Instant,
): CartLine[] {
  return partOfLines(lines, secondOf(endsAt) - secondOf(from), secondOf(endsAt) - secondOf(startsAt));
}

export type Proration = {
  /** For the unused time of the old lines, at most what was paid. */
  readonly creditMinor: bigint;
  /** For the same time of the new lines. */
  readonly chargeMinor: bigint;
};

type Span = { readonly startsAt: Instant; readonly endsAt: Instant };

/** What a change of lines costs in the rest of a period, by whole seconds. */
export function prorate(
  period: Span,
  paidMinor: bigint,
  change: { readonly from: readonly CartLine[]; readonly to: readonly CartLine[]; readonly at: Instant },
): Proration {
  const valueOf = (lines: readonly CartLine[]) => sumOf(restOfLines(lines, period, change.at));
  const unused = valueOf(change.from);
  return { creditMinor: unused < paidMinor ? unused : paidMinor, chargeMinor: valueOf(change.to) };
}

function secondOf(instant: Instant): number {
  return Math.floor(epochMsOf(instant) / 1_000);
}
