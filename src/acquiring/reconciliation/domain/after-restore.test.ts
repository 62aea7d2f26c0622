import { expect, test } from 'vitest';
import { instantAt } from '../../../clock.ts';
import { splitByRestore } from './after-restore.ts';
import type { BankLine, Difference } from './difference.ts';

const restoredTo = instantAt(Date.UTC(2026, 10, 20, 10));

function difference(kind: string, sign: number, afterMs: number, more: Partial<Difference> = {}): Difference {
  const at = instantAt(Date.UTC(2026, 10, 20, 10) + afterMs);
  const line: BankLine = { sequence: 1, copy: 1, kind, sign, minor: 100n, currency: 'RUB', at };
  return {
    class: 'missing_here',
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
  ['reverse', -1, 'undone'],
  ['authorise', 0, 'held'],
  ['reverse', 0, 'held'],
])('%s %i after the restore point is %s', (kind, sign, work) => {
  const lost = difference(kind, sign, 0);
  expect(splitByRestore([lost], restoredTo)).toEqual({ lost: new Map([[work, [lost]]]), others: [] });
});

test.each([
  ['an operation before the restore point, beyond the clock difference', difference('refund', -1, -300_001)],
  ['an operation with a record that differs', difference('capture', 1, 5, { class: 'unexpected_success' })],
  ['a duplicate', difference('refund', -1, 5, { class: 'duplicate' })],
])('%s is an ordinary difference', (_, other) => {
  expect(splitByRestore([other], restoredTo)).toEqual({ lost: new Map(), others: [other] });
});

test('a small clock difference does not exclude an operation', () => {
  const lost = difference('payout', -1, -299_000);
  expect([...splitByRestore([lost], restoredTo).lost.keys()]).toEqual(['paidOut']);
});

test('a reversed charge is not repeated, and the charges next to it are', () => {
  const taken = difference('authorise', 1, 1, { operationId: 'I.1.a' });
  const back = difference('reverse', -1, 2, { operationId: 'I.1.r' });
  const other = difference('authorise', 1, 1, { operationId: 'I.2.a' });
  expect(splitByRestore([taken, back, other], restoredTo).lost).toEqual(
    new Map([
      ['charged', [other]],
      ['undone', [taken, back]],
    ]),
  );
});

test('an operation missing at the bank is an ordinary difference', () => {
  const { line: _, ...missing } = difference('refund', -1, 5, { class: 'missing_at_bank' });
  expect(splitByRestore([missing], restoredTo)).toEqual({ lost: new Map(), others: [missing] });
});

test('the groups are ordered by urgency', () => {
  const all = [difference('authorise', 0, 1), difference('refund', -1, 1), difference('payout', -1, 1)];
  expect([...splitByRestore(all, restoredTo).lost.keys()]).toEqual(['paidOut', 'givenBack', 'held']);
});
