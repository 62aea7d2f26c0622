// Every field of payment requests, wrong in every documented way, is refused without a write. The valid body at the end
// proves that the wrong field was the reason.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerChecker, type AnswerCheck } from '../../support/checks/answer-check.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { operationFinder, schemaOf, type Document } from '../../support/requests/openapi.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { wrongBodies } from '../../support/requests/wrong-bodies.ts';

const card = '4242424242424242';
const cart = [
  { product: 'Thing', quantity: 2, price: 1_000, taxMode: { type: 'InvoiceLineTaxVAT', rate: '20%' } },
];

let world: PaymentWorld;
let document: Document;
let check: AnswerCheck;
let tables: string[];

beforeAll(async () => {
  world = await startPaymentWorld();
  document = (await world.service.call('GET', '/openapi.json')).body;
  check = answerChecker(document, { secrets: [], slowestMs: 20_000 });
  const names =
    "select tablename from pg_tables where schemaname = 'public' and tablename <> 'bank' order by 1";
  tables = (await rowsOf(names)).map(({ tablename }) => tablename);
});
afterAll(() => world.close());

async function rowsOf(text: string): Promise<any[]> {
  return world.service.database.withClient(async (client) => (await client.query(text)).rows);
}

/** The row count and a checksum of each table but `bank`: what a bank can do is stored some time after its first answer. */
async function everything(): Promise<unknown> {
  const of = (table: string) =>
    `(select json_build_array(count(*), sum(hashtextextended(r::text, 0))) from ${table} as r) as ${table}`;
  const [row] = await rowsOf(`select ${tables.map(of).join(', ')}`);
  return row;
}

type Case = {
  readonly operation: string;
  readonly status: number;
  /** Business rules that may refuse first. */
  readonly otherwise?: readonly string[];
  /** A valid URL and body. */
  right(): Promise<{ url: string; body: object }>;
};

async function newPayment(flow: string): Promise<string> {
  const { id } = await world.paid(card, { flow: { type: flow } });
  return `${invoicesUrl}/${id}/payments/1`;
}

const cases: readonly Case[] = [
  {
    operation: 'createPaymentResource',
    status: 201,
    right: () =>
      Promise.resolve({
        url: paymentResourcesUrl,
        body: cardBody(
          {},
          { externalID: 'card', clientInfo: { fingerprint: 'x', url: 'https://shop.example' } },
        ),
      }),
  },
  {
    operation: 'createPayment',
    status: 201,
    otherwise: ['invalidPaymentToolToken', 'invalidPaymentSession', 'invalidProcessingDeadline'],
    async right() {
      const invoice = await makeInvoice(world.service, world.merchant);
      const { token: paymentToolToken, session: paymentSession } = await world.tokenize(card);
      const contactInfo = { email: 'payer@example.com', phoneNumber: '+79990000000', country: 'RUS' };
      const sessionInfo = { redirectUrl: 'https://shop.example/done' };
      const body = {
        externalID: 'payment',
        flow: { type: 'PaymentFlowHold', onHoldExpiration: 'capture' },
        payer: {
          payerType: 'PaymentResourcePayer',
          paymentToolToken,
          paymentSession,
          contactInfo,
          sessionInfo,
        },
        makeRecurrent: false,
        processingDeadline: '30m',
        metadata: { order: 7 },
      };
      return { url: `${invoicesUrl}/${invoice.id}/payments`, body };
    },
  },
  {
    operation: 'capturePayment',
    status: 202,
    otherwise: ['allocationNotPermitted', 'inconsistentCaptureCurrency'],
    right: async () => ({
      url: `${await newPayment('PaymentFlowHold')}/capture`,
      body: { reason: 'r', amount: 2_000, currency: 'RUB', cart },
    }),
  },
  {
    operation: 'cancelPayment',
    status: 202,
    right: async () => ({ url: `${await newPayment('PaymentFlowHold')}/cancel`, body: { reason: 'r' } }),
  },
  {
    operation: 'createRefund',
    status: 201,
    otherwise: ['allocationNotPermitted', 'inconsistentRefundCurrency'],
    right: async () => ({
      url: `${await newPayment('PaymentFlowInstant')}/refunds`,
      body: { externalID: 'refund', reason: 'r', amount: 4_000, currency: 'RUB', cart },
    }),
  },
];

