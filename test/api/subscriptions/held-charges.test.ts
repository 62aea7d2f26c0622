// A bank at which too many charges fail gets none of subscriptions for a time. Payers who are present are not held.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { laterBy } from '../../../src/clock.ts';
import { abilities } from '../../../src/sandbox/bank/state/abilities.ts';
import { startNode } from '../../support/service/nodes.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { payerPage } from '../../support/subscriptions/payer-page.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';
import { consentLinkWorld } from '../../support/worlds/consent-links.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { declinedWith } from '../../support/worlds/recurring.ts';

const minute = 60_000;
/** Of each network that declines without a reason there are enough for the later test. */
const cards = [
  '2201382000000013',
  '586824160825533338',
  '4242424242424242',
  '5555555555554444',
  '4000000000005704',
  '4300000000000777',
  '2222990905257051',
  '2223577120017656',
];
/** One card may be declined nine times a day. */
const timesEach = 9;
let cardsUsed = 0;
const priceOf = (price: number) => ({ items: [{ product: 'Tea', price }] });
/** The issuer cannot be reached. */
const technical = declinedWith(91);
const resetBeforeBooking = 199_903;
/** No reason is given. */
const vague = declinedWith('05');

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld({}, { abilities: { ...abilities, foreignNetworkIds: true } });
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());
/** What was charged before counts no more. */
beforeEach(() => world.service.clock.advance(5 * minute));

async function chargesCounted(): Promise<string[]> {
  const { text } = await world.service.call('GET', '/metrics');
  return text.split('\n').filter((line) => line.startsWith('mandate_subscription_charges_total{'));
}

async function heldBanks(): Promise<string[]> {
  const { text } = await world.service.call('GET', '/metrics');
  return text.split('\n').filter((line) => line.startsWith('mandate_bank_charges_held_seconds{'));
}

/** New customers, whose first charges end so. */
async function subscribe(by: Merchant, times: number, price: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < times; number++) {
    const customerId = await subscriptions.readyCustomer(by, cards[Math.floor(cardsUsed++ / timesEach)]);
    ids.push((await subscriptions.create(by, customerId, priceOf(price))).body.id);
  }
  await subscriptions.settle();
  return ids;
}

test('charges wait while a bank fails, and are made when the hold is over', async () => {
  const { clock, database } = world.service;
  const by = await world.createMerchant();
  const waiting = await subscriptions.readyCustomer(by);
  await subscribe(by, 20, technical);
  expect(await heldBanks()).toEqual(['mandate_bank_charges_held_seconds{bank="BANK"} 0']);

  const { id } = (await subscriptions.create(by, waiting)).body;
  await subscriptions.settle();
  const second = await startNode(world.service);
  expect(await second.banks.holdsCharges('BANK', clock.now())).toBe(true);
  const wakeAt = async () => {
    const text = `select wake_at, version, attempts from subscription where subscription_id = $1`;
    return (await database.withClient((client) => client.query(text, [id]))).rows[0];
  };
  const putOff = await wakeAt();
  const inMs = Date.parse(putOff.wake_at) - Date.parse(clock.now());
  expect([inMs >= 5 * minute, inMs < 15 * minute]).toEqual([true, true]);
  // It is no attempt and no event, and the payer gets no email.
  expect(putOff).toMatchObject({ version: 1, attempts: 0 });
  expect(await subscriptions.periods(by, id)).toEqual([]);

  // Another node knows, also of a row that is due again before the hold is over.
  await database.withClient((client) =>
    client.query('update subscription set wake_at = $2 where subscription_id = $1', [id, clock.now()]),
  );
  second.jobs.wake();
  await second.jobs.whenIdle();
  await second.stop();
  expect(await wakeAt()).toMatchObject({ version: 1, attempts: 0 });

  const unpaid = (await subscriptions.createUnpaid(by)).body;
  await subscriptions.pay(by, unpaid.firstInvoiceID);
  await subscriptions.settle();
  expect((await subscriptions.get(by, unpaid.id)).status).toBe('active');

  clock.advance(15 * minute);
  await subscriptions.settle();
  expect((await subscriptions.get(by, id)).status).toBe('active');
  expect(await heldBanks()).toEqual([]);
  const counted = (labels: string, count: number) => `mandate_subscription_charges_total{${labels}} ${count}`;
  expect((await chargesCounted()).toSorted()).toEqual([
    counted('outcome="failed",because="technical"', 20),
    counted('outcome="paid",because=""', 1),
    counted('outcome="postponed",because="held"', 1),
  ]);
});

