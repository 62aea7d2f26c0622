// The order in which a repeated request is checked before it gets its response, the same for everything that has an external ID.
// Each test breaks the rules of two steps.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { customersUrl } from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import type { Answer } from '../../support/service/test-service.ts';
import { setTradingFlag, tradingFlags, type TradingFlag } from '../../support/worlds/block-merchant.ts';

const visa = '4242424242424242';
const mastercard = '5555555555554444';

let world: PaymentWorld;
beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

let names = 0;
const newName = () => `repeated ${++names}`;
const post = (url: string, body: object): Promise<Answer> =>
  world.service.call('POST', url, { token: world.merchant.apiKey, body });

type Repeatable = {
  /** The first request, with response 201. */
  readonly made: Answer;
  again(): Promise<Answer>;
  /** The same external ID with other content. */
  another(): Promise<Answer>;
  /** Makes the object's own rules forbid it, then repeats the request. */
  whenOver(): Promise<Answer>;
};

async function stopped<T>({ of, flag }: TradingFlag, during: () => Promise<T>): Promise<T> {
  await setTradingFlag(world.service, world.merchant, { of, flag }, true);
  try {
    return await during();
  } finally {
    await setTradingFlag(world.service, world.merchant, { of, flag }, false);
  }
}

async function settled<T>(answer: Promise<T>): Promise<T> {
  const heard = await answer;
  await world.service.jobs.whenIdle();
  return heard;
}

async function payWith(invoice: CreatedInvoice, card: string, externalID: string): Promise<Answer> {
  const { token: paymentToolToken } = await world.tokenize(card);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  return settled(post(`${invoicesUrl}/${invoice.id}/payments`, { externalID, payer }));
}

async function payment(): Promise<Repeatable> {
  const invoice = await makeInvoice(world.service, world.merchant);
  const externalID = newName();
  const again = () => payWith(invoice, visa, externalID);
  // Already paid: another payment of the invoice would be refused with invalidInvoiceStatus.
  return {
    made: await again(),
    again,
    another: () => payWith(invoice, mastercard, externalID),
    whenOver: again,
  };
}

async function refund(): Promise<Repeatable> {
  const invoice = await world.paid(visa);
  const externalID = newName();
  const url = `${invoicesUrl}/${invoice.id}/payments/1/refunds`;
  const ask = (more: object) => settled(post(url, { externalID, ...more }));
  return {
    made: await ask({ amount: 10 }),
    again: () => ask({ amount: 10 }),
    another: () => ask({ amount: 11 }),
    // Nothing is left of it: another refund would be refused with invalidPaymentStatus.
    async whenOver() {
      expect((await settled(post(url, {}))).status).toBe(201);
      return ask({ amount: 10 });
    },
  };
}

async function binding(): Promise<Repeatable> {
  const person = { shopID: 'TEST', contactInfo: {}, metadata: {} };
  const { customer } = (await post(customersUrl, person)).body;
  const { token: paymentToolToken, session: paymentSession } = await world.tokenize(visa);
  const other = await world.tokenize(mastercard);
  const externalID = newName();
  const clientInfo = { fingerprint: 'f' };
  const bind = (card: object) =>
    settled(
      post(`${customersUrl}/${customer.id}/bindings`, {
        externalID,
        paymentResource: { ...card, clientInfo },
      }),
    );
  const again = () => bind({ paymentToolToken, paymentSession });
  const another = () => bind({ paymentToolToken: other.token, paymentSession: other.session });
  return { made: await again(), again, another, whenOver: again };
}

async function customer(): Promise<Repeatable> {
  const externalID = newName();
  const ask = (more: object) =>
    post(customersUrl, { shopID: 'TEST', contactInfo: {}, metadata: {}, externalID, ...more });
  const again = () => ask({});
  return {
    made: await again(),
    again,
    another: () => ask({ contactInfo: { email: 'x@example.com' } }),
    whenOver: again,
  };
}

const kinds = { payment, refund, binding, customer };

test.each(tradingFlags)(
  'while the %s %s, another request is a conflict and a repeat is refused',
  { timeout: 120_000 },
  async (of, flag, code) => {
    const all: [string, Repeatable][] = [];
    for (const [kind, make] of Object.entries(kinds)) all.push([kind, await make()]);
    for (const [kind, { made }] of all) expect(made.status, `${kind}: ${made.text}`).toBe(201);
    await stopped({ of, flag }, async () => {
      for (const [kind, { again, another }] of all) {
        expect((await another()).status, kind).toBe(409);
        expect(await again(), kind).toMatchObject({ status: 400, body: { code } });
      }
    });
    for (const [kind, { again }] of all) expect((await again()).status, kind).toBe(201);
  },
);

test.each(Object.entries(kinds))(
  'a repeated %s gets its response before the object’s own rules are checked',
  async (_kind, make) => {
    const { made, whenOver } = await make();
    const answer = await whenOver();
    expect(answer.status, answer.text).toBe(201);
    const idOf = ({ body }: Answer): unknown => (body.customer ?? body).id;
    expect(idOf(answer)).toBe(idOf(made));
  },
);

test('an unusable token is refused before the conflict', async () => {
  const invoice = await makeInvoice(world.service, world.merchant);
  const externalID = newName();
  expect((await payWith(invoice, visa, externalID)).status).toBe(201);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: 'v1.none', contactInfo: {} };
  const body = { externalID, payer };
  expect(await post(`${invoicesUrl}/${invoice.id}/payments`, body)).toMatchObject({
    status: 400,
    body: { code: 'invalidPaymentToolToken' },
  });
});

test('a request refused for a blocked shop may be repeated with its external ID', async () => {
  const invoice = await makeInvoice(world.service, world.merchant);
  const externalID = newName();
  const refused = await stopped({ of: 'shop', flag: 'is_blocked' }, () => payWith(invoice, visa, externalID));
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalidShopStatus' } });
  expect((await payWith(invoice, mastercard, externalID)).status).toBe(201);
});

test('a repeated or new binding of a deleted customer is not found', async () => {
  const person = { shopID: 'TEST', contactInfo: {}, metadata: {} };
  const { customer } = (await post(customersUrl, person)).body;
  const url = `${customersUrl}/${customer.id}`;
  const { token: paymentToolToken, session: paymentSession } = await world.tokenize(visa);
  const paymentResource = { paymentToolToken, paymentSession };
  const externalID = newName();
  const bind = (more: object) =>
    settled(post(`${url}/bindings`, { externalID, paymentResource: { ...paymentResource, ...more } }));
  expect((await bind({})).status).toBe(201);
  await world.service.call('DELETE', url, { token: world.merchant.apiKey });
  expect(await bind({})).toMatchObject({ status: 404 });
  const other = await world.tokenize(mastercard);
  const another = await bind({ paymentToolToken: other.token, paymentSession: other.session });
  expect(another.status).toBe(404);
  expect((await post(`${url}/bindings`, { paymentResource })).status).toBe(404);
});
