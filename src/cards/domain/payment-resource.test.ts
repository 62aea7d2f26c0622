import { describe, expect, test } from 'vitest';
import { parseInstant } from '../../clock.ts';
import type { Caller } from '../../caller.ts';
import {
  cardIdOf,
  decideUse,
  madeForOf,
  sessionIdOf,
  sessionOf,
  tokenOf,
  type PaymentResource,
} from './payment-resource.ts';

const at = (text: string) => parseInstant(text)!;
const now = at('2026-01-19T10:00:00Z');
const apiKey: Caller = { kind: 'apiKey', keyId: 'K', partyId: 'P', scopes: [] };
const ofInvoice = (id: string): Caller => ({ kind: 'invoice', entityId: id, partyId: 'P' });
const ofCustomer = (id: string): Caller => ({ kind: 'customer', entityId: id, partyId: 'P' });

const byKey: PaymentResource = {
  purpose: 'payment',
  token: tokenOf('a'.repeat(23), 'payment'),
  session: sessionOf('b'.repeat(23)),
  partyId: 'P',
  card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
  clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
  countedAs: '192.0.2.1',
  validUntil: at('2026-01-19T11:00:00Z'),
  fingerprint: { keyVersion: 1, hash: Buffer.alloc(32) },
  cardMatchHash: Buffer.alloc(32),
};
const byInvoice: PaymentResource = { ...byKey, madeFor: { kind: 'invoice', id: 'I' } };

function use(resource: PaymentResource | undefined, caller: Caller, session?: string, when = now) {
  const decision = decideUse(resource, caller, session, when);
  return decision.ok ? 'used' : decision.refusal.code;
}

test('a card for payouts is never charged, not even for the API key that stored it', () => {
  const forPayouts = { ...byKey, purpose: 'payout', token: tokenOf('a'.repeat(23), 'payout') } as const;
  expect(use(forPayouts, apiKey)).toBe('invalidPaymentToolToken');
  expect(cardIdOf(forPayouts.token)).toBe('a'.repeat(23));
});

describe('a payment resource', () => {
  test.each<[string, PaymentResource, Caller, string]>([
    ['created with an API key serves the key', byKey, apiKey, 'used'],
    ['created with an API key serves any invoice', byKey, ofInvoice('I'), 'used'],
    ['created with an API key serves any customer', byKey, ofCustomer('C'), 'used'],
    ['created for an invoice serves that invoice', byInvoice, ofInvoice('I'), 'used'],
    ['created for an invoice serves the API key', byInvoice, apiKey, 'used'],
    ['created for an invoice serves no other invoice', byInvoice, ofInvoice('J'), 'invalidPaymentToolToken'],
    [
      'created for an invoice serves no customer of that ID',
      byInvoice,
      ofCustomer('I'),
      'invalidPaymentToolToken',
    ],
    ['serves no other party', byKey, { ...apiKey, partyId: 'Q' }, 'invalidPaymentToolToken'],
  ])('%s', (_what, resource, caller, outcome) => expect(use(resource, caller)).toBe(outcome));

  test('that does not exist is refused', () =>
    expect(use(undefined, apiKey)).toBe('invalidPaymentToolToken'));

  test('is valid for one hour', () => {
    expect(use(byKey, apiKey, undefined, at('2026-01-19T10:59:59.999999Z'))).toBe('used');
    expect(use(byKey, apiKey, undefined, byKey.validUntil)).toBe('invalidPaymentToolToken');
  });

  test('is accepted with its own session or with none', () => {
    expect(use(byKey, apiKey, byKey.session)).toBe('used');
    expect(use(byKey, apiKey, sessionOf('c'.repeat(23)))).toBe('invalidPaymentSession');
    expect(use(byKey, apiKey, byKey.token)).toBe('invalidPaymentSession');
  });

  test('belongs to the object whose token created it', () => {
    expect(madeForOf(apiKey)).toBeUndefined();
    expect(madeForOf(ofInvoice('I'))).toEqual({ kind: 'invoice', id: 'I' });
    expect(madeForOf(ofCustomer('C'))).toEqual({ kind: 'customer', id: 'C' });
  });
});

describe('a token', () => {
  test('is read as it was written', () => {
    expect(cardIdOf(byKey.token)).toBe('a'.repeat(23));
    expect(sessionIdOf(byKey.session)).toBe('b'.repeat(23));
  });

  test.each([
    '',
    'v1.',
    'v2.' + 'a'.repeat(23),
    's1.' + 'a'.repeat(23),
    'v1.' + 'a'.repeat(41),
    'v1.a|b' + 'c'.repeat(20),
  ])('is not %j', (text) => expect(cardIdOf(text)).toBeUndefined());
});
