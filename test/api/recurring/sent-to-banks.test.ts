// What banks receive of a series over HTTP: network IDs and instalments, and the same in a repeat.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { OperationAnswer } from '../../../src/acquiring/adapters/http/responses.ts';
import { listeningBank } from '../../support/bank/heard-messages.ts';
import { subscriptionWorld } from '../../support/subscriptions/subscription-world.ts';
import { consentLinkWorld, dearer } from '../../support/worlds/consent-links.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { recurringWorld, type RecurringWorld } from '../../support/worlds/recurring.ts';

const hour = 3_600_000;
const visa = '4242424242424242';
const bank = listeningBank();
let world: CustomerWorld;
let recurring: RecurringWorld;
beforeAll(async () => {
  world = await startCustomerWorld({}, { employ: bank.employ });
  recurring = recurringWorld(world);
});
afterAll(() => world.close());
beforeEach(() => void (bank.heard.length = 0));

const initiations = () => bank.ofKind('authorise').map(({ initiation }) => initiation);
/** The IDs that the bank returned for an operation. */
async function idsOf(operationId: string) {
  const { service } = world;
  const [payment, version] = operationId.split('.');
  const { rows } = await service.database.withClient((client) =>
    client.query<{ all: OperationAnswer }>(
      `select state->'approval'->'networkIds' as all from payment where invoice_id = $1 and payment_id = $2`,
      [payment, version],
    ),
  );
  return rows[0]?.all;
}

test('a charge names the first payment and the previous one by all their network IDs', async () => {
  const parent = await recurring.parent();
  const second = await recurring.charge(parent, 100, { body: { makeRecurrent: true } });
  await world.service.jobs.whenIdle();
  await recurring.charged({ invoiceID: second.body.invoiceID, paymentID: '1' }, 200);
  const root = await idsOf(`${parent.invoiceID}.1`);
  const previous = await idsOf(`${second.body.invoiceID}.1`);
  expect(root).toMatchObject([{ kind: 'visaTid' }]);
  expect(previous).not.toEqual(root);
  const [, fromFirst, fromSecond] = initiations();
  expect(fromFirst).toMatchObject({ rootNetworkIds: root });
  expect(fromFirst).not.toHaveProperty('previousNetworkIds');
  expect(fromSecond).toMatchObject({ rootNetworkIds: root, previousNetworkIds: previous });
});

test('the payment that starts a series and its charges name the same payer, and one that saves no card none', async () => {
  const parent = await recurring.parent();
  await recurring.charged(parent, 100);
  await world.paid(visa);
  const references = bank.ofKind('authorise').map(({ payer }) => payer?.reference);
  const series = `${parent.invoiceID}.${parent.paymentID}`;
  expect(references).toEqual([series, series, undefined]);
});

test('a charge of a saved card names its verification by all its network IDs', async () => {
  const customerID = await subscriptionWorld(world).readyCustomer(world.merchant);
  const invoice = await recurring.invoice(100);
  const charged = await world.service.call('POST', `/v2/processing/invoices/${invoice.id}/payments`, {
    token: world.merchant.apiKey,
    body: { payer: { payerType: 'CustomerPayer', customerID } },
  });
  expect(charged.status, charged.text).toBe(201);
  await world.service.jobs.whenIdle();
  const { rootNetworkTransactionId: value, rootNetworkIds } = initiations().at(-1) ?? {};
  expect(rootNetworkIds).toEqual([{ kind: 'visaTid', value }]);
});

test('an instalment says which one it is, also in a repeat and after a decline', async () => {
  const recurrentTerms = { chargeReason: 'instalment' };
  const started = await world.paid(visa, { makeRecurrent: true, recurrentTerms });
  const parent = { invoiceID: started.id, paymentID: '1' };
  const [lacking, next] = [await recurring.invoice(199_051), await recurring.invoice(100)];
  bank.heard.length = 0;
  expect(await recurring.charged(parent, lacking)).toBe('failed');
  world.service.clock.advance(25 * hour);
  bank.refuseNext(1);
  expect((await recurring.charge(parent, next)).status).toBe(201);
  for (let turn = 0; turn < 3; turn++) {
    await world.service.jobs.whenIdle();
    world.service.clock.advance(60_000);
    world.service.jobs.wake();
  }
  await world.service.jobs.whenIdle();
  await recurring.charged(parent, 100);
  expect(initiations().map(({ reason, sequence }) => [reason, sequence])).toEqual([
    ['instalment', { number: 2 }],
    ['instalment', { number: 2 }],
    ['instalment', { number: 2 }],
    ['instalment', { number: 3 }],
  ]);
  const [, first, repeat] = bank.ofKind('authorise');
  expect(repeat).toEqual(first);
});

test('an instalment has no number once the payer has agreed again', async () => {
  const recurrentTerms = { chargeReason: 'instalment' };
  const started = await world.paid(visa, { makeRecurrent: true, recurrentTerms });
  const parent = { invoiceID: started.id, paymentID: '1' };
  const url = `/v2/processing/invoices/${started.id}/payments/1/recurring`;
  const { seriesID } = (await world.service.call('GET', url, { token: world.merchant.apiKey })).body;
  const links = consentLinkWorld(world);
  const terms = { ...dearer, chargeReason: 'instalment' };
  const link = await links.made(seriesID, { terms });
  await links.agree(link);
  expect(await links.read(link)).toMatchObject({ status: 'done' });
  bank.heard.length = 0;
  await recurring.charged(parent, 100);
  expect(initiations().map(({ reason, sequence }) => [reason, sequence])).toEqual([
    ['instalment', undefined],
  ]);
});

test('an instalment of a subscription says of how many, and other charges do not', async () => {
  const subscriptions = subscriptionWorld(world);
  const of = async (chargeReason: string) => {
    const customer = await world.createCustomer();
    const made = await world.bind(customer, visa, { recurrentTerms: { chargeReason } });
    expect(made.created.status, made.created.text).toBe(201);
    await world.service.jobs.whenIdle();
    bank.heard.length = 0;
    const created = await subscriptions.create(world.merchant, customer.id, { periods: 3 });
    expect(created.status, created.text).toBe(201);
    await subscriptions.settle();
    return initiations().map(({ reason, sequence }) => [reason, sequence]);
  };
  expect(await of('instalment')).toEqual([['instalment', { number: 1, of: 3 }]]);
  expect(await of('recurring')).toEqual([['recurring', undefined]]);
});
