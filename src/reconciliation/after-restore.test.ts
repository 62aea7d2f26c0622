import { expect, test } from 'vitest';
import { instantAt } from '../clock.ts';
import { apartByRestore } from './after-restore.ts';
import type { BankLine, Difference } from './difference.ts';

const restoredTo = instantAt(Date.UTC(2026, 10, 20, 10));

function difference(kind: string, sign: number, afterMs: number, more: Partial<Difference> = {}): Difference {
  const at = instantAt(Date.UTC(2026, 10, 20, 10) + afterMs);
  const line: BankLine = { sequence: 1, copy: 1, kind, sign, minor: 100n, currency: 'RUB', at };
  return {
    class: 'unknown_here',
    operationId: `${kind}${sign}`,
    atStakeMinor: 100n,
    currency: 'RUB',
    line,
    ...more,
  };
}

test.each([
  ['payout', -1, 'paidOut'],
  ['authorise', 1, 'charged'],
  ['capture', 1, 'charged'],
  ['refund', -1, 'givenBack'],
  ['reverse', -1, 'givenBack'],
  ['authorise', 0, 'held'],
  ['reverse', 0, 'held'],
])('%s %i after the moment is %s', (kind, sign, work) => {
  const lost = difference(kind, sign, 0);
  expect(apartByRestore([lost], restoredTo)).toEqual({ lost: new Map([[work, [lost]]]), others: [] });
});

test.each([
  ['what the bank did before', difference('refund', -1, -1)],
  ['a second line', difference('refund', -1, 5, { class: 'duplicate' })],
])('%s is a difference as always', (_, other) => {
  expect(apartByRestore([other], restoredTo)).toEqual({ lost: new Map(), others: [other] });
});

test('what the bank lacks is a difference as always', () => {
  const { line: _, ...missing } = difference('refund', -1, 5, { class: 'missing_at_bank' });
  expect(apartByRestore([missing], restoredTo)).toEqual({ lost: new Map(), others: [missing] });
});

test('the most urgent comes first', () => {
  const all = [difference('authorise', 0, 1), difference('refund', -1, 1), difference('payout', -1, 1)];
  expect([...apartByRestore(all, restoredTo).lost.keys()]).toEqual(['paidOut', 'givenBack', 'held']);
});
