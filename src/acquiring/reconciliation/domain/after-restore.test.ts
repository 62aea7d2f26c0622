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
])('%s %i after the moment is %s', (kind, sign, work) => {
  const lost = difference(kind, sign, 0);
  expect(splitByRestore([lost], restoredTo)).toEqual({ lost: new Map([[work, [lost]]]), others: [] });
});

test.each([
  ['what the bank did before, by more than clocks are apart', difference('refund', -1, -300_001)],
  ['what is known here and differs', difference('capture', 1, 5, { class: 'unexpected_success' })],
  ['a second line', difference('refund', -1, 5, { class: 'duplicate' })],
])('%s is a difference as always', (_, other) => {
  expect(splitByRestore([other], restoredTo)).toEqual({ lost: new Map(), others: [other] });
});

test('a clock that is behind by a little is no reason to pass it over', () => {
  const lost = difference('payout', -1, -299_000);
  expect([...splitByRestore([lost], restoredTo).lost.keys()]).toEqual(['paidOut']);
});

test('what was taken and given back is not made again, what stands beside it is', () => {
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

test('what the bank lacks is a difference as always', () => {
  const { line: _, ...missing } = difference('refund', -1, 5, { class: 'missing_at_bank' });
  expect(splitByRestore([missing], restoredTo)).toEqual({ lost: new Map(), others: [missing] });
});

test('the most urgent comes first', () => {
  const all = [difference('authorise', 0, 1), difference('refund', -1, 1), difference('payout', -1, 1)];
  expect([...splitByRestore(all, restoredTo).lost.keys()]).toEqual(['paidOut', 'givenBack', 'held']);
});
