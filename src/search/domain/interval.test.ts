// Wilson's interval, by values that were worked out elsewhere.
import { expect, test } from 'vitest';
import { intervalOf } from './interval.ts';

test.each([
  [0, 10, 0, 0.2775],
  [1, 10, 0.0179, 0.4042],
  [5, 10, 0.2366, 0.7634],
  [10, 10, 0.7225, 1],
  [0, 0, 0, 1],
  [300, 1_000, 0.2724, 0.3291],
])('%i of %i are %d to %d', (hits, count, from, until) => {
  const interval = intervalOf(hits, count);
  expect(interval.from).toBeCloseTo(from, 3);
  expect(interval.until).toBeCloseTo(until, 3);
});
