// Prefer: wait=<seconds>: the response comes when the outcome is known, and says how long it could have taken.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { startNode } from '../../support/service/nodes.ts';
import type { Answer } from '../../support/service/test-service.ts';
import { customersUrl } from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

const visa = '4242424242424242';
const challenged = '4012888888881881';

let world: PayoutWorld;
let bank: FaultyBank;
let key: string;

beforeAll(async () => {
  world = await startPayoutWorld();
  bank = waylay(world.service.banks);
});
afterAll(() => world.close());
/** Only four requests of a key wait. */
beforeEach(async () => void (key = await newKey(['*'])));

function newKey(scopes: string[]): Promise<string> {
  const { partyId } = world.merchant;
  return world.service.apiKeys.create({ partyId, name: 'waits', scopes });
}

type More = { readonly token?: string; readonly headers?: Record<string, string> };

const waiting = (
  method: 'GET' | 'POST',
  url: string,
  body?: unknown,
  { token = key, headers = {} }: More = {},
) =>
  world.service.call(method, url, {
    token,
    headers: { prefer: 'wait=10', ...headers },
    ...(body === undefined ? {} : { body }),
  });

async function paymentOf(cardNumber: string) {
  const { id, token } = await makeInvoice(world.service, world.merchant);
  const card = await world.tokenize(cardNumber);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: card.token, contactInfo: {} };
  return { id, token, url: `${invoicesUrl}/${id}/payments`, body: { payer, externalID: id } };
}

async function pay(cardNumber: string, more?: More): Promise<Answer> {
  const { url, body } = await paymentOf(cardNumber);
  return waiting('POST', url, body, more);
}

const said = ({ status, body, headers }: Answer) => [status, body?.status, headers['preference-applied']];

/** The bank has the next message of that kind, and answers when `answer` is called. */
function bankThinks(kind: Parameters<FaultyBank['meanwhile']>[0]) {
  let answer = () => {};
  let arrive = () => {};
  const asked = new Promise<void>((resolve) => (arrive = resolve));
  const answered = new Promise<void>((resolve) => (answer = resolve));
  bank.meanwhile(kind, () => {
    arrive();
    return answered;
  });
  return { asked, answer: () => answer() };
}

describe('a creation is answered with its outcome:', () => {
  test('a payment', async () => {
    expect(said(await pay(visa))).toEqual([201, 'captured', 'wait=10']);
    expect(said(await pay('4000000000000002'))).toEqual([201, 'failed', 'wait=10']);
  });

  test('a hold', async () => {
    const { url, body } = await paymentOf(visa);
    const held = await waiting('POST', url, { ...body, flow: { type: 'PaymentFlowHold' } });
    expect(said(held)).toEqual([201, 'processed', 'wait=10']);
  });

  test('a refund', async () => {
    const { body } = await pay(visa);
    const url = `${invoicesUrl}/${body.invoiceID}/payments/${body.id}/refunds`;
    const refund = await waiting('POST', url, { amount: 1_000, externalID: body.invoiceID });
    expect(said(refund)).toEqual([201, 'succeeded', 'wait=10']);
  });

  test('a binding', async () => {
    const body = { shopID: 'TEST', contactInfo: {}, metadata: {} };
    const { customer, customerAccessToken } = (await waiting('POST', customersUrl, body)).body;
    const card = await world.tokenize(visa, customerAccessToken.payload);
    const paymentResource = { paymentToolToken: card.token, paymentSession: card.session };
    const url = `${customersUrl}/${customer.id}/bindings`;
    const made = await waiting('POST', url, { paymentResource }, { token: customerAccessToken.payload });
    expect(said(made)).toEqual([201, 'succeeded', 'wait=10']);
    expect(made.body.isActive).toBe(true);
  });

  test('a withdrawal', async () => {
    const { id } = await world.destinationFor(visa);
    const body = { wallet: world.wallet, destination: id, body: { amount: 1_000, currency: 'RUB' } };
    const made = await waiting('POST', '/wallet/v0/withdrawals', body);
    expect(said(made)).toEqual([202, 'Succeeded', 'wait=10']);
    expect(made.headers['location']).toContain(made.body.id);
  });

  test('also to a key that may not read it', async () => {
    const token = await newKey(['payments:write']);
    const paid = await pay(visa, { token });
    expect(said(paid)).toEqual([201, 'captured', 'wait=10']);
    const url = `${invoicesUrl}/${paid.body.invoiceID}/payments/1`;
    expect((await waiting('GET', url, undefined, { token })).status).toBe(401);
  });

  test('a repeat too', async () => {
    const { url, body } = await paymentOf(visa);
    const { asked, answer } = bankThinks('authorise');
    const first = waiting('POST', url, body);
    await asked;
    const repeat = waiting('POST', url, body);
    answer();
    expect(said(await first)).toEqual([201, 'captured', 'wait=10']);
    expect(said(await repeat)).toEqual([201, 'captured', 'wait=10']);
  });
});

