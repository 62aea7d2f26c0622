import { expect, test } from 'vitest';
import { parseInstant, type Instant } from '../clock.ts';
import type { Currency } from '../money.ts';
import type { BindingFact, BindingTerms } from './domain/binding.ts';
import { written } from '../platform/database/codec.ts';
import { customerLogFact } from './store/codec.ts';
import { customersTopic } from './webhook-events.ts';
import type { CustomerFact, CustomerTerms } from './domain/customer.ts';

const at = parseInstant('2026-01-19T10:00:00.123456Z') as Instant;
const terms: CustomerTerms = {
  id: 'C',
  partyId: 'P',
  shopId: 'SHOP',
  createdAt: at,
  contactInfo: { email: 'payer@example.com', firstName: 'Not sent' },
  metadata: { client: '42' },
};
const bindingTerms: BindingTerms = {
  customerId: 'C',
  id: 'B',
  number: 1,
  partyId: 'P',
  shopId: 'SHOP',
  createdAt: at,
  amount: { minor: 1_000n, currency: 'RUB' as Currency },
  card: {
    token: 'v1.secret',
    session: 's1.secret',
    details: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
    clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
  },
  deadline: at,
  terminal: { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
  livemode: false,
};
const ofCustomer = (fact: CustomerFact) => written(customerLogFact, fact);
const ofBinding = (fact: BindingFact) => written(customerLogFact, { ...fact, bindingId: 'B' });
const approval = { reference: '900000000001' };
const story = [
  [ofCustomer({ type: 'customer_created', terms })],
  [ofBinding({ type: 'binding_started', terms: bindingTerms })],
  [ofBinding({ type: 'binding_charged', approval, returnBy: at })],
  [ofBinding({ type: 'binding_succeeded' }), ofCustomer({ type: 'customer_ready', bindingId: 'B' })],
  [ofBinding({ type: 'binding_withdrawn', at }), ofCustomer({ type: 'customer_unready' })],
  [ofCustomer({ type: 'customer_deleted' })],
];
const log = story.map((facts, index) => ({ sequence: index + 1, createdAt: at, facts }));
const customer = (status: string) => ({
  id: 'C',
  shopID: 'SHOP',
  status,
  contactInfo: { email: 'payer@example.com' },
  metadata: { client: '42' },
});
const binding = (status: string) => ({
  id: 'B',
  status,
  paymentResource: {
    paymentToolDetails: expect.objectContaining({ bin: '424242', cardNumberMask: '424242******4242' }),
    clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
  },
});

test('webhook events of a first binding have the order of the contract, each with the state after its fact', () => {
  const webhookEvents = customersTopic.webhookEventsOf(log);
  expect(
    webhookEvents.map(({ sequence, index, eventType, members }) => [sequence, index, eventType, members]),
  ).toEqual([
    [1, 0, 'CustomerCreated', { customer: customer('unready') }],
    [2, 0, 'CustomerBindingStarted', { customer: customer('unready'), binding: binding('pending') }],
    [4, 0, 'CustomerBindingSucceeded', { customer: customer('unready'), binding: binding('succeeded') }],
    [4, 1, 'CustomerReady', { customer: customer('ready') }],
    [6, 0, 'CustomerDeleted', { customer: customer('unready') }],
  ]);
  for (const { sequence, facts } of log) {
    const sent = webhookEvents.filter((event) => event.sequence === sequence);
    expect(customersTopic.typesOf(facts)).toEqual(sent.map(({ registeredType }) => registeredType));
  }
  expect(customersTopic.ownersOf(story[0]!)).toEqual([{ id: 'SHOP' }]);
});

test('the event of a failed binding has the failure, and no event has the card token', () => {
  const failed = { type: 'binding_failed', failure: ['authorization_failed', 'insufficient_funds'] } as const;
  const webhookEvents = customersTopic.webhookEventsOf([
    ...log.slice(0, 2),
    { ...log[2]!, facts: [ofBinding(failed)] },
  ]);
  expect(webhookEvents.at(-1)).toMatchObject({
    eventType: 'CustomerBindingFailed',
    members: {
      binding: {
        status: 'failed',
        error: { code: 'authorization_failed', message: 'insufficient_funds' },
      },
    },
  });
  expect(JSON.stringify([customersTopic.webhookEventsOf(log), webhookEvents])).not.toContain('secret');
});

test('unknown facts from a newer node are skipped, and known ones are sent', () => {
  expect(
    customersTopic.typesOf([{ type: 'fact_of_tomorrow' }, { type: 'customer_ready', bindingId: 'B' }]),
  ).toEqual(['CustomerReady']);
});
