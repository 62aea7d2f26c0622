import { expect, test } from 'vitest';
import type { BankResponse } from '../bank-port.ts';
import type { Instant } from '../../../clock.ts';
import { isProvedUndone, mayReroute, rerouted } from './reroute.ts';
import type { Payment, PaymentStateName } from '../../../payments/domain/payment.ts';

const now = '2026-01-19T10:00:00.000000Z' as Instant;
const until = '2026-01-19T10:30:00.000000Z' as Instant;
const away: BankResponse = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };

const notAble: BankResponse = {
  outcome: 'declined',
  network: 'bank',
  code: 'not-supported',
  noBytesSent: true,
};

const inState = (name: PaymentStateName) => ({ state: { name } }) as unknown as Payment;

test('a payment is rerouted when no byte was sent on the first attempt', () =>
  expect(mayReroute(inState('authorising'), away, 1, { now, until })).toBe(true));

test('a payment is rerouted when its bank takes no more, and nothing was sent before', () => {
  const full: BankResponse = { outcome: 'notSent', why: 'too many', turnedAway: true };
  expect(mayReroute(inState('authorising'), full, 1, { now, until })).toBe(true);
  expect(mayReroute(inState('authorising'), full, 2, { now, until })).toBe(false);
});

test('a payment is rerouted when its bank declares that it cannot do it', () => {
  expect(mayReroute(inState('authorising'), notAble, 1, { now, until })).toBe(true);
  expect(mayReroute(inState('authorising'), notAble, 2, { now, until })).toBe(false);
});

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
  expect(mayReroute(inState('authorising'), answer, 1, { now, until })).toBe(false),
);

test('a payment stays on later attempts, because an earlier one may have been sent', () =>
  expect(mayReroute(inState('authorising'), away, 2, { now, until })).toBe(false));

test('a payment stays after the time to send it', () =>
  expect(mayReroute(inState('authorising'), away, 1, { now: until, until })).toBe(false));

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
  expect(mayReroute(inState(state), away, 1, { now, until })).toBe(false),
);

test('the fact has the new terminal and the reason', () => {
  const terminal = { id: 'T2', bankId: 'BANK2', merchantId: 'M2', descriptor: 'SHOP' };
  expect(rerouted(terminal, away)).toEqual({ terminal, why: 'ECONNREFUSED' });
  expect(rerouted(terminal, notAble)).toEqual({ terminal, why: 'not-supported' });
});

test.each<[string, BankResponse, boolean]>([
  ['no byte was sent', away, true],
  ['the bank declares that it cannot do it', notAble, true],
  ['the bank says that it did nothing', { outcome: 'notSent', why: 'busy', notDone: true }, true],
  ['the bank takes no more now', { outcome: 'notSent', why: 'too many', turnedAway: true }, true],
  ['the bank rejected the signature', { outcome: 'notSent', why: 'the bank rejected the signature' }, false],
  ['the bank does not know it', { outcome: 'notFound' }, false],
  ['the bank is silent', { outcome: 'unknown', why: 'no answer', isSilence: true }, false],
  ['the bank has it pending', { outcome: 'pending' }, false],
  ['the bank has declined', { outcome: 'declined', network: 'bank', code: '91' }, false],
])('%s', (_what, answer, isProof) => expect(isProvedUndone(answer)).toBe(isProof));
