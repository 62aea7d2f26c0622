import { expect, test } from 'vitest';
import { areHoldsAlike, holdDaysOf, longestHoldDays, type HoldDays } from './hold-days.ts';

const row = (terminalId: string, network: string, initiation: HoldDays['initiation'], days: number) => ({
  terminalId,
  network,
  initiation,
  days,
});
const rows = [row('T1', 'visa', 'withoutPayer', 4), row('T1', 'visa', 'payerPresent', 9)];

test('a hold lasts as long as the row of its terminal, network and initiation says, or three days', () => {
  expect(holdDaysOf(rows, 'T1', 'visa', 'withoutPayer')).toBe(4);
  expect(holdDaysOf(rows, 'T1', 'visa', 'payerPresent')).toBe(9);
  expect(holdDaysOf(rows, 'T1', 'mastercard', 'payerPresent')).toBe(3);
  expect(holdDaysOf(rows, 'T2', 'visa', 'payerPresent')).toBe(3);
});

test.each([
  ['visa', 9, 4],
  ['nspkmir', 9, 4],
  ['mastercard', 6, 6],
  ['maestro', 6, 6],
])(
  '%s keeps a hold a day longer than %i days with the payer, and %i without',
  (network, present, without) => {
    expect(longestHoldDays(network, 'payerPresent')).toBe(present);
    expect(longestHoldDays(network, 'withoutPayer')).toBe(without);
  },
);

test('two terminals are alike if their rows are', () => {
  const same = [row('T2', 'visa', 'payerPresent', 9), row('T2', 'visa', 'withoutPayer', 4)];
  expect(areHoldsAlike([...rows, ...same], 'T1', 'T2')).toBe(true);
  expect(areHoldsAlike(rows, 'T1', 'T2')).toBe(false);
  expect(areHoldsAlike(rows, 'T2', 'T3')).toBe(true);
});