test.each(cases)(
  '$operation refuses wrong input and accepts right input',
  async ({ operation, status, otherwise = [], right }) => {
    const { service, merchant } = world;
    const { url, body } = await right();
    await service.jobs.whenIdle();
    const found = operationFinder(document)('POST', url);
    if (typeof found === 'string') throw new Error(`No operation found at ${url}.`);
    expect(found.operationId).toBe(operation);
    const schema = schemaOf(found.requestBody);
    if (!schema) throw new Error(`Operation ${operation} has no body.`);
    const send = (sent: unknown) => service.call('POST', url, { token: merchant.apiKey, body: sent });

    const before = await everything();
    const accepted: string[] = [];
    const wrong = wrongBodies(schema, document, body);
    for (const { what, body: sent } of wrong) {
      const { status: answered, headers, text, body: answer } = await send(sent);
      const problems = check(
        { method: 'POST', url, requestId: 'test' },
        { status: answered, headers, text, tookMs: 0 },
      );
      expect(problems, what).toEqual([]);
      if (answered !== 400 || !['invalidRequest', ...otherwise].includes(answer.code)) {
        accepted.push(`${what}: ${answered} ${answer?.code ?? ''}`);
      }
    }
    expect(accepted).toEqual([]);
    expect(wrong.length).toBeGreaterThan(5);
    expect(await everything()).toEqual(before);

    expect((await send(body)).status).toBe(status);
    await service.jobs.whenIdle();
    expect(await everything()).not.toEqual(before);
  },
);

/** Adds unknown members wherever an object has members. */
function withUnknown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknown);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).map(([name, inner]) => [name, withUnknown(inner)]);
  return { ...Object.fromEntries(known), unknownNumber: 30, unknownNull: null, unknownObject: { of: [1] } };
}

test('a request with unknown members is accepted, and its payment can be read, refunded and charged again', async () => {
  const { service, merchant } = world;
  const ask = async (method: 'GET' | 'POST', url: string, body?: unknown) => {
    const options = body === undefined ? {} : { body: withUnknown(body) };
    const answer = await service.call(method, url, { token: merchant.apiKey, ...options });
    await service.jobs.whenIdle();
    expect(answer.status, `${method} ${url}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  };
  const invoiceBody = {
    shopID: 'TEST',
    dueDate: '2030-01-20T10:00:00Z',
    currency: 'RUB',
    product: 'Order',
    cart,
  };
  const newInvoice = async () =>
    (await ask('POST', invoicesUrl, { ...invoiceBody, metadata: { order: 7 } })).invoice.id;
  const contactInfo = { email: 'payer@example.com', phoneNumber: '+79990000000' };
  const parentID = await newInvoice();
  const resource = await ask('POST', paymentResourcesUrl, cardBody({}, { clientInfo: { fingerprint: 'x' } }));
  await ask('POST', `${invoicesUrl}/${parentID}/payments`, {
    flow: { type: 'PaymentFlowInstant' },
    payer: {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: resource.paymentToolToken,
      paymentSession: resource.paymentSession,
      contactInfo,
    },
    makeRecurrent: true,
  });
  const childID = await newInvoice();
  await ask('POST', `${invoicesUrl}/${childID}/payments`, {
    flow: { type: 'PaymentFlowInstant' },
    payer: {
      payerType: 'RecurrentPayer',
      recurrentParentPayment: { invoiceID: parentID, paymentID: '1' },
      contactInfo,
    },
  });
  for (const id of [parentID, childID]) {
    expect(await ask('GET', `${invoicesUrl}/${id}/payments/1`)).toMatchObject({ status: 'captured' });
    expect(await ask('GET', `${invoicesUrl}/${id}/payments`)).toHaveLength(1);
    expect((await ask('GET', `${invoicesUrl}/${id}/events?limit=50`)).length).toBeGreaterThan(3);
  }
  await ask('POST', `${invoicesUrl}/${parentID}/payments/1/refunds`, {
    reason: 'r',
    amount: 1_000,
    currency: 'RUB',
  });
  expect(await ask('GET', `${invoicesUrl}/${parentID}/payments/1/refunds`)).toMatchObject([
    { status: 'succeeded' },
  ]);
  await ask('GET', `${invoicesUrl}/${parentID}/payments/1/recurring`);
  const { customer } = await ask('POST', '/v2/processing/customers', {
    shopID: 'TEST',
    contactInfo,
    metadata: {},
  });
  expect(await ask('GET', `/v2/processing/customers/${customer.id}`)).toMatchObject({ contactInfo });
  await ask('GET', `/v2/processing/customers/${customer.id}/events?limit=50`);
  expect(await world.differences()).toEqual([]);
});
