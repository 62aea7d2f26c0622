import { describe, expect, test } from 'vitest';
import { parseInstant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import {
  checkIdOf,
  destinationOfOperation,
  interpret,
  publicStatus,
  stateAfter,
  type DestinationFact,
  type DestinationStatus,
} from './destination.ts';
import { nestedFailure } from '../../wallets/domain/failure-path.ts';
import { failureOfDecline } from './payout-failure.ts';

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
  destination_check_failed: { type: 'destination_check_failed', code: '91' },
} as const satisfies Record<DestinationFact['type'], DestinationFact>;

/** The status after each fact in each state. `-` means that the fact is not allowed. */
const cells: Record<DestinationStatus | 'absent', Record<DestinationFact['type'], string>> = {
  absent: {
    destination_created: 'checking',
    destination_authorized: '-',
    destination_refused: '-',
    destination_check_failed: '-',
  },
  checking: {
    destination_created: '-',
    destination_authorized: 'authorized',
    destination_refused: 'refused',
    destination_check_failed: 'checking',
  },
  authorized: {
    destination_created: '-',
    destination_authorized: '-',
    destination_refused: '-',
    destination_check_failed: '-',
  },
  refused: {
    destination_created: '-',
    destination_authorized: '-',
    destination_refused: '-',
    destination_check_failed: '-',
  },
};

describe('the lifecycle of a destination', () => {
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

  test('has the public statuses of the contract', () => {
    expect(publicStatus).toEqual({
      checking: 'Unauthorized',
      authorized: 'Authorized',
      refused: 'Unauthorized',
    });
  });
});

test('a bank response authorises or refuses a card only if it proves something', () => {
  expect(interpret({ outcome: 'approved', reference: '1' })).toEqual({
    fact: { type: 'destination_authorized' },
  });
  expect(interpret({ outcome: 'declined', network: 'visa', code: '57' })).toEqual({
    fact: { type: 'destination_refused', failure },
  });
  // The issuer was unavailable, so the card was not checked.
  expect(interpret({ outcome: 'declined', network: 'visa', code: '91' })).toEqual({
    fact: { type: 'destination_check_failed', code: '91' },
  });
  expect(interpret({ outcome: 'unknown', why: 'silence' })).toEqual({ unknown: 'silence' });
  expect(interpret({ outcome: 'notSent', why: 'silence' })).toEqual({ unknown: 'silence' });
  expect(interpret({ outcome: 'pending' })).toEqual({ unknown: 'the bank answered pending' });
});

test('a check has an ID of destination and version, which leads back to the destination', () => {
  expect(checkIdOf(terms, 1)).toBe('D1.check1');
  expect(checkIdOf(terms, 12)).toBe('D1.check12');
  expect(destinationOfOperation('D1.check12')).toEqual(['D1']);
  for (const other of ['D1', 'D1.check', 'D1.p', '.check1', 'D1.check1.a', 'D1.checked', ''])
    expect(destinationOfOperation(other)).toBeUndefined();
});

test('network codes become failures of the API, and unknown codes the failure unknown', () => {
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
