import { describe, expect, test } from 'vitest';
import { laterBy, parseInstant } from '../../../clock.ts';
import { endsChallenge, isUndecided, nextPoll, openChallengeIn, type Challenged } from './challenge.ts';

const now = parseInstant('2026-01-19T10:00:00Z')!;
const open = {
  name: 'challenged',
  interaction: { method: 'GET', url: 'https://issuer.example/' },
  until: laterBy(now, 60_000),
} as const satisfies Challenged;
const completed = { ...open, isCompleted: true } as const;
const authorising = { name: 'authorising' } as const;
const failed = { name: 'failed' } as const;

describe('a challenge', () => {
  test('is queried every 15 seconds, and at its end', () => {
    expect(nextPoll(open, now)).toBe(laterBy(now, 15_000));
    expect(nextPoll(open, laterBy(now, 50_000))).toBe(open.until);
  });

  test('is completed once', () => {
    expect(openChallengeIn(open)).toBe(open);
    for (const state of [completed, authorising, failed])
      expect(() => openChallengeIn(state)).toThrow(`What is ${state.name} has no interaction to complete.`);
  });

  test('ends before the first change, unless that completes it', () => {
    const change = { type: 'payment_processed' };
    expect(endsChallenge(open, [change])).toBe(true);
    expect(endsChallenge(open, [])).toBe(false);
    for (const type of ['payment_interaction_completed', 'binding_interaction_completed'])
      expect(endsChallenge(open, [{ type }, change])).toBe(false);
    for (const state of [completed, authorising, failed]) expect(endsChallenge(state, [change])).toBe(false);
  });
});

test('an authorisation is undecided until the bank has decided', () => {
  expect([authorising, open, completed, failed].map((state) => isUndecided(state))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
