// A node dies after each write of a charge and around each bank message, in turn. The merchant repeats the request, and another node
// continues: one invoice, one payment and one operation at the bank.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { openFuse, startNode, type Node } from '../../support/service/nodes.ts';
import { order } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { recurringWorld, type Parent } from '../../support/worlds/recurring.ts';

const pastTheLeaseMs = 61_000;
const maxMoments = 20;

const fuse = openFuse();
let world: PaymentWorld;
let mortal: Node;
let parent: Parent;

beforeAll(async () => {
  world = await startPaymentWorld();
  mortal = await startNode(world.service, { fuse });
  parent = await recurringWorld(world).parent();
});
afterAll(async () => {
  fuse.set(0);
  await mortal.stop();
  await world.close();
});

async function calm(): Promise<void> {
  await mortal.jobs.whenIdle();
  const { clock, jobs } = world.service;
  for (let round = 0; round < 3; round++) {
    clock.advance(pastTheLeaseMs);
    jobs.wake();
    await jobs.whenIdle();
  }
}

async function madeBy(externalID: string): Promise<{ invoices: number; payments: number }> {
  const { rows } = await world.service.database.withClient((client) =>
    client.query(
      `select count(distinct invoice_id)::int as invoices, count(payment_id)::int as payments
       from invoice left join payment using (invoice_id) where invoice.external_id = $1`,
      [externalID],
    ),
  );
  return rows[0];
}

test('a charge survives a crash at every step', async () => {
  const died: string[] = [];
  for (;;) {
    const externalID = `crash-${died.length}`;
    const payer = { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo: {} };
    const body = { invoice: { ...order, externalID }, payment: { payer } };
    const { apiKey: token } = world.merchant;
    const send = (node: Pick<Node, 'call'>) => node.call('POST', '/v2/processing/charges', { token, body });
    fuse.set(died.length + 1);
    const first = await send(mortal);
    const repeat = await send(world.service);
    await calm();
    const death = fuse.blownAt();
    expect(repeat, `crashed ${death}: ${repeat.text}`).toMatchObject({
      status: 201,
      body: { payment: { id: '1' } },
    });
    if (first.status < 500) expect(repeat.body.invoice.id).toBe(first.body.invoice.id);
    expect(await world.payment({ id: repeat.body.invoice.id, token })).toMatchObject({ status: 'captured' });
    expect(await madeBy(externalID)).toEqual({ invoices: 1, payments: 1 });
    if (death === undefined) break;
    died.push(death);
    expect(died.length, died.join(', ')).toBeLessThan(maxMoments);
  }
  expect(died).toEqual([
    'after a commit',
    'before authorise',
    'after authorise',
    'after approve_charge',
    'after end_payer_email',
  ]);
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});
