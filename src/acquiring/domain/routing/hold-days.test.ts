import { expect, test } from 'vitest';
import { holdDaysOf, holdTermsOf, longestHoldDays, type HoldDays } from './hold-days.ts';

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

test.each([
  ['visa', 'payerPresent', { payer: 7, merchant: 2 }, 6],
  ['visa', 'withoutPayer', { payer: 7, merchant: 3 }, 2],
  ['visa', 'withoutPayer', { payer: 7 }, 3],
  ['visa', 'withoutPayer', { merchant: 30 }, 4],
  ['mastercard', 'payerPresent', { payer: 30 }, 6],
  ['visa', 'payerPresent', { payer: 10 }, 9],
  ['visa', 'payerPresent', { payer: 2 }, 1],
  ['visa', 'payerPresent', { payer: 1 }, 1],
  ['mastercard', 'payerPresent', { payer: 0 }, 3],
] as const)(
  'without a row, a hold of %s %s at a bank that declares %j lasts %i days',
  (network, initiation, declared, days) =>
    expect(holdDaysOf(rows, 'T2', network, initiation, declared)).toBe(days),
);

test('a row of the operator wins over what the bank declares', () =>
  expect(holdDaysOf(rows, 'T1', 'visa', 'withoutPayer', { merchant: 2 })).toBe(4));

test('two terminals have the same terms if their rows and their banks say the same', () => {
  const same = [row('T2', 'visa', 'payerPresent', 9), row('T2', 'visa', 'withoutPayer', 4)];
  const [first, second, third] = ['T1', 'T2', 'T3'].map((id) => holdTermsOf([...rows, ...same], id));
  expect(second).toBe(first);
  expect(third).not.toBe(first);
  expect(holdTermsOf(rows, 'T2')).toBe(third);
  expect(holdTermsOf(rows, 'T2', { payer: 7 })).not.toBe(third);
});
