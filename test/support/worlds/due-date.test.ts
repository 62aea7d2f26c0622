import { expect, test } from 'vitest';
import { dueAfter } from './due-date.ts';

const now = '2030-01-01T00:00:00.000Z';

test('a due date is at least a minute away', () => {
  expect(dueAfter(now, 60_000)).toBe('2030-01-01T00:01:00.000Z');
  for (const durationMs of [59_999, -1, Number.NaN])
    expect(() => dueAfter(now, durationMs)).toThrow('too early');
});