test('nearly all first charges that are declined without a reason hold the bank for an hour', async () => {
  const { clock } = world.service;
  await subscribe(await world.createMerchant(), 49, vague);
  expect(await heldBanks()).toEqual([]);
  const by = await world.createMerchant();
  await subscribe(by, 1, vague);
  expect(await heldBanks()).toHaveLength(1);
  const [id = ''] = await subscribe(by, 1, 49_900);
  clock.advance(45 * minute);
  await subscriptions.settle();
  expect(await subscriptions.periods(by, id)).toEqual([]);
  clock.advance(30 * minute);
  await subscriptions.settle();
  expect((await subscriptions.get(by, id)).status).toBe('active');
  expect(await heldBanks()).toEqual([]);
});

test('refunds that fail by a fault hold nothing', async () => {
  const by = await world.createMerchant();
  const ids = await subscribe(by, 20, 300_000);
  for (const id of ids) {
    const [{ invoiceID }] = await subscriptions.periods(by, id);
    const refunds = `/v2/processing/invoices/${invoiceID}/payments/1/refunds`;
    expect((await subscriptions.call(by, 'POST', refunds, { amount: technical })).status).toBe(201);
    await subscriptions.settle();
    expect((await subscriptions.call(by, 'GET', refunds)).body).toMatchObject([{ status: 'failed' }]);
  }
  expect(await heldBanks()).toEqual([]);
});

