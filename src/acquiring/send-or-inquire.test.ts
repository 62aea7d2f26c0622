import { expect, test } from 'vitest';
import type { BankResponse } from './domain/bank-port.ts';
import { sendOrInquire } from './send-or-inquire.ts';

const approved = { outcome: 'approved', reference: 'r' } as BankResponse;
const notFound = { outcome: 'notFound' } as BankResponse;
const unknown = { outcome: 'unknown', why: 'silence' } as BankResponse;
const notSent = { outcome: 'notSent', why: 'busy' } as BankResponse;
const pending = { outcome: 'pending' } as BankResponse;

/** A bank that has the operation or does not, and what it was asked. */
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

test('sends without asking when no node can have sent it before', async () => {
  const bank = bankThat(notFound);
  expect(await sendOrInquire(true, bank)).toBe(approved);
  expect(bank.requests).toEqual(['send']);
});

test.each([
  ['what the bank has', approved],
  ['what the bank may have', unknown],
  ['what it could not be asked about', notSent],
  ['what it has not finished', pending],
])('does not send again %s', async (_, known) => {
  const bank = bankThat(known);
  expect(await sendOrInquire(false, { ...bank, refuse: () => 'never asked' })).toBe(known);
  expect(bank.requests).toEqual(['inquire']);
});

test('sends what the bank has never received', async () => {
  const bank = bankThat(notFound);
  expect(await sendOrInquire(false, { ...bank, refuse: () => undefined })).toBe(approved);
  expect(bank.requests).toEqual(['inquire', 'send']);
});

test('does not send what is not wanted any more', async () => {
  const bank = bankThat(notFound);
  expect(await sendOrInquire(false, { ...bank, refuse: () => Promise.resolve('revoked') })).toBe('revoked');
  expect(bank.requests).toEqual(['inquire']);
});
