import { expect, test } from 'vitest';
import { readObjects } from './read-objects.ts';

const processing = '/v2/processing';
const answer = (path: string, body: unknown, status = 200) => ({
  method: 'GET',
  path,
  status,
  body,
  at: '2026-11-24T09:00:00Z',
});

test.each([
  [`${processing}/invoices/I1`, { id: 'I1', shopID: 'TEST' }],
  [`${processing}/invoices/I1/payments/2`, { id: '2', invoiceID: 'I1' }],
  [`${processing}/invoices/I1/payments/2/refunds/1`, { id: '1' }],
  [`${processing}/customers/C%201/bindings/1`, { id: '1', customerID: 'C 1' }],
  [`${processing}/invoices/I1/events`, { id: 'E9' }],
  [`${processing}/invoices`, { id: 'I1' }],
  ['/wallet/v0/wallets/W1', { id: 'W1', identity: 'N1' }],
  ['/wallet/v0/wallets/W1/account', { own: { amount: 1 } }],
])('the object of its path is right: %s', (path, body) => {
  expect(readObjects([answer(path, body)])).toEqual([]);
});

test.each([
  [`${processing}/invoices/I1`, { id: 'I2' }, 'id "I2"'],
  [`${processing}/invoices/I1/payments/2`, { id: '1', invoiceID: 'I1' }, 'id "1"'],
  [`${processing}/invoices/I1/payments/2`, { id: '2', invoiceID: 'I2' }, 'invoiceID "I2"'],
  ['/wallet/v0/withdrawals/D1', { id: 'D2' }, 'id "D2"'],
  ['/wallet/v0/w2w/transfers/T1', { id: 'T2' }, 'id "T2"'],
])('another object is found: %s', (path, body, said) => {
  expect(readObjects([answer(path, body)])).toEqual([[path, `the response has the ${said}`]]);
});

test('a refusal and a creation name no object of their path', () => {
  const path = `${processing}/invoices/I1`;
  expect(readObjects([answer(path, { id: 'I2' }, 404)])).toEqual([]);
  expect(readObjects([{ ...answer(path, { id: 'I2' }), method: 'POST' }])).toEqual([]);
});
