import { expect, test } from 'vitest';
import type { BankResponse } from './bank-port.ts';
import type { Instant } from '../../clock.ts';
import { mayReroute, rerouted } from './reroute.ts';
import type { Payment, PaymentStateName } from '../../payments/domain/payment.ts';

const now = '2026-01-19T10:00:00.000000Z' as Instant;
const deadline = '2026-01-19T10:30:00.000000Z' as Instant;
const away: BankResponse = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };

const inState = (name: PaymentStateName) => ({ state: { name }, deadline }) as unknown as Payment;

test('a payment moves when at its first attempt not a byte has left', () =>
  expect(mayReroute(inState('authorising'), away, 1, now)).toBe(true));

test.each<[string, BankResponse]>([
  ['approved', { outcome: 'approved', reference: '900000000001' }],
  ['declined', { outcome: 'declined', network: 'bank', code: '91' }],
  [
    'needs the payer',
    { outcome: 'payerNeeded', interaction: { method: 'GET', url: 'https://issuer.example' } },
  ],
  ['has it', { outcome: 'pending' }],
  ['does not know it', { outcome: 'notFound' }],
  ['is silent', { outcome: 'unknown', why: 'no answer within 30000 ms' }],
  ['was told of it and says it did nothing', { outcome: 'notSent', why: 'the bank is busy, status 503' }],
])('it stays with a bank that %s', (_what, answer) =>
  expect(mayReroute(inState('authorising'), answer, 1, now)).toBe(false),
);

test('it stays at every later attempt: nobody knows what was sent by the one before', () =>
  expect(mayReroute(inState('authorising'), away, 2, now)).toBe(false));

test('it stays when its time is up', () =>
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
])('it stays once it is %s', (state) => expect(mayReroute(inState(state), away, 1, now)).toBe(false));

test('the fact says where it went and why', () => {
  const terminal = { id: 'T2', bankId: 'BANK2', merchantId: 'M2', descriptor: 'SHOP' };
  expect(rerouted(terminal, away)).toEqual({ terminal, why: 'ECONNREFUSED' });
});
