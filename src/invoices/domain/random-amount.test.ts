import { describe, expect, test } from 'vitest';
import { drawnAmount, rangeOf, type RandomAmount } from './random-amount.ts';

const wish = (more: Partial<RandomAmount> = {}): RandomAmount => ({
  deviationMinor: 250n,
  precision: 2,
  direction: 'both',
  draw: 0n,
  ...more,
});
/** Every amount that consecutive draws give. */
const drawnOf = (amountMinor: bigint, more: Partial<RandomAmount>) =>
  [
    ...new Set(
      Array.from({ length: 50 }, (_, draw) =>
        drawnAmount(amountMinor, wish({ ...more, draw: BigInt(draw) })),
      ),
    ),
  ].map(Number);

describe('an amount by chance', () => {
  test.each<[string, Partial<RandomAmount>, number[]]>([
    ['both ways', {}, [9_800, 9_900, 10_000, 10_100, 10_200]],
    ['upward', { direction: 'upward' }, [10_000, 10_100, 10_200]],
    ['downward', { direction: 'downward' }, [9_800, 9_900, 10_000]],
    ['in single units', { deviationMinor: 2n, precision: 0 }, [9_998, 9_999, 10_000, 10_001, 10_002]],
    ['by less than a step', { deviationMinor: 99n }, [10_000]],
    ['by nothing', { deviationMinor: 0n, precision: 0 }, [10_000]],
    ['in large steps', { deviationMinor: 100_000n, precision: 5, direction: 'upward' }, [10_000, 110_000]],
  ])('%s is one of these, each as often', (_, more, amounts) => {
    expect(drawnOf(10_000n, more)).toEqual(amounts);
    expect(rangeOf(10_000n, wish(more))).toEqual([BigInt(amounts[0]!), BigInt(amounts.at(-1)!)]);
  });

  test.each<[string, Partial<RandomAmount>, boolean]>([
    ['a minimum it has', { minMinor: 10_000n }, true],
    ['a higher minimum', { minMinor: 10_001n }, false],
    ['a maximum it has', { maxMinor: 10_000n }, true],
    ['a lower maximum', { maxMinor: 9_999n }, false],
    ['a factor', { multipleOfMinor: 5_000n }, true],
    ['another factor', { multipleOfMinor: 3_000n }, false],
  ])('with %s as condition changes or stays', (_, more, changes) => {
    expect(drawnOf(10_000n, more).length > 1).toBe(changes);
  });
});
