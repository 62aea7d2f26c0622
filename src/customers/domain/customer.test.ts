import { describe, expect, test } from 'vitest';
import { parseInstant, type Instant } from '../../clock.ts';
import type { Party, Shop } from '../../merchants/domain/party.ts';
import type { Currency } from '../../money.ts';
import {
  activeBindingOf,
  afterBound,
  afterWithdrawn,
  customerStateAfter,
  decideCreate,
  newCustomer,
  type CustomerFact,
  type CustomerState,
} from './customer.ts';

const now = parseInstant('2026-01-19T10:00:00.123456Z') as Instant;
const party: Party = { id: 'P', name: 'Party', isBlocked: false, isSuspended: false, clockOffsetMs: 0 };
const shop: Shop = {
  id: 'TEST',
  partyId: 'P',
  livemode: false,
  name: 'Shop',
  url: 'https://shop.example',
  categoryId: 1,
  currency: 'RUB' as Currency,
  fees: {},
  whenShort: 'refuse',
  threeDSecure: 'whenTheBankSays',
  oneOffReceipts: false,
  origins: [],
  isBlocked: false,
  isSuspended: false,
  createdAt: now,
};
const command = { id: 'C', shopId: 'TEST', contactInfo: { email: 'a@example.com' }, metadata: { a: 1 } };
const created: CustomerFact = {
  type: 'customer_created',
  terms: { ...command, partyId: 'P', createdAt: now },
};

test('a customer is created unready, for the party and the shop', () => {
  expect(decideCreate(party, shop, command, now)).toEqual({ ok: true, value: created });
  expect(newCustomer(created)).toEqual({
    ...command,
    partyId: 'P',
    createdAt: now,
    state: { name: 'unready' },
    bindingsMade: 0,
  });
});

test.each([
  ['of another party', { ...command, partyId: 'Q' }, party, shop, 'invalidPartyID'],
  ['for an unknown shop', command, party, undefined, 'invalidShopID'],
  ['of a blocked party', command, { ...party, isBlocked: true }, shop, 'invalidPartyStatus'],
  ['for a suspended shop', command, party, { ...shop, isSuspended: true }, 'invalidShopStatus'],
])('a customer %s is refused', (_, asked, by, at, code) => {
  expect(decideCreate(by, at, asked, now)).toEqual({ ok: false, refusal: { code } });
});

describe('the lifecycle of a customer', () => {
  const states: Record<string, CustomerState | undefined> = {
    absent: undefined,
    unready: { name: 'unready' },
    ready: { name: 'ready', activeBindingId: 'A' },
    deleted: { name: 'deleted' },
  };
  const facts: CustomerFact[] = [
    created,
    { type: 'customer_ready', bindingId: 'B' },
    { type: 'active_binding_changed', bindingId: 'B' },
    { type: 'customer_unready' },
    { type: 'customer_deleted' },
  ];
  const withB = { name: 'ready', activeBindingId: 'B' };
  // Written out, not read from the table under test.
  const expected: Record<string, Record<string, object>> = {
    absent: { customer_created: { name: 'unready' } },
    unready: { customer_ready: withB, customer_deleted: { name: 'deleted' } },
    ready: {
      active_binding_changed: withB,
      customer_unready: { name: 'unready' },
      customer_deleted: { name: 'deleted' },
    },
  };
  for (const [from, state] of Object.entries(states)) {
    for (const fact of facts) {
      const to = expected[from]?.[fact.type];
      if (to) test(`${from} allows ${fact.type}`, () => expect(customerStateAfter(state, fact)).toEqual(to));
      else
        test(`${from} cannot have ${fact.type}`, () =>
          expect(() => customerStateAfter(state, fact)).toThrow(/cannot have/));
    }
  }
});

test('the card bound last is active, and after it is revoked the one before', () => {
  const follow = (state: CustomerState, facts: readonly CustomerFact[]) =>
    facts.reduce((was, fact) => customerStateAfter(was, fact), state);
  let state = follow({ name: 'unready' }, [afterBound({ state: { name: 'unready' } }, 'A')]);
  expect(activeBindingOf({ state })).toBe('A');
  state = follow(state, [afterBound({ state }, 'B')]);
  expect(activeBindingOf({ state })).toBe('B');
  // Revoking a binding that is not active adds no fact.
  expect(afterWithdrawn({ state }, 'A', 'B')).toEqual([]);
  state = follow(state, afterWithdrawn({ state }, 'B', 'A'));
  expect(activeBindingOf({ state })).toBe('A');
  state = follow(state, afterWithdrawn({ state }, 'A', undefined));
  expect(activeBindingOf({ state })).toBeUndefined();
});

test('revoking the last card makes the customer unready', () => {
  const state = { name: 'ready', activeBindingId: 'A' } as const;
  expect(afterWithdrawn({ state }, 'A', undefined)).toEqual([{ type: 'customer_unready' }]);
});
