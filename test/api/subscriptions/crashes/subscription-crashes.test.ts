// A node dies after each write and around each bank message of a charge that the service makes automatically. Another node continues: one
// period, one invoice, one payment, one operation at the bank.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { notFinal } from '../../../support/checks/ledger-check.ts';
import { openFuse, startNode, type Node } from '../../../support/service/nodes.ts';
import {
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../../support/subscriptions/subscription-world.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../../support/worlds/recurring.ts';

const pastTheLeaseMs = 61_000;
/** Longer than a subscription waits for the end of a payment before it looks. */
const pastTheLookMs = 3_700_000;
const dayMs = 86_400_000;
const maxMoments = 30;

const fuse = openFuse();
let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let mortal: Node;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  mortal = await startNode(world.service, { fuse });
});
afterAll(async () => {
  fuse.set(0);
  await mortal.stop();
  await world.close();
});

async function run(node: Pick<Node, 'jobs'>): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    node.jobs.wake();
    await node.jobs.whenIdle();
  }
}

async function takeOver(): Promise<void> {
  for (const ms of [pastTheLeaseMs, pastTheLeaseMs, pastTheLookMs]) {
    world.service.clock.advance(ms);
    await run(world.service);
  }
}

async function operationsOf(invoiceId: string): Promise<number> {
  return (await world.book()).filter(({ operationId }) => operationId.startsWith(`${invoiceId}.`)).length;
}

/** The invoices of its changes. */
async function changesOf(id: string): Promise<string[]> {
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ invoice_id: string }>(
      `select invoice_id from subscription_invoice as asked where subscription_id = $1
       and not exists (select from subscription_period as period where period.invoice_id = asked.invoice_id)`,
      [id],
    ),
  );
  return rows.map(({ invoice_id: invoiceId }) => invoiceId);
}

const captured = 'after approve_charge';
const declined = 'after a commit';

/** A version more each time, which the job takes before it charges. */
let versions = 0;
async function savePolicy(): Promise<void> {
  versions += 1;
  const saved = await world.service.call('PUT', '/v2/processing/shops/TEST/dunning-policies/gentle', {
    token: world.merchant.apiKey,
    body: { tries: [1], windowDays: 2 + (versions % 3) },
  });
  expect(saved.body).toMatchObject({ version: versions });
}

test.each([
  ['a charge that is captured', 49_900, { outcome: 'paid' }, ['captured'], 1, captured],
  ['a charge that is declined', insufficientFunds, { outcome: 'open' }, ['failed'], 0, declined],
] as const)('%s survives a crash at every step', async (_, price, period, payments, booked, written) => {
  const { merchant } = world;
  const died: string[] = [];
  // Of the run that reached its end: e-mails to the payer come in between at no fixed moment.
  let passed: readonly string[] = [];
  for (;;) {
    // A card of its own, so that no failure of another charge makes this one wait.
    const customerId = await subscriptions.readyCustomer(merchant);
    const items = [{ product: 'Tea', price }];
    await savePolicy();
    const agreed = { items, every: 'P1W', trialDays: 1, dunningPolicy: 'gentle' };
    const { id } = (await subscriptions.create(merchant, customerId, agreed)).body;
    await run(world.service);
    await savePolicy();
    world.service.clock.advance(1.5 * dayMs);
    fuse.set(died.length + 1);
    await run(mortal);
    const death = fuse.blownAt();
    passed = fuse.passed;
    await takeOver();
    const where = `crashed ${death ?? 'nowhere'}`;
    const [, charged, ...others] = await subscriptions.periods(merchant, id);
    expect([charged, others], where).toEqual([expect.objectContaining(period), []]);
    const made = await subscriptions.payments(merchant, charged.invoiceID);
    expect(
      made.map(({ status }) => status),
      where,
    ).toEqual(payments);
    expect(await operationsOf(charged.invoiceID), where).toBe(booked);
    const { openPeriods, dunning } = await subscriptions.get(merchant, id);
    expect(dunning, where).toEqual({ policy: 'gentle', version: versions });
    expect(
      openPeriods.filter(({ isCharging }: { isCharging: boolean }) => isCharging),
      where,
    ).toEqual([]);
    await subscriptions.call(merchant, 'POST', `/v2/processing/subscriptions/${id}/cancel`, { when: 'now' });
    if (death === undefined) break;
    died.push(death);
    expect(died.length, died.join(', ')).toBeLessThan(maxMoments);
  }
  for (const moment of [
    'after claim_due_subscription',
    'after a commit',
    'before authorise',
    'after wake_subscription',
  ])
    expect(passed).toContain(moment);
  expect(passed).toContain(written);
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});

