// The table of retries, as data: hours from the creation of the first failing attempt, which becomes final in the same instant. Rows
// about parents of another shop, races and repeats need a service.
import { dayLong, hour, type Micros } from './calendar.ts';
import type { Network } from './declines.ts';
import type { Code } from './story.ts';

export interface RetryEvent {
  at: number;
  /** Absent: pending. */
  result?: 'captured' | 'unsent' | { code: string; advice?: string };
  invoice?: string;
  amount?: number;
  /** Another series of the shop on the card. */
  other?: true;
}

export interface RetryRow {
  name: string;
  /** Local time in the zone at hour 0. */
  begins?: { zone: string; at: string };
  network?: Network;
  events: readonly RetryEvent[];
  /** The payer saves a card again. */
  binds?: { at: number; card: 'same' | 'another' };
  asks: { at: number; invoice?: string; madeAt?: number; amount?: number; other?: true; plus?: Micros };
  expect: { code: Code; retryAfter?: number } | 'accepted';
}

const declined = { code: '51' };
const daily = (days: number): RetryEvent[] =>
  Array.from({ length: days }, (_, day) => ({ at: day * 24, result: declined, amount: 1000 + (day % 3) }));
const at = (hours: number, minutes: number, seconds = 0) => hours + minutes / 60 + seconds / 3600;
const noon = { zone: 'Europe/Moscow', at: '2026-11-02T12:00:00+03:00' };
const tooEarly = (retryAfter?: number) => ({
  code: 'recurrentRetryTooEarly' as const,
  ...(retryAfter !== undefined && { retryAfter }),
});
const stopped = { code: 'recurrentStopped' as const };

export const retryTable: readonly RetryRow[] = [
  {
    name: '1: a second before 22 h 45 min',
    begins: noon,
    events: [{ at: 0, result: declined }],
    asks: { at: at(22, 44, 59) },
    expect: tooEarly(22.75),
  },
  {
    name: '2: after 22 h 45 min, on the next date',
    begins: noon,
    events: [{ at: 0, result: declined }],
    asks: { at: 22.75 },
    expect: 'accepted',
  },
  {
    name: '2a: long enough, on the same date',
    begins: { zone: 'Europe/Moscow', at: '2026-11-02T00:05:00+03:00' },
    events: [{ at: 0, result: declined }],
    asks: { at: 23.75 },
    expect: tooEarly(at(23, 55)),
  },
  {
    name: '2b: clocks go forward in the night, same local time',
    begins: { zone: 'Europe/Berlin', at: '2027-03-27T12:00:00+01:00' },
    events: [{ at: 0, result: declined }],
    asks: { at: 23 },
    expect: 'accepted',
  },
  {
    name: '3: a success ends the episode',
    events: [
      { at: 0, result: declined },
      { at: 24, result: 'captured' },
    ],
    asks: { at: 25, invoice: 'B', madeAt: 25 },
    expect: 'accepted',
  },
  {
    name: '4: the last instant of 31 days',
    events: daily(31),
    asks: { at: 744, amount: 5000 },
    expect: 'accepted',
  },
  {
    name: '5: a millisecond later',
    events: daily(31),
    asks: { at: 744, plus: 1000, amount: 5000 },
    expect: { code: 'recurrentRetryWindowExpired' },
  },
  {
    name: '6: an invoice of later',
    events: daily(31),
    asks: { at: 745, invoice: 'B', madeAt: 745, amount: 5000 },
    expect: 'accepted',
  },
  {
    name: '7: another invoice and amount is a retry as well',
    events: [{ at: 0, result: declined }],
    asks: { at: 1, invoice: 'B', madeAt: 1, amount: 7000 },
    expect: tooEarly(24),
  },
  {
    name: '8: advice 27 waits four days',
    network: 'mastercard',
    events: [{ at: 0, result: { code: '51', advice: '27' } }],
    asks: { at: 95 },
    expect: tooEarly(96),
  },
  {
    name: '9: 15 declines of one amount',
    events: daily(15).map((event) => ({ ...event, amount: 1000 })),
    asks: { at: 16 * 24 },
    expect: { code: 'recurrentRetryLimitReached', retryAfter: 30 * 24 },
  },
  {
    name: '10: a lost card',
    events: [{ at: 0, result: { code: '41' } }],
    asks: { at: 40 * 24, invoice: 'B', madeAt: 40 * 24 },
    expect: stopped,
  },
  {
    name: '11: R1 stops the series',
    events: [{ at: 0, result: { code: 'R1' } }],
    asks: { at: 48, invoice: 'B', madeAt: 48 },
    expect: stopped,
  },
  {
    name: '11: R1 stops the other series of the shop on the card',
    events: [{ at: 0, result: { code: 'R1' } }],
    asks: { at: 48, invoice: 'B', madeAt: 48, other: true },
    expect: stopped,
  },
  {
    name: '12: another card starts clean',
    events: [{ at: 0, result: declined }],
    binds: { at: 2, card: 'another' },
    asks: { at: 3 },
    expect: 'accepted',
  },
  {
    name: '13: the same card does not',
    events: [{ at: 0, result: declined }],
    binds: { at: 2, card: 'same' },
    asks: { at: 3 },
    expect: tooEarly(24),
  },
  {
    name: '15: a pending retry blocks, without an end to wait for',
    events: [{ at: 0, result: declined }, { at: 24 }],
    asks: { at: 25 },
    expect: tooEarly(),
  },
  {
    name: '15: with no failure before, a pending attempt does not',
    events: [{ at: 24 }],
    asks: { at: 25, invoice: 'B', madeAt: 25 },
    expect: 'accepted',
  },
  {
    name: '16: never sent is no attempt',
    events: [{ at: 0, result: 'unsent' }],
    asks: { at: at(0, 0, 1) },
    expect: 'accepted',
  },
];

/** Hours of the table in instants. */
export function instantOf(hours: number, begins: Micros): Micros {
  return begins + Math.round(hours * hour);
}

/** Midnight in UTC, unless the row says otherwise. */
export const tableBegins: Micros = Math.floor(Date.UTC(2026, 10, 2) / 86_400_000) * dayLong;
