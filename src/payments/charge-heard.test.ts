import { expect, test } from 'vitest';
import { circuitIsOpen } from '../acquiring/adapters/http/http-bank.ts';
import { stoppedAnswer } from '../acquiring/bank-registry.ts';
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import { laterBy, type Instant } from '../clock.ts';
import { chargeHeard } from './charge-heard.ts';
import type { Payment } from './domain/payment.ts';

const now = '2026-11-20T12:00:00.000000Z' as Instant;
const terminal = { id: 'T1', bankId: 'B1', merchantId: 'M1', descriptor: 'SHOP' };
const payer = { type: 'customer', seriesId: 'S1', subscriptionId: 'U1' };
const charge = { partyId: 'P1', terminal, payer } as unknown as Payment;

const declined = (code: string, network = 'visa'): BankResponse => ({ outcome: 'declined', network, code });

test.each<[string, BankResponse, string | undefined]>([
  ['an approval', { outcome: 'approved', reference: '900000000017' }, 'other'],
  ['a card without money', declined('51'), 'other'],
  ['a decline without a reason', declined('05'), 'vague'],
  ['an issuer that cannot be reached', declined('91'), 'technical'],
  ['a wrong set-up', declined('58'), 'technical'],
  ['silence', { outcome: 'unknown', why: 'no answer', isSilence: true }, 'technical'],
  ['a bank that cannot be reached', { outcome: 'notSent', why: 'refused', noBytesSent: true }, 'technical'],
  ['an open circuit', circuitIsOpen, 'technical'],
  ['a stopped bank', stoppedAnswer('B1'), 'technical'],
  ['a bank that takes no more now', { outcome: 'notSent', why: 'full', turnedAway: true }, undefined],
  ['an operation in progress', { outcome: 'pending' }, undefined],
])('%s says of the bank: %3$s', (_, answer, ended) => {
  const heard = { bankId: 'B1', partyId: 'P1', ended, isRetry: false };
  expect(chargeHeard(charge, answer, now, now)).toEqual(ended === undefined ? undefined : heard);
});

test('a retry is one, and what happens on a test clock that is ahead says nothing', () => {
  const retry = { ...charge, payer: { ...payer, retry: { number: 2 } } } as unknown as Payment;
  expect(chargeHeard(retry, declined('05'), now, now)).toMatchObject({ isRetry: true });
  expect(chargeHeard(charge, declined('05'), laterBy(now, 3_600_000), now)).toBeUndefined();
});

test.each([
  ['a payer who starts a subscription', { type: 'paymentResource', subscriptionId: 'U1' }],
  ['a charge that the merchant begins', { type: 'customer', seriesId: 'S1' }],
])('%s says nothing of the bank', (_, paid) => {
  const payment = { ...charge, payer: paid } as unknown as Payment;
  expect(chargeHeard(payment, declined('91'), now, now)).toBeUndefined();
});
