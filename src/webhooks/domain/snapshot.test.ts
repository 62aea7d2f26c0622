import { expect, test } from 'vitest';
import { shows, snapshotBefore, snapshotWithout, transactionsBetween } from './snapshot.ts';

test.each([
  ['10:20:12,15', 30n, '10:20:12,15'],
  ['10:20:12,15', 15n, '10:15:12'],
  ['10:20:12,15', 16n, '10:16:12,15'],
  ['12:20:12,15', 11n, '11:11:'],
  ['10:10:', 10n, '10:10:'],
  [
    '18446744073709551600:18446744073709551610:',
    18446744073709551605n,
    '18446744073709551600:18446744073709551605:',
  ],
])('%s before %s is %s', (snapshot, before, expected) => {
  expect(snapshotBefore(snapshot, before)).toBe(expected);
});

test.each([
  [9n, true],
  [10n, true],
  [12n, false],
  [13n, true],
  [15n, false],
  [19n, true],
  [20n, false],
])('10:20:12,15 shows %s as finished: %s', (transaction, expected) => {
  expect(shows('10:20:12,15', transaction)).toBe(expected);
});

test.each([
  ['10:20:12,15', [14n, 15n, 13n], '10:20:12,13,14,15'],
  ['10:20:12,15', [8n], '8:20:8,12,15'],
  ['20:20:', [19n, 18n, 19n], '18:20:18,19'],
  ['20:20:', [], '20:20:'],
])('%s without %s is %s', (snapshot, transactions, expected) => {
  expect(snapshotWithout(snapshot, transactions)).toBe(expected);
});

test('transactionsBetween counts the transactions between two snapshots', () =>
  expect(transactionsBetween('10:20:12', '30:40:')).toBe(30n));

test('an invalid snapshot is an error', () =>
  expect(() => snapshotBefore('10:20', 5n)).toThrow('not a PostgreSQL snapshot'));
