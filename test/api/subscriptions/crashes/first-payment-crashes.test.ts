// A node dies after each write, and around each bank message, of the payment that starts a subscription. The merchant repeats the
// request, and another node continues: one subscription with one period, one payment, one operation at the bank.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { notFinal } from '../../../support/checks/ledger-check.ts';
import { openFuse, startNode, type Node } from '../../../support/service/nodes.ts';
import { subscriptionsUrl, subscriptionWorld } from '../../../support/subscriptions/subscription-world.ts';
import { startCustomerWorld, type CustomerWorld } from '../../../support/worlds/customer-world.ts';

const pastTheLeaseMs = 61_000;
/** Longer than a subscription that is incomplete waits for the end of a payment before it looks. */
const pastTheLookMs = 3_700_000;
const maxMoments = 30;

const fuse = openFuse();
let world: CustomerWorld;
let mortal: Node;

beforeAll(async () => {
  world = await startCustomerWorld();
  mortal = await startNode(world.service, { fuse });
});
afterAll(async () => {
  fuse.set(0);
  await mortal.stop();
  await world.close();
});

async function run(node: Pick<Node, 'jobs'>): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    node.jobs.wake();
    await node.jobs.whenIdle();
  }
}

test('a first payment survives a crash at every step', async () => {
  const subscriptions = subscriptionWorld(world);
  const { merchant } = world;
  const { apiKey: token } = merchant;
  const died: string[] = [];
  let passed: readonly string[] = [];
  for (;;) {
    const post = (node: Pick<Node, 'call'>, path: string, body: object) =>
      node.call('POST', path, { token, body });
    const asked = {
      shopID: 'TEST',
      externalID: `first-${died.length}`,
      uniqueKey: `key-${died.length}`,
      items: [{ product: 'Tea', price: 49_900 }],
      every: 'P1W',
      timeZone: 'UTC',
    };
    const card = await world.tokenize('4242424242424242', token);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: card.token, contactInfo: {} };
    fuse.set(died.length + 1);
    await post(mortal, subscriptionsUrl, asked);
    const { body } = await post(world.service, subscriptionsUrl, asked);
    const payments = `/v2/processing/invoices/${body.firstInvoiceID}/payments`;
    await post(mortal, payments, { externalID: `p-${died.length}`, payer });
    await mortal.jobs.whenIdle();
    const death = fuse.blownAt();
    ({ passed } = fuse);
    const repeat = await post(world.service, payments, { externalID: `p-${died.length}`, payer });
    for (const ms of [0, pastTheLeaseMs, pastTheLeaseMs, pastTheLookMs]) {
      world.service.clock.advance(ms);
      await run(world.service);
    }
    const where = `crashed ${death ?? 'nowhere'}: ${repeat.text}`;
    expect(await subscriptions.get(merchant, body.id), where).toMatchObject({ status: 'active' });
    const periods = await subscriptions.periods(merchant, body.id);
    expect(periods, where).toMatchObject([
      { number: 1, outcome: 'paid', amount: 49_900, invoiceID: body.firstInvoiceID },
    ]);
    expect(periods, where).toHaveLength(1);
    const booked = await world.book();
    const operations = booked.filter(({ operationId }) => operationId.startsWith(`${body.firstInvoiceID}.`));
    expect(operations, where).toHaveLength(1);
    await subscriptions.call(merchant, 'POST', `${subscriptionsUrl}/${body.id}/cancel`, { when: 'now' });
    if (death === undefined) break;
    died.push(death);
    expect(died.length, died.join(', ')).toBeLessThan(maxMoments);
  }
  for (const moment of ['after a commit', 'before authorise', 'after authorise', 'after wake_subscription'])
    expect(passed).toContain(moment);
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});