test.each([
  ['is captured', 49_900, ['captured'], 1],
  ['is declined', 2 * insufficientFunds, ['failed'], 0],
] as const)('a change whose charge %s survives a crash at every step', async (_, more, payments, booked) => {
  const { merchant } = world;
  const price = 10_000;
  const items = (cost: number) => [{ product: 'Tea', price: cost }];
  const died: string[] = [];
  let passed: readonly string[] = [];
  for (;;) {
    const customerId = await subscriptions.readyCustomer(merchant);
    const body = { items: items(price), every: 'P30D', timeZone: 'UTC' };
    const { id } = (await subscriptions.create(merchant, customerId, body)).body;
    await run(world.service);
    // The difference of the second half is the amount that the bank may decline.
    const begins = Math.floor(Date.parse(world.service.clock.now()) / dayMs) * dayMs;
    world.service.clock.advance(begins + 15 * dayMs - Date.parse(world.service.clock.now()));
    const path = `/v2/processing/subscriptions/${id}`;
    fuse.set(died.length + 1);
    const asked = { token: merchant.apiKey, body: { items: items(price + more), when: 'now' } };
    // The node may die before it answers.
    await mortal.call('POST', `${path}/change`, asked).catch(() => undefined);
    await run(mortal);
    const death = fuse.blownAt();
    passed = fuse.passed;
    await takeOver();
    const where = `crashed ${death ?? 'nowhere'}`;
    const [invoiceID] = await changesOf(id);
    if (invoiceID === undefined) throw new Error(`The change was lost: ${where}.`);
    expect(await changesOf(id), where).toHaveLength(1);
    const made = await subscriptions.payments(merchant, invoiceID);
    expect(
      made.map(({ status }) => status),
      where,
    ).toEqual(payments);
    expect(await operationsOf(invoiceID), where).toBe(booked);
    const after = await subscriptions.get(merchant, id);
    expect([after.items[0].price, after.pendingChange?.failedFor], where).toEqual(
      booked === 1 ? [price + more, undefined] : [price, 'funds'],
    );
    await subscriptions.call(merchant, 'POST', `${path}/cancel`, { when: 'now' });
    if (death === undefined) break;
    died.push(death);
    expect(died.length, died.join(', ')).toBeLessThan(maxMoments);
  }
  expect(passed).toContain('before authorise');
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});

test('the refund of an end survives a crash at every step', async () => {
  const { merchant } = world;
  const died: string[] = [];
  let passed: readonly string[] = [];
  for (;;) {
    const customerId = await subscriptions.readyCustomer(merchant);
    const { id } = (await subscriptions.create(merchant, customerId, { every: 'P1W' })).body;
    await run(world.service);
    const [{ invoiceID }] = await subscriptions.periods(merchant, id);
    fuse.set(died.length + 1);
    const asked = { token: merchant.apiKey, body: { when: 'now', refund: 'last' } };
    const path = `/v2/processing/subscriptions/${id}/cancel`;
    // The node may die before it answers.
    await mortal.call('POST', path, asked).catch(() => undefined);
    await run(mortal);
    const death = fuse.blownAt();
    passed = fuse.passed;
    await takeOver();
    const where = `crashed ${death ?? 'nowhere'}`;
    const { status, endRefund } = await subscriptions.get(merchant, id);
    expect(status, where).toBe('ended');
    expect(endRefund, where).toEqual({
      refund: 'last',
      isPending: false,
      refunds: [{ amount: 49_900, invoiceID, paymentID: '1', refundID: '100' }],
    });
    const [payment] = await subscriptions.payments(merchant, invoiceID);
    expect(payment.status, where).toBe('refunded');
    const refunds = (await world.book()).filter(({ operationId }) => operationId === `${invoiceID}.1.100`);
    expect(refunds, where).toHaveLength(1);
    if (death === undefined) break;
    died.push(death);
    expect(died.length, died.join(', ')).toBeLessThan(maxMoments);
  }
  for (const moment of ['after a commit', 'before refund', 'after end_refund'])
    expect(passed).toContain(moment);
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});
