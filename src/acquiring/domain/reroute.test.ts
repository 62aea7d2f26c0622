import { expect, test } from 'vitest';
import type { BankResponse } from './bank-port.ts';
import type { Instant } from '../../clock.ts';
import { mayReroute, rerouted } from './reroute.ts';
import type { Payment, PaymentStateName } from '../../payments/domain/payment.ts';

const now = '2026-01-19T10:00:00.000000Z' as Instant;
const deadline = '2026-01-19T10:30:00.000000Z' as Instant;
const away: BankResponse = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };

const inState = (name: PaymentStateName) => ({ state: { name }, deadline }) as unknown as Payment;

test('a payment is rerouted when no byte was sent on the first attempt', () =>
  expect(mayReroute(inState('authorising'), away, 1, now)).toBe(true));

test.each<[string, BankResponse]>([
  ['has approved', { outcome: 'approved', reference: '900000000001' }],
  ['has declined', { outcome: 'declined', network: 'bank', code: '91' }],
  [
    'needs the payer',
    { outcome: 'payerNeeded', interaction: { method: 'GET', url: 'https://issuer.example' } },
  ],
  ['has it pending', { outcome: 'pending' }],
  ['does not know it', { outcome: 'notFound' }],
  ['is silent', { outcome: 'unknown', why: 'no answer within 30000 ms' }],
  ['received it and did nothing', { outcome: 'notSent', why: 'the bank is busy, status 503' }],
])('a payment stays with a bank that %s', (_what, answer) =>
  expect(mayReroute(inState('authorising'), answer, 1, now)).toBe(false),
);

test('a payment stays on later attempts, because an earlier one may have been sent', () =>
  expect(mayReroute(inState('authorising'), away, 2, now)).toBe(false));

test('a payment stays after its deadline', () =>
  expect(mayReroute(inState('authorising'), away, 1, deadline)).toBe(false));

test.each<PaymentStateName>([
  'challenged',
  'reversing',
  'held',
  'capturing',
  'cancelling',
  'captured',
  'cancelled',
  'refunded',
  'failed',
])('a payment stays in the state %s', (state) =>
  expect(mayReroute(inState(state), away, 1, now)).toBe(false),
);

test('the fact has the new terminal and the reason', () => {
  const terminal = { id: 'T2', bankId: 'BANK2', merchantId: 'M2', descriptor: 'SHOP' };
  expect(rerouted(terminal, away)).toEqual({ terminal, why: 'ECONNREFUSED' });
});
