// What is told of a customer follows from his log, and what is looked at to route it agrees with what is made to be sent.
import { expect, test } from 'vitest';
import { instantAt } from '../clock.ts';
import type { Currency } from '../money.ts';
import type { BindingFact, BindingTerms } from './binding.ts';
import { bindingFactToJson, customerFactToJson } from './customer-json.ts';
import { customersTopic } from './customer.notices.ts';

const at = instantAt(Date.UTC(2026, 0, 19));
const approval = { reference: '406109123456' };
const terms = (id: string): BindingTerms => ({
  customerId: 'C',
  id,
  number: 1,
  partyId: 'P',
  shopId: 'SHOP',
  createdAt: at,
  amount: { minor: 1_000n, currency: 'RUB' as Currency },
  card: {
    token: 'v1.secret-token',
    session: 's1.secret-session',
    details: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
    clientInfo: { fingerprint: 'browser', ip: '203.0.113.7' },
  },
  deadline: at,
  terminal: { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
  realm: 'test',
});
const of = (id: string, fact: BindingFact) => bindingFactToJson(fact, id);
const start = (id: string) => of(id, { type: 'binding_started', terms: terms(id) });

/** One card is bound, another fails, the first is withdrawn, and the customer goes. */
const wholeLife: unknown[][] = [
  [
    customerFactToJson({
      type: 'customer_created',
      terms: {
        id: 'C',
        partyId: 'P',
        shopId: 'SHOP',
        createdAt: at,
        contactInfo: { email: 'a@b.example' },
        metadata: {},
      },
    }),
  ],
  [start('one')],
  [of('one', { type: 'binding_charged', approval, returnBy: at })],
  [
    of('one', { type: 'binding_succeeded' }),
    customerFactToJson({ type: 'customer_ready', bindingId: 'one' }),
  ],
  [start('two')],
  [of('two', { type: 'binding_failed', failure: ['preauthorization_failed', 'three_ds_failed'] })],
  [of('one', { type: 'binding_withdrawn', at }), customerFactToJson({ type: 'customer_unready' })],
  [customerFactToJson({ type: 'customer_deleted' })],
];
const log = wholeLife.map((facts, index) => ({ sequence: index + 1, createdAt: at, facts }));

test('a whole life is told with the state of each moment', () => {
  const told = customersTopic.noticesOf(log).map(({ sequence, place, eventType, members }) => {
    const { customer, binding } = members as Record<
      string,
      { id: string; status: string; error?: { message: string } }
    >;
    return [
      `${sequence}.${place}`,
      eventType,
      customer?.status,
      binding?.id,
      binding?.status,
      binding?.error?.message,
    ]
      .filter((part) => part !== undefined)
      .join(' ');
  });
  expect(told).toEqual([
    '1.0 CustomerCreated unready',
    '2.0 CustomerBindingStarted unready one pending',
    '4.0 CustomerBindingSucceeded unready one succeeded',
    '4.1 CustomerReady ready',
    '5.0 CustomerBindingStarted ready two pending',
    '6.0 CustomerBindingFailed ready two failed three_ds_failed',
    '8.0 CustomerDeleted unready',
  ]);
});

test('the types an event is routed by are those of the notices that are made of it, in order', () => {
  const notices = customersTopic.noticesOf(log);
  wholeLife.forEach((facts, index) => {
    const ofEvent = notices.filter(({ sequence }) => sequence === index + 1);
    expect(customersTopic.typesOf(facts)).toEqual(ofEvent.map(({ subscribedAs }) => subscribedAs));
  });
  expect(customersTopic.ownersOf(wholeLife[0]!)).toEqual([{ id: 'SHOP' }]);
});

test('nothing that could be used to charge a card is in any notice', () => {
  const text = JSON.stringify(customersTopic.noticesOf(log));
  expect(text).not.toMatch(/secret/);
  expect(text).toContain('424242******4242');
});