test('a read is answered with the outcome', async () => {
  const { url, body, id } = await paymentOf(visa);
  const { asked, answer } = bankThinks('authorise');
  const { headers } = await world.service.call('POST', url, { token: key, body });
  expect(headers['preference-applied']).toBe(undefined);
  await asked;
  const reads = [waiting('GET', `${url}/1`), waiting('GET', `/v2/processing/payments?externalID=${id}`)];
  answer();
  for (const read of reads) expect(said(await read)).toEqual([200, 'captured', 'wait=10']);

  const refunding = bankThinks('refund');
  const externalID = `${id} back`;
  const made = await world.service.call('POST', `${url}/1/refunds`, { token: key, body: { externalID } });
  expect(made.body.status).toBe('pending');
  await refunding.asked;
  const refunds = [
    waiting('GET', `${url}/1/refunds/${made.body.id}`),
    waiting('GET', `/v2/processing/refunds?externalID=${encodeURIComponent(externalID)}`),
  ];
  refunding.answer();
  for (const read of refunds) expect(said(await read)).toEqual([200, 'succeeded', 'wait=10']);
  expect((await refunds[1])?.body).toMatchObject({ invoiceID: id, paymentID: '1' });
});

test('a payer who has to authenticate is sent on at once, and a read waits for them', async () => {
  const created = await pay(challenged);
  expect(said(created)).toEqual([201, 'pending', 'wait=10']);
  const id = created.body.invoiceID;
  expect((await world.changes({ id, token: '' })).map(({ changeType }) => changeType)).toContain(
    'PaymentInteractionRequested',
  );
  await world.decide({ id, token: '' }, 'confirm');
  const resumed = bankThinks('inquire');
  const returned = world.service.call('GET', `/payer/return/${id}/1`);
  await resumed.asked;
  const read = waiting('GET', `${invoicesUrl}/${id}/payments/1`);
  resumed.answer();
  expect(said(await read)).toEqual([200, 'captured', 'wait=10']);
  await returned;
});

test('without an outcome the response says how long it waited for it', async () => {
  bank.always('authorise', 'message lost');
  bank.always('inquire', 'message lost');
  const unknown = await pay(visa, { headers: { prefer: 'foo, wait="2"' } });
  bank.always('authorise', undefined);
  bank.always('inquire', undefined);
  expect(said(unknown)).toEqual([201, 'pending', 'wait=2']);
});

test.each([
  ['with an Idempotency-Key', { 'idempotency-key': 'the-key' }],
  ['with a deadline that leaves no time', { 'x-request-deadline': '2s' }],
  ['with a value that cannot be read', { prefer: 'wait=soon' }],
])('%s nothing waits', async (_, headers) => {
  const thinking = bankThinks('authorise');
  const created = await pay(visa, { headers });
  expect(said(created)).toEqual([201, 'pending', undefined]);
  thinking.answer();
  await world.service.jobs.whenIdle();
});

test('a refusal and an object without an outcome have no Preference-Applied', async () => {
  const refused = await waiting('GET', `${invoicesUrl}/unknown/payments/1`);
  expect(said(refused)).toEqual([404, undefined, undefined]);
  const { id } = await paymentOf(visa);
  expect(said(await waiting('GET', `${invoicesUrl}/${id}`))).toEqual([200, 'unpaid', undefined]);
});

test('a fifth request of a key is answered at once', async () => {
  const { url, body, token } = await paymentOf(visa);
  const { asked, answer } = bankThinks('authorise');
  const created = world.service.call('POST', url, { token: key, body });
  await asked;
  const reads = Array.from({ length: 5 }, () => waiting('GET', `${url}/1`));
  expect(said(await Promise.race(reads))).toEqual([200, 'pending', undefined]);
  const byPayer = waiting('GET', `${url}/1`, undefined, { token });
  answer();
  await created;
  const all = (await Promise.all(reads)).map(said);
  expect(all.filter(([, status]) => status === 'captured')).toHaveLength(4);
  expect(all.filter(([, , applied]) => applied === 'wait=10')).toHaveLength(4);
  expect(said(await byPayer)).toEqual([200, 'captured', 'wait=10']);
  expect(said(await waiting('GET', `${url}/1`))).toEqual([200, 'captured', 'wait=10']);
});

test('the job that finds the outcome wakes who waits for it', async () => {
  // On this node no pause ends, so that nothing is read again before it is woken.
  const ports = { ...world.service.ports, pause: () => new Promise<void>(() => {}) };
  const node = await startNode({ ...world.service, ports });
  const { url, body } = await paymentOf(visa);
  const paid = await node.call('POST', url, { token: key, body, headers: { prefer: 'wait=10' } });
  expect(said(paid)).toEqual([201, 'captured', 'wait=10']);
  await node.stop();
});

test('a node that stops answers who waits', async () => {
  const node = await startNode(world.service);
  const { url, body } = await paymentOf(visa);
  const { asked, answer } = bankThinks('authorise');
  const created = world.service.call('POST', url, { token: key, body });
  await asked;
  const read = node.call('GET', `${url}/1`, { token: key, headers: { prefer: 'wait=10' } });
  await node.stop();
  const answered = await read;
  answer();
  await created;
  expect(said(answered)).toEqual([200, 'pending', undefined]);
});
