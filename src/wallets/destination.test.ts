import { describe, expect, test } from 'vitest';
import { parseInstant } from '../clock.ts';
import type { Currency } from '../money.ts';
import {
  checkIdOf,
  meaningOf,
  publicStatus,
  stateAfter,
  type DestinationFact,
  type DestinationStatus,
} from './destination.ts';
import { failureOfDecline, nestedFailure } from './payout-failure.ts';

const terms = {
  id: 'D1',
  partyId: 'P',
  identityId: 'I',
  name: 'Card',
  currency: 'RUB' as Currency,
  createdAt: parseInstant('2026-01-19T10:00:00Z')!,
  cardToken: 'r1.x',
  card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
} as const;
const failure = ['authorization_failed', 'operation_blocked'] as const;
const facts = {
  destination_created: { type: 'destination_created', terms },
  destination_authorized: { type: 'destination_authorized' },
  destination_refused: { type: 'destination_refused', failure },
} as const satisfies Record<DestinationFact['type'], DestinationFact>;

/** Every cell: what a destination in that state becomes by that fact; `-` where it cannot have it. */
const cells: Record<DestinationStatus | 'absent', Record<DestinationFact['type'], string>> = {
  absent: { destination_created: 'checking', destination_authorized: '-', destination_refused: '-' },
  checking: {
    destination_created: '-',
    destination_authorized: 'authorized',
    destination_refused: 'refused',
  },
  authorized: { destination_created: '-', destination_authorized: '-', destination_refused: '-' },
  refused: { destination_created: '-', destination_authorized: '-', destination_refused: '-' },
};

describe('the lifecycle', () => {
  const all = Object.entries(cells).flatMap(([from, row]) =>
    Object.entries(row).map(
      ([fact, to]) => [from as DestinationStatus | 'absent', fact as DestinationFact['type'], to] as const,
    ),
  );
  test.each(all)('%s, %s: %s', (from, fact, to) => {
    if (to === '-')
      expect(() => stateAfter(from, facts[fact])).toThrow(`that is ${from} cannot have ${fact}`);
    else {
      const more = fact === 'destination_refused' ? { failure } : {};
      expect(stateAfter(from, facts[fact])).toStrictEqual({ status: to, ...more });
    }
  });

  test('public words', () => {
    expect(publicStatus).toEqual({
      checking: 'Unauthorized',
      authorized: 'Authorized',
      refused: 'Unauthorized',
    });
  });
});

test('what the bank says about a card', () => {
  expect(meaningOf({ outcome: 'approved', reference: '1' })).toEqual({
    fact: { type: 'destination_authorized' },
  });
  expect(meaningOf({ outcome: 'declined', network: 'visa', code: '57' })).toEqual({
    fact: { type: 'destination_refused', failure },
  });
  // The issuer could not be asked: nobody has looked at the card yet.
  expect(meaningOf({ outcome: 'declined', network: 'visa', code: '91' })).toHaveProperty('unknown');
  expect(meaningOf({ outcome: 'unknown', why: 'silence' })).toEqual({ unknown: 'silence' });
  expect(meaningOf({ outcome: 'notSent', why: 'silence' })).toEqual({ unknown: 'silence' });
  expect(meaningOf({ outcome: 'pending' })).toEqual({ unknown: 'the bank answered pending' });
});

test('every check has a name of its own: it is made afresh', () => {
  expect(checkIdOf(terms, 1)).toBe('D1.v1');
  expect(checkIdOf(terms, 2)).toBe('D1.v2');
});

test('codes of networks as merchants see them', () => {
  const seen = (code: string) => nestedFailure(failureOfDecline({ code }));
  expect(seen('51')).toEqual({ code: 'authorization_failed', subError: { code: 'insufficient_funds' } });
  expect(seen('65')).toEqual({
    code: 'authorization_failed',
    subError: { code: 'account_limit_exceeded', subError: { code: 'number' } },
  });
  for (const unknown of ['Z9', '30', 'toString', '__proto__']) {
    expect(seen(unknown)).toEqual({ code: 'authorization_failed', subError: { code: 'unknown' } });
  }
});
