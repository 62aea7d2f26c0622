import { expect, test, vi } from 'vitest';
import { parseInstant } from '../../../clock.ts';
import { RequestDeadline, timeoutMsOf } from './request-deadline.ts';

const now = parseInstant('2026-01-19T10:00:00Z')!;

test.each([
  [undefined, 60_000],
  ['500ms', 500],
  ['30s', 30_000],
  ['1m', 60_000],
  ['0.5m', 30_000],
  ['2.5m', 60_000],
  ['99999999999s', 60_000],
  ['2026-01-19T10:00:10Z', 10_000],
  ['2026-01-19T13:00:10+03:00', 10_000],
  ['2036-01-19T10:00:00Z', 60_000],
])('%s allows %d ms', (header, waitMs) => expect(timeoutMsOf(header, now)).toBe(waitMs));

test.each([
  '',
  '0s',
  '0.0ms',
  '1h',
  '10',
  's',
  '-1s',
  '1e3s',
  '.5s',
  '5.s',
  '1 s',
  '1S',
  'soon',
  '2026-01-19T10:00:00Z',
  '2020-01-01T00:00:00Z',
])('%j is not a deadline', (header) => expect(timeoutMsOf(header, now)).toBeUndefined());

test('a caller gets one late response when the deadline passes, and none after its response', () => {
  vi.useFakeTimers();
  try {
    const answered: string[] = [];
    const late = new RequestDeadline(100, () => answered.push('late'));
    const served = new RequestDeadline(100, () => answered.push('served'));
    vi.advanceTimersByTime(99);
    expect([late.isOver, served.isOver, answered]).toEqual([false, false, []]);
    served.end();
    vi.advanceTimersByTime(1_000);
    expect([late.isOver, served.isOver, answered]).toEqual([true, false, ['late']]);
  } finally {
    vi.useRealTimers();
  }
});
