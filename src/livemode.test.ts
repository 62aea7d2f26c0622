import { expect, test } from 'vitest';
import { livemodeOf, modeName, type ModeName } from './livemode.ts';

test('every mode has its name', () => {
  expect([true, false].map((livemode) => livemodeOf(modeName(livemode)))).toEqual([true, false]);
  expect(livemodeOf('sandbox')).toBe(false);
});

test.each(['', 'Live', undefined])('%j is not accepted as a mode', (stored) => {
  expect(() => livemodeOf(stored as ModeName)).toThrow(/is not a mode/);
});