describe('a charge that is on its way when its bank is held', () => {
  const holdFor = (minutes: number) => async (banks: { forget(id: string): Promise<void> }) => {
    const { clock, database } = world.service;
    const text = `update bank set charges_held_until = $1 where bank_id = 'BANK'`;
    await database.withClient((client) => client.query(text, [laterBy(clock.now(), minutes * minute)]));
    await banks.forget('BANK');
  };

  async function paymentsOf(by: Merchant): Promise<any[]> {
    const text = `select status, terms -> 'terminal' ->> 'id' as terminal, wake_at, attempts, stuck_reason
                  from payment where party_id = $1 order by created_at`;
    return (await world.service.database.withClient((client) => client.query(text, [by.partyId]))).rows;
  }

  test('is put back if its bank has not received it, and comes back after 5 to 15 minutes', async () => {
    const { banks, clock } = world.service;
    const by = await world.createMerchant();
    await subscribe(by, 4, resetBeforeBooking);
    await holdFor(10)(banks);
    clock.advance(minute / 6);
    await subscriptions.settle();
    const payments = await paymentsOf(by);
    const inMs = payments.map(({ wake_at }) => Date.parse(wake_at) - Date.parse(clock.now()));
    for (const ms of inMs) expect([ms >= 5 * minute, ms < 15 * minute]).toEqual([true, true]);
    expect(new Set(inMs).size).toBe(4);
    expect(payments[0]).toMatchObject({
      status: 'authorising',
      attempts: 1,
      stuck_reason: 'the charges of the bank are held',
    });
    clock.advance(16 * minute);
    await subscriptions.settle();
    expect((await paymentsOf(by)).map(({ status }) => status)).toEqual(Array(4).fill('captured'));
  });

  /** A node that cannot reach the bank creates a subscription. `before` runs when it would send the charge. */
  async function chargeFromAfar(
    by: Merchant,
    before: (banks: typeof world.service.banks) => Promise<void>,
  ): Promise<void> {
    const customerId = await subscriptions.readyCustomer(by);
    const node = await startNode(world.service, {
      bankOf: (real) => ({
        ...real,
        async send(operation) {
          if (operation.terminal.bankId !== 'BANK') return real.send(operation);
          await before(node.banks);
          return { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };
        },
      }),
    });
    const { call, jobs } = node;
    await subscriptionWorld({ ...world, service: { ...world.service, call, jobs } }).create(by, customerId);
    await jobs.whenIdle();
    await node.stop();
  }

  async function postponementsOf(by: Merchant): Promise<any[]> {
    const text = `select fact ->> 'type' as type, fact ->> 'why' as why from event, jsonb_array_elements(facts::jsonb) fact
                  where party_id = $1 and fact ->> 'type' in ('charge_postponed', 'charge_failed') and aggregate = 'subscription'`;
    return (await world.service.database.withClient((client) => client.query(text, [by.partyId]))).rows;
  }

  test.each<[string, (by: Merchant) => Promise<unknown>]>([
    ['that its bank has not received', (by) => subscribe(by, 1, resetBeforeBooking)],
    ['that could not be sent', (by) => chargeFromAfar(by, holdFor(60))],
  ])('%s is postponed at its deadline, and made soon after the hold', async (_, begin) => {
    const { banks, clock } = world.service;
    const by = await world.createMerchant();
    await holdFor(0)(banks);
    await begin(by);
    await holdFor(60)(banks);
    for (let passed = 0; passed < 60; passed += 5) {
      expect((await paymentsOf(by)).length).toBe(1);
      clock.advance(5 * minute);
      await subscriptions.settle();
    }
    expect((await paymentsOf(by))[0]).toMatchObject({ status: 'failed' });
    expect(await postponementsOf(by)).toEqual([{ type: 'charge_postponed', why: 'held' }]);
    for (const passed of [15, 1]) {
      clock.advance(passed * minute);
      await subscriptions.settle();
    }
    expect((await paymentsOf(by)).map(({ status }) => status)).toEqual(['failed', 'captured']);
  });

  test.each<[string, number | undefined]>([
    ['whose terms the payer has agreed to', 49_900],
    ['whose first charge it is', undefined],
  ])('of a change %s is made soon after the hold', async (_, consentedMinor) => {
    const { banks, clock } = world.service;
    const by = await world.createMerchant();
    await holdFor(0)(banks);
    const customer = await world.createCustomer({}, by);
    const recurrentTerms = {
      schedule: 'P1M',
      amountRule: { kind: 'fixed', amount: consentedMinor ?? 1_000_000_000 },
    };
    await world.bind(customer, cards[2] ?? '', { recurrentTerms });
    await subscriptions.settle();
    const { id } = (await subscriptions.create(by, customer.id, priceOf(49_900))).body;
    await subscriptions.settle();
    const act = (verb: string, price: number) =>
      subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${verb}`, {
        ...priceOf(price),
        when: 'now',
        credit: 'none',
      });
    // What is left of the month costs what the bank resets.
    const whole = 1_000_000_000;
    const left = (await act('preview', whole)).body.amount / whole;
    const price = Math.ceil((resetBeforeBooking - 0.5) / left);
    const changed = await act('change', price);
    expect(changed.body.pendingChange).toMatchObject({ amount: resetBeforeBooking });
    await subscriptions.settle();
    if (consentedMinor !== undefined) {
      clock.advance(minute);
      const page = payerPage(world.service);
      const path = new URL(await page.does(await page.linkTo(by, id), 'agree'), 'http://payer').pathname;
      await consentLinkWorld({ ...world, merchant: by }).agree({ id: path.split('/')[2] ?? '', path });
      await subscriptions.settle();
    }
    const { pendingChange } = await subscriptions.get(by, id);
    const charges = async () =>
      (await subscriptions.payments(by, pendingChange.invoiceID)).map(({ status }) => status);
    expect(await charges()).toEqual(['pending']);

    await holdFor(60)(banks);
    for (let passed = 0; passed < 60; passed += 5) {
      expect(await charges()).toHaveLength(1);
      clock.advance(5 * minute);
      await subscriptions.settle();
    }
    expect(await charges()).toEqual(['failed']);
    const waiting = await subscriptions.get(by, id);
    expect(waiting.pendingChange).toMatchObject({ failedFor: 'held', isCharging: false });
    expect(waiting.nextActionAt).toBeDefined();
    for (const passed of [15, 1]) {
      clock.advance(passed * minute);
      await subscriptions.settle();
    }
    expect(await charges()).toEqual(['failed', 'captured']);
    const { items } = await subscriptions.get(by, id);
    expect(items).toMatchObject([{ price }]);
  });

  test.each([
    ['goes to no other bank', holdFor(20), { status: 'authorising', terminal: 'T1' }],
    ['would go there without the hold', holdFor(0), { status: 'captured', terminal: 'T2' }],
  ])('%s', async (_, before, expected) => {
    const by = await world.createMerchant();
    const { service, bank, bankSecret } = world;
    await holdFor(0)(service.banks);
    await service.banks.putBank({ id: 'SECOND', url: bank.url, secret: bankSecret });
    await service.learnAbilities();
    const terminal = { id: 'T2', bankId: 'SECOND', merchantId: 'TEST', descriptor: 'TEST SHOP' };
    await service.banks.putTerminal({ ...terminal, partyId: by.partyId, shopId: 'TEST', priority: 2 });
    await chargeFromAfar(by, before);
    expect(await paymentsOf(by)).toMatchObject([expected]);
  });
});
