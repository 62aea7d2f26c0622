import { expect, test } from 'vitest';
import type { BankResponse } from './domain/bank-port.ts';
import { sendOrInquire } from './send-or-inquire.ts';

const approved = { outcome: 'approved', reference: 'r' } as BankResponse;
const notFound = { outcome: 'notFound' } as BankResponse;
const unknown = { outcome: 'unknown', why: 'silence' } as BankResponse;
const notSent = { outcome: 'notSent', why: 'busy' } as BankResponse;
const pending = { outcome: 'pending' } as BankResponse;

/** A bank that has the operation or not, and the requests it received. */
function bankThat(knows: BankResponse) {
  const requests: string[] = [];
  const request = (name: string, response: BankResponse) => {
    requests.push(name);
    return Promise.resolve(response);
  };
  return {
    requests,
    send: () => request('send', approved),
    inquire: () => request('inquire', knows),
  };
}

test('sends without a query when no node can have sent the operation before', async () => {
  const bank = bankThat(notFound);
  expect(await sendOrInquire(true, bank)).toBe(approved);
  expect(bank.requests).toEqual(['send']);
});

test.each([
  ['an operation the bank has', approved],
  ['an operation the bank may have', unknown],
  ['an operation after an inquiry that was not sent', notSent],
  ['a pending operation', pending],
])('does not send %s again', async (_, known) => {
  const bank = bankThat(known);
  expect(await sendOrInquire(false, { ...bank, refuse: () => 'never asked' })).toBe(known);
  expect(bank.requests).toEqual(['inquire']);
});

test('sends an operation the bank never received', async () => {
  const bank = bankThat(notFound);
  expect(await sendOrInquire(false, { ...bank, refuse: () => undefined })).toBe(approved);
  expect(bank.requests).toEqual(['inquire', 'send']);
});

test('does not send an operation that is no longer wanted', async () => {
  const bank = bankThat(notFound);
  expect(await sendOrInquire(false, { ...bank, refuse: () => Promise.resolve('revoked') })).toBe('revoked');
  expect(bank.requests).toEqual(['inquire']);
});
