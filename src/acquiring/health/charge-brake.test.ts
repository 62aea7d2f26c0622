import { beforeEach, expect, test } from 'vitest';
import type { Instant } from '../../clock.ts';
import type { ChargeHeard } from '../domain/charge-heard.ts';
import { openChargeBrake, type ChargeBrake } from './charge-brake.ts';

let nowMs: number;
let heldUntil: Instant | null;
let brake: ChargeBrake;
beforeEach(() => {
  nowMs = 1_000_000_000_000;
  heldUntil = null;
  brake = openChargeBrake(() => nowMs);
});

/** Why the bank was held, of so many that ended so. */
function hear(times: number, ended: ChargeHeard['ended'], more: Partial<ChargeHeard> = {}): string[] {
  return Array.from({ length: times }, () =>
    brake.hear({ bankId: 'A', partyId: 'P', isRetry: false, ended, ...more }, heldUntil),
  ).flatMap((hold) => (hold ? [`${hold.because} ${hold.forMs / 60_000}`] : []));
}

test('more than three of ten that fail by a fault hold the bank for five minutes, and no fewer', () => {
  expect(hear(14, 'other')).toEqual([]);
  expect(hear(6, 'technical')).toEqual([]);
  expect(hear(1, 'technical')).toEqual(['technical 5']);
});

test('the first nineteen hold nothing, nor do those of another bank', () => {
  expect(hear(19, 'technical')).toEqual([]);
  expect(hear(19, 'technical', { bankId: 'B' })).toEqual([]);
  expect(hear(1, 'technical', { bankId: 'B' })).toEqual(['technical 5']);
});

test('what is older than a minute counts no more as a fault', () => {
  expect(hear(19, 'technical')).toEqual([]);
  nowMs += 60_000;
  expect(hear(19, 'technical')).toEqual([]);
  expect(hear(1, 'technical')).toEqual(['technical 5']);
});

test('more than nine of ten first charges that are declined without a reason hold the bank for an hour', () => {
  expect(hear(5, 'other')).toEqual([]);
  expect(hear(45, 'vague')).toEqual([]);
  nowMs += 4 * 60_000;
  expect(hear(1, 'vague')).toEqual(['vague 60']);
});

test('retries are declined more often, and do not count as such', () => {
  expect(hear(100, 'vague', { isRetry: true })).toEqual([]);
  expect(hear(49, 'vague')).toEqual([]);
  nowMs += 5 * 60_000;
  expect(hear(1, 'vague')).toEqual([]);
});

test('what has led to a hold, or was counted before a resume, does not hold the bank again', () => {
  expect(hear(20, 'technical')).toEqual(['technical 5']);
  heldUntil = '2026-01-19T10:05:00.000000Z' as Instant;
  expect(hear(19, 'technical')).toEqual([]);
  heldUntil = '2026-01-19T10:01:00.000000Z' as Instant;
  expect(hear(19, 'technical')).toEqual([]);
  expect(hear(1, 'technical')).toEqual(['technical 5']);
});

test('the charges of one merchant hold those of others only if too many of theirs fail as well', () => {
  expect(hear(9, 'other', { partyId: 'Q' })).toEqual([]);
  expect(hear(100, 'technical')).toEqual([]);
  expect(hear(3, 'technical', { partyId: 'Q' })).toEqual([]);
  expect(hear(1, 'technical', { partyId: 'Q' })).toEqual(['technical 5']);
});
