import { describe, expect, test } from 'vitest';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { laterBy, parseInstant, type Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { interpret } from './bank-actions.ts';
import {
  evolve,
  operationIdOf,
  publicStatus,
  withdrawalOfOperation,
  type Withdrawal,
  type WithdrawalFact,
  type WithdrawalState,
} from './withdrawal.ts';

const createdAt = parseInstant('2026-01-19T10:00:00Z')!;
const minuteMs = 60_000;
const terms = {
  id: 'W1',
  partyId: 'P',
  walletId: 'A',
  walletPartyId: 'P',
  identityId: 'I',
  destinationId: 'D',
  createdAt,
  amount: { minor: 1_000n, currency: 'RUB' as Currency },
  feeMinor: 0n,
  isCounted: false,
  cardToken: 'r1.x',
};
const failure = ['authorization_failed', 'unknown'] as const;
const states = {
  sending: { status: 'sending' },
  succeeded: { status: 'succeeded', reference: '900000000001' },
  failed: { status: 'failed', failure },
} as const satisfies Record<string, WithdrawalState>;
const facts = {
  withdrawal_started: { type: 'withdrawal_started', terms },
  withdrawal_succeeded: { type: 'withdrawal_succeeded', reference: '900000000001' },
  withdrawal_failed: { type: 'withdrawal_failed', failure },
  withdrawal_returned: {
    type: 'withdrawal_returned',
    returned: {
      at: createdAt,
      code: 'account_closed',
      amount: { minor: 1_000n, currency: 'RUB' as Currency },
    },
  },
} as const satisfies Record<WithdrawalFact['type'], WithdrawalFact>;

const withdrawal = (status: keyof typeof states): Withdrawal => ({ ...terms, state: states[status] });

/** The status after each fact in each state. `-` means that the fact is not allowed. */
const cells: Record<string, Record<WithdrawalFact['type'], string>> = {
  absent: {
    withdrawal_started: 'sending',
    withdrawal_succeeded: '-',
    withdrawal_failed: '-',
    withdrawal_returned: '-',
  },
  sending: {
    withdrawal_started: '-',
    withdrawal_succeeded: 'succeeded',
    withdrawal_failed: 'failed',
    withdrawal_returned: '-',
  },
  succeeded: {
    withdrawal_started: '-',
    withdrawal_succeeded: '-',
    withdrawal_failed: '-',
    withdrawal_returned: 'succeeded',
  },
  failed: {
    withdrawal_started: '-',
    withdrawal_succeeded: '-',
    withdrawal_failed: '-',
    withdrawal_returned: '-',
  },
};

describe('the lifecycle of a withdrawal', () => {
  const all = Object.entries(cells).flatMap(([from, row]) =>
    Object.entries(row).map(([fact, to]) => [from, fact as WithdrawalFact['type'], to] as const),
  );
  test.each(all)('%s, %s: %s', (from, fact, to) => {
    const before = from === 'absent' ? undefined : withdrawal(from as keyof typeof states);
    if (to === '-') expect(() => evolve(before, facts[fact])).toThrow(`that is ${from} cannot have ${fact}`);
    else expect(evolve(before, facts[fact])).toMatchObject(withdrawal(to as keyof typeof states));
  });

  test('a payout comes back once, and never more than was paid', () => {
    const fact = facts.withdrawal_returned;
    const after = evolve(withdrawal('succeeded'), fact);
    expect(after.state).toEqual({ ...states.succeeded, returned: fact.returned });
    expect(() => evolve(after, fact)).toThrow('has come back already');
    const returning = (amount: { minor: bigint; currency: Currency }) =>
      evolve(withdrawal('succeeded'), { ...fact, returned: { ...fact.returned, amount } });
    expect(() => returning({ minor: 1_001n, currency: 'RUB' as Currency })).toThrow('which paid 1000');
    expect(() => returning({ minor: 0n, currency: 'RUB' as Currency })).toThrow('which paid 1000');
    expect(() => returning({ minor: 1n, currency: 'USD' as Currency })).toThrow('which paid 1000');
  });

  test('has the public statuses of the contract', () => {
    expect(publicStatus).toEqual({ sending: 'Pending', succeeded: 'Succeeded', failed: 'Failed' });
  });
});

test('a payout has one operation ID, which leads back to the withdrawal', () => {
  expect(operationIdOf(withdrawal('sending'))).toBe('W1.p');
  expect(withdrawalOfOperation('W1.p')).toEqual(['W1']);
  for (const other of ['W1', 'W1.v1', 'W1.1.a', 'W1.p.a', '.p', ''])
    expect(withdrawalOfOperation(other)).toBeUndefined();
});

describe('a bank response', () => {
  const mean = (answer: BankResponse, afterMs = 0) =>
    interpret(withdrawal('sending'), answer, laterBy(createdAt, afterMs));

  test('ends the withdrawal if it is approved or declined', () => {
    expect(mean({ outcome: 'approved', reference: '900000000001' })).toEqual({
      fact: { type: 'withdrawal_succeeded', reference: '900000000001' },
    });
    expect(mean({ outcome: 'declined', network: 'visa', code: '14' })).toEqual({
      fact: {
        type: 'withdrawal_failed',
        failure: [
          'authorization_failed',
          'destination_rejected',
          'bank_card_rejected',
          'card_number_invalid',
        ],
        bank: { code: '14' },
      },
    });
  });

  test('leaves the outcome unknown if the bank does not find the payout it was sent', () => {
    expect(mean({ outcome: 'notFound' })).toEqual({
      unknown: 'the bank does not find the payout, which may have been sent',
    });
  });

  test.each([
    [0, 1_000],
    [700, 1_000],
    [5_000, 5_000],
    [30 * minuteMs, 30 * minuteMs],
    [60 * minuteMs, 60 * minuteMs],
    [23 * 60 * minuteMs, 60 * minuteMs],
  ])('without proof after %i ms is followed by a query %i ms later', (elapsedMs, pauseMs) => {
    const again: Instant = laterBy(createdAt, elapsedMs + pauseMs);
    expect(mean({ outcome: 'unknown', why: 'silence' }, elapsedMs)).toEqual({ again, why: 'silence' });
    expect(mean({ outcome: 'notSent', why: 'silence' }, elapsedMs)).toEqual({ again, why: 'silence' });
    expect(mean({ outcome: 'pending' }, elapsedMs)).toMatchObject({ again });
  });

  test('without proof after a day leaves the outcome unknown', () => {
    expect(mean({ outcome: 'pending' }, 24 * 60 * minuteMs)).toEqual({
      unknown: 'the bank answered pending',
    });
    expect(mean({ outcome: 'unknown', why: 'silence' }, 30 * 60 * minuteMs)).toEqual({ unknown: 'silence' });
  });

  test('is queried more than 15 times in a day, so that the job becomes stuck immediately', () => {
    let asked = 1;
    for (let now = createdAt; ; asked++) {
      const meaning = interpret(withdrawal('sending'), { outcome: 'pending' }, now);
      if (!('again' in meaning)) break;
      now = meaning.again;
    }
    expect(asked).toBeGreaterThan(15);
    expect(asked).toBeLessThan(60);
  });
});
