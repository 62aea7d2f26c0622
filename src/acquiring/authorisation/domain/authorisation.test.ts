import { describe, expect, test } from 'vitest';
import { laterBy, parseInstant } from '../../../clock.ts';
import type { BankResponse } from '../../domain/bank-port.ts';
import { interpretAuthorisation, notFinal, sendUntil, type Authorisation } from './authorisation.ts';

const now = parseInstant('2026-01-19T10:00:00Z')!;
const minute = 60_000;
const whenLate = ['timeout'] as const;
const approved = { outcome: 'approved', reference: '900000000001', advice: '03' } as const;
const declined = { outcome: 'declined', network: 'visa', code: '51' } as const;
const interaction = { method: 'GET', url: 'https://issuer.example/' } as const;
const payerNeeded = { outcome: 'payerNeeded', interaction } as const;
const notFound = { outcome: 'notFound' } as const;
const silent: readonly BankResponse[] = [
  { outcome: 'unknown', why: 'timeout' },
  { outcome: 'notSent', why: 'closed' },
  { outcome: 'pending' },
];

const authorising: Authorisation = {
  state: { name: 'authorising' },
  sendUntil: laterBy(now, 3 * minute),
  deadline: laterBy(now, 30 * minute),
  whenLate,
};
/** Nothing but its own time ends it. */
const challenged: Authorisation = {
  ...authorising,
  state: { name: 'challenged', until: laterBy(now, 40 * minute) },
};
const [end, nearlyEnd] = [laterBy(now, 30 * minute), laterBy(now, 30 * minute - 1)];
const [endOfChallenge, nearlyEndOfChallenge] = [laterBy(now, 40 * minute), laterBy(now, 40 * minute - 1)];
const [endOfSending, nearlyEndOfSending] = [laterBy(now, 3 * minute), laterBy(now, 3 * minute - 1)];

describe('the response to an authorisation', () => {
  test.each([
    ['sent', authorising, end],
    ['challenged', challenged, endOfChallenge],
  ] as const)('decides one that is %s, however late it comes', (_, authorisation, when) => {
    const approval = { reference: '900000000001' };
    expect(interpretAuthorisation(authorisation, approved, when)).toEqual({ outcome: 'approved', approval });
    expect(interpretAuthorisation(authorisation, declined, when)).toEqual(declined);
  });

  test.each([
    ['sent', authorising, nearlyEnd, end, whenLate],
    [
      'challenged',
      challenged,
      nearlyEndOfChallenge,
      endOfChallenge,
      ['preauthorization_failed', 'three_ds_not_finished'],
    ],
  ] as const)(
    'proves nothing of one that is %s until its time is up',
    (_, authorisation, before, at, failure) => {
      for (const answer of silent) {
        expect(interpretAuthorisation(authorisation, answer, before)).toEqual(notFinal(answer, before));
        expect(interpretAuthorisation(authorisation, answer, at)).toEqual({ outcome: 'tooLate', failure });
      }
      for (const answer of [payerNeeded, notFound])
        expect(interpretAuthorisation(authorisation, answer, at)).toEqual({ outcome: 'tooLate', failure });
    },
  );

  test('ends one that the bank never received once it may not be sent any more', () => {
    expect(interpretAuthorisation(authorising, notFound, nearlyEndOfSending)).toHaveProperty('unknown');
    expect(interpretAuthorisation(authorising, notFound, endOfSending)).toEqual({
      outcome: 'tooLate',
      failure: whenLate,
    });
    expect(interpretAuthorisation(challenged, notFound, endOfSending)).toHaveProperty('unknown');
    for (const answer of silent)
      expect(interpretAuthorisation(authorising, answer, endOfSending)).toEqual(
        notFinal(answer, endOfSending),
      );
  });

  test('gives the payer ten minutes, and no longer than the deadline', () => {
    const until = laterBy(now, 10 * minute);
    const asked = { outcome: 'challenged', interaction, until };
    expect(interpretAuthorisation(authorising, payerNeeded, now)).toEqual(asked);
    const late = laterBy(now, 25 * minute);
    expect(interpretAuthorisation(authorising, payerNeeded, late)).toEqual({ ...asked, until: end });
  });

  test('asks a payer once, and then queries every 15 seconds', () => {
    expect(interpretAuthorisation(challenged, payerNeeded, now)).toEqual({ again: laterBy(now, 15_000) });
  });
});

test('a response that is not final is asked for again, or is unknown with its reason', () => {
  expect(notFinal({ outcome: 'pending' }, now)).toEqual({ again: laterBy(now, 15_000) });
  expect(notFinal({ outcome: 'unknown', why: 'timeout' }, now)).toEqual({ unknown: 'timeout' });
  expect(notFinal({ outcome: 'notSent', why: 'closed' }, now)).toEqual({ unknown: 'closed' });
  expect(notFinal(declined, now)).toEqual({ unknown: 'the bank declined with code 51' });
  expect(notFinal(notFound, now)).toEqual({ unknown: 'the bank returned notFound' });
});

describe('an authorisation is sent until', () => {
  const after = (minutes: number) => laterBy(now, minutes * minute);
  test.each([
    ['three minutes after the payer acted', { payerActedAt: now, deadline: after(30) }, after(3)],
    ['a deadline that comes first', { payerActedAt: now, deadline: after(1) }, after(1)],
    ['the deadline, without a payer', { deadline: after(30) }, after(30)],
  ])('%s', (_, charge, until) => expect(sendUntil(charge)).toBe(until));
});
