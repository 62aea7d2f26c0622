import { expect, test } from 'vitest';
import { laterBy, parseInstant, type Instant } from '../../../clock.ts';
import { isRemembered } from './memory.ts';

const begun = parseInstant('2026-01-19T10:00:00Z') as Instant;
const minute = 60_000;

test.each([
  ['always', 1_000 * 24 * 60 * minute, true],
  [24 * 60 * minute, 23 * 60 * minute - 1, true],
  [24 * 60 * minute, 23 * 60 * minute, false],
  [10 * minute, 9 * minute - 1, true],
  [10 * minute, 9 * minute, false],
] as const)('a bank that remembers %s does so after %s: %s', (repeatableMs, ageMs, expected) => {
  expect(isRemembered(begun, { repeatableMs }, laterBy(begun, ageMs))).toBe(expected);
});

test('an operation without a time is remembered only by a bank that forgets nothing', () => {
  expect(isRemembered(undefined, { repeatableMs: 'always' }, begun)).toBe(true);
  expect(isRemembered(undefined, { repeatableMs: 24 * 60 * minute }, begun)).toBe(false);
});
