// While sums are corrected, a group may be less than nothing for a while, and groups may cancel each other out.
import { expect, test } from 'vitest';
import { percentsBy, totalsBy } from './totals.ts';

const row = (key: string, n: bigint) => ({ key, n, amount_minor: 100n * n });
const keyOf = ({ key }: { readonly key: string }) => key;

test('a total is of something', () => {
  const rows = [row('none', 2n), row('some', 3n), row('none', -2n), row('less', -1n)];
  expect(totalsBy(rows, keyOf)).toEqual([{ key: 'some', count: 3n, minor: 300n }]);
});

test('shares are of what is there', () => {
  expect(percentsBy([row('visa', 1n), row('unknown', -1n)], keyOf)).toMatchObject([
    { key: 'visa', percents: 100 },
  ]);
  expect(percentsBy([row('visa', 1n), row('visa', -1n)], keyOf)).toEqual([]);
  expect(percentsBy([], keyOf)).toEqual([]);
});
