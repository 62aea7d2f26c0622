import { describe, expect, test } from 'vitest';
import { laterBy, parseInstant, type Instant } from '../../clock.ts';
import {
  guardAfter,
  isUnderAttack,
  outcomeOfFailure,
  waitSecondsFor,
  type AttemptTimes,
} from './attempt-limits.ts';

const now = parseInstant('2026-03-02T10:00:00Z')!;
const minuteMs = 60_000;
/** The latest first. */
const ago = (...minutes: number[]): Instant[] => minutes.map((each) => laterBy(now, -each * minuteMs));
const none: AttemptTimes = { open: [], declined: [], mismatched: [], paid: [] };

describe('a failure counts as', () => {
  test.each<[string, string[]]>([
    ['mismatched', ['authorization_failed', 'payment_tool_rejected', 'bank_card_rejected', 'cvv_invalid']],
    ['mismatched', ['authorization_failed', 'payment_tool_rejected', 'bank_card_rejected', 'card_expired']],
    ['declined', ['authorization_failed', 'insufficient_funds']],
    ['declined', ['authorization_failed', 'unknown']],
    ['declined', ['preauthorization_failed', 'three_ds_failed']],
    ['undecided', ['preauthorization_failed', 'three_ds_not_finished']],
    ['undecided', ['authorization_failed', 'temporarily_unavailable']],
    ['undecided', ['authorization_failed', 'processing_deadline_reached']],
    ['undecided', ['authorization_failed', 'merchant_blocked']],
    ['undecided', ['authorization_failed', 'operation_blocked']],
    ['undecided', ['timeout']],
  ])('%s: %j', (outcome, failure) => expect(outcomeOfFailure(failure)).toBe(outcome));
});

describe('the wait', () => {
  const tenTimes = ago(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  const allTimes = [...tenTimes, ...tenTimes];
  test.each<[string, 'card' | 'address', Partial<AttemptTimes>, number | undefined]>([
    ['none without attempts', 'card', {}, undefined],
    ['none below four declines', 'card', { declined: ago(1, 2, 3) }, undefined],
    ['until the fourth latest decline is an hour old', 'card', { declined: ago(1, 2, 3, 50) }, 10 * 60],
    ['none once the fourth is an hour old', 'card', { declined: ago(1, 2, 3, 60) }, undefined],
    [
      'until the ninth latest is a day old',
      'card',
      { declined: ago(70, 71, 72, 73, 74, 75, 76, 77, 1430) },
      10 * 60,
    ],
    ['until the third latest mismatch is an hour old', 'card', { mismatched: ago(1, 2, 59) }, 60],
    ['seconds, while attempts are open', 'card', { open: ago(0, 0, 0) }, 10],
    ['none for an open attempt of long ago', 'card', { open: ago(61, 61, 61) }, undefined],
    [
      'none for nine open attempts at an address',
      'address',
      { open: ago(0, 0, 0, 0, 0, 0, 0, 0, 0) },
      undefined,
    ],
    ['seconds for ten', 'address', { open: ago(0, 0, 0, 0, 0, 0, 0, 0, 0, 0) }, 10],
    ['none once they are a minute old', 'address', { open: ago(1, 1, 1, 1, 1, 1, 1, 1, 1, 1) }, undefined],
    [
      'seconds for open ones and declines',
      'address',
      { open: ago(0), declined: ago(1, 2, 3, 4, 5, 6, 7, 8, 9) },
      10,
    ],
    [
      'none for nine declines at an address',
      'address',
      { declined: ago(1, 2, 3, 4, 5, 6, 7, 8, 9) },
      undefined,
    ],
    ['for the tenth', 'address', { declined: ago(1, 2, 3, 4, 5, 6, 7, 8, 9, 59) }, 60],
    ['none for mismatches at an address', 'address', { mismatched: ago(1, 2, 3, 4) }, undefined],
    [
      'none for a tenth decline where a card pays',
      'address',
      { declined: tenTimes, paid: ago(5) },
      undefined,
    ],
    ['for the eleventh', 'address', { declined: [...tenTimes, ...ago(59)], paid: ago(5) }, 60],
    [
      'for the tenth, if the card paid an hour ago',
      'address',
      { declined: tenTimes, paid: ago(60) },
      50 * 60,
    ],
    ['none where more than ten cards pay', 'address', { declined: allTimes, paid: allTimes }, undefined],
    ['the longest of all', 'card', { declined: ago(1, 2, 3, 50), mismatched: ago(1, 2, 3) }, 57 * 60],
  ])('is %s (%s)', (_what, kind, times, seconds) => {
    expect(waitSecondsFor(kind, { ...none, ...times }, now)).toBe(seconds);
  });
});

describe('a shop is under attack', () => {
  test.each([
    [true, 21, 0, { approved: 0, declined: 0 }],
    [false, 20, 0, { approved: 0, declined: 0 }],
    [false, 80, 20, { approved: 0, declined: 0 }],
    [true, 81, 19, { approved: 90, declined: 10 }],
    [false, 89, 11, { approved: 20, declined: 80 }],
    [true, 91, 9, { approved: 20, declined: 80 }],
    [false, 50, 0, { approved: 0, declined: 100 }],
  ])('%s with %i declined, %i approved and usually %j', (expected, declined, approved, usual) => {
    expect(isUnderAttack({ declined, approved }, usual)).toBe(expected);
  });

  test('first it challenges, then it refuses, and after half an hour it begins again', () => {
    const first = guardAfter(undefined, now);
    expect(first).toEqual({ mode: 'challenge', since: now, until: laterBy(now, 30 * minuteMs) });
    expect(guardAfter(first, laterBy(now, minuteMs)).mode).toBe('refuse');
    expect(guardAfter(first, first.until).mode).toBe('challenge');
  });
});
