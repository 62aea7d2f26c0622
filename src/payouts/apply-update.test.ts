import { describe, expect, test } from 'vitest';
import type { OperationUpdate } from '../acquiring/domain/bank-updates.ts';
import type { Instant } from '../clock.ts';
import type { Currency } from '../money.ts';
import { applyUpdate, factOf } from './apply-update.ts';
import type { Withdrawal, WithdrawalState } from './domain/withdrawal.ts';

const at = '2026-01-19T10:00:00.000000Z' as Instant;
const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const meaning = (state: WithdrawalState, more: Partial<OperationUpdate> = {}) =>
  factOf({ operationId: 'W.p', what: 'payoutReturned', at, ...more }, {
    amount: rub(500n),
    state,
  } as Withdrawal);
const paid: WithdrawalState = { status: 'succeeded', reference: '900000000001' };
const fact = (minor: bigint, code: string) => ({
  type: 'withdrawal_returned',
  returned: { at, code, amount: rub(minor) },
});

describe('a payout that came back', () => {
  test('is returned, in full or in part, with a known code', () => {
    expect(meaning(paid, { code: 'account_closed' })).toEqual(fact(500n, 'account_closed'));
    expect(meaning(paid, { amount: rub(1n), code: 'R03' })).toEqual(fact(1n, 'unknown'));
  });
  test('is known, or too early', () => {
    expect(meaning({ ...paid, returned: { at, code: 'unknown', amount: rub(1n) } })).toEqual({
      outcome: 'nothing',
    });
    expect(meaning({ status: 'sending' })).toEqual({ outcome: 'tooEarly' });
  });
  test('or was made late, may be known too, and contradicts a failed one', () => {
    const late = { what: 'approvedLate' } as const;
    expect(meaning({ status: 'sending' }, late)).toEqual({ outcome: 'tooEarly' });
    expect(meaning(paid, late)).toEqual({ outcome: 'nothing' });
    const failed: WithdrawalState = { status: 'failed', failure: ['x'] as never };
    expect(meaning(failed, late)).toMatchObject({ outcome: 'contradiction' });
  });
  test.each<[string, WithdrawalState, Partial<OperationUpdate>]>([
    ['a failed payout', { status: 'failed', failure: ['x'] as never }, {}],
    ['more than was paid', paid, { amount: rub(501n) }],
    ['nothing', paid, { amount: rub(0n) }],
    ['another currency', paid, { amount: { minor: 5n, currency: 'USD' as Currency } }],
    ['another kind of update', paid, { what: 'refundFailed' }],
  ])('contradicts %s', (_, state, more) => {
    expect(meaning(state, more)).toMatchObject({ outcome: 'contradiction' });
  });
});

test('an update of another operation is a contradiction, and logged', async () => {
  const lines: unknown[] = [];
  const log = { error: (...line: unknown[]) => void lines.push(line.at(-1)) };
  const update: OperationUpdate = { operationId: 'I.1.a', what: 'payoutReturned', at };
  const { outcome } = await applyUpdate({ db: {} as never, livemode: false, log }, update, at);
  expect([outcome, ...lines]).toEqual(['contradiction', 'bank update contradicts the stored result']);
});
