// What a request has that its operation does not declare: it is ignored, a warning says so, and requests made before are recognised.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestFingerprint } from '../../../src/platform/http/idempotent-create.ts';
import { customersUrl } from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice, order } from '../../support/worlds/invoices.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import {
  startTestService,
  type Answer,
  type CallOptions,
  type Merchant,
  type TestService,
} from '../../support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const post = (url: string, body: unknown, headers: CallOptions['headers'] = {}): Promise<Answer> =>
  service.call('POST', url, { token: merchant.apiKey, body, headers });
const warnings = ({ headers }: Answer) => headers['mandate-warnings'];

/** What the log says about the unknown members of this request. */
function logged(requestId: string, of = service): unknown[] {
  return of.logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg, requestId: id }) => msg === 'unknown members ignored' && id === requestId);
}

describe('an internal name in the body', () => {
  test('is not the externalID of an invoice', async () => {
    const body = { ...order, externalId: 'e1' };
    const [first, second] = [await post(invoicesUrl, body), await post(invoicesUrl, body)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.invoice).not.toHaveProperty('externalID');
    expect(second.body.invoice.id).not.toBe(first.body.invoice.id);
  });

  test('is not the amount of an invoice', async () => {
    const { amount: _, ...unpriced } = order;
    const { status, body } = await post(invoicesUrl, { ...unpriced, amountMinor: -100 });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalidInvoiceCost' });
  });

  test('is not kept inside an object that is', async () => {
    const contactInfo = { email: 'payer@example.com', partyId: 'x' };
    const made = await post(customersUrl, { shopID: 'TEST', contactInfo });
    expect(made.status).toBe(201);
    const { rows } = await service.database.withClient((client) =>
      client.query('select facts from event where aggregate_id = $1', [made.body.customer.id]),
    );
    expect(rows[0].facts[0].terms.contactInfo).toEqual({ email: 'payer@example.com' });
  });
});

describe('a response', () => {
  test('lists unknown members with the nearest name, without their values', async () => {
    const answer = await post(
      invoicesUrl,
      { ...order, makeRecuring: true, descripton: 'SECRET', cart: [{ product: 'x', price: 6000, prise: 1 }] },
      { 'x-request-id': 'misspelt' },
    );
    expect(answer.status).toBe(201);
    expect(warnings(answer)).toBe(
      'unknownMember;field="makeRecuring";nearest="makeRecurrent", ' +
        'unknownMember;field="descripton";nearest="description", ' +
        'unknownMember;field="cart[0].prise";nearest="price"',
    );
    expect(logged('misspelt')).toEqual([
      expect.objectContaining({
        level: 'info',
        operation: 'createInvoice',
        partyId: merchant.partyId,
        members: ['makeRecuring', 'descripton', 'cart[0].prise'],
        count: 3,
      }),
    ]);
    expect(service.logged.join('')).not.toContain('SECRET');
  });

  test('lists unknown parameters of the query, also where there are none to know', async () => {
    const { id } = await makeInvoice(service, merchant);
    const { apiKey: token } = merchant;
    const events = await service.call('GET', `${invoicesUrl}/${id}/events?limit=1&eventId=1`, { token });
    expect([events.status, warnings(events)]).toEqual([
      200,
      'unknownParameter;field="eventId";nearest="eventID"',
    ]);
    const read = await service.call('GET', `${invoicesUrl}/${id}?%0d%0aSet-Cookie:%20a=1`, { token });
    expect([read.status, warnings(read)]).toEqual([200, 'unknownParameter;field="%0D%0ASet-Cookie%3A%20a"']);
    expect(read.headers).not.toHaveProperty('set-cookie');
  });

  test('lists them for a refused request, where a required member is misspelt', async () => {
    const { currency: _, ...others } = order;
    const answer = await post(invoicesUrl, { ...others, curency: 'RUB' });
    expect([answer.status, warnings(answer)]).toEqual([
      400,
      'unknownMember;field="curency";nearest="currency"',
    ]);
  });

  test('has no list if the request has nothing unknown', async () => {
    const metadata = { amountMinor: 1, externalId: 'mine' };
    const answer = await post(invoicesUrl, { ...order, metadata }, { 'x-request-id': 'right' });
    expect(answer.body.invoice.metadata).toEqual(metadata);
    expect([answer.status, warnings(answer), logged('right')]).toEqual([201, undefined, []]);
  });

  test('hides a card number that is the name of a member', async () => {
    const { paymentTool, clientInfo } = cardBody();
    const wrong = { paymentTool: { ...paymentTool, '4242424242424242': 1 }, clientInfo };
    const answer = await post(paymentResourcesUrl, wrong);
    expect(warnings(answer)).toBe('unknownMember;field="paymentTool.424242******4242"');
  });

  test('lets a page of another origin read the list', async () => {
    const { headers } = await post(invoicesUrl, order);
    expect(String(headers['access-control-expose-headers']).split(', ')).toContain('Mandate-Warnings');
  });
});

test('in live mode a response lists them too, and the log has them at debug level', async () => {
  const live = await startTestService({ MANDATE_MODE: 'live', PUBLIC_URL: 'https://pay.example' });
  try {
    const { apiKey: token } = await live.createMerchant();
    const headers = { 'x-request-id': 'live' };
    const body = { ...order, externalId: 'e1' };
    const answer = await live.call('POST', invoicesUrl, { token, body, headers });
    expect([answer.status, warnings(answer)]).toEqual([
      201,
      'unknownMember;field="externalId";nearest="externalID"',
    ]);
    expect(logged('live', live)).toMatchObject([{ level: 'debug', members: ['externalId'] }]);
  } finally {
    await live.close();
  }
});

describe('a repeat', () => {
  test('under an Idempotency-Key is the same request only with the same unknown members', async () => {
    const key = { 'idempotency-key': 'unknown-1' };
    const first = await post(invoicesUrl, { ...order, colour: 'red' }, key);
    const again = await post(invoicesUrl, { ...order, colour: 'red' }, key);
    const other = await post(invoicesUrl, { ...order, colour: 'blue' }, key);
    expect([again.status, again.text, warnings(again)]).toEqual([201, first.text, warnings(first)]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(other.body.code).toBe('idempotencyKeyReused');
  });

  test('of a customer made by an earlier version is recognised by what its contactInfo had undeclared', async () => {
    const contactInfo = { email: 'payer@example.com', mail: 'undeclared' };
    const body = { shopID: 'TEST', contactInfo, externalID: 'from before' };
    const made = await post(customersUrl, body);
    const { rows } = await service.database.withClient((client) =>
      client.query<{ fingerprint: Buffer }>(
        `select fingerprint from external_id where operation = 'createCustomer' and external_id = $1`,
        ['from before'],
      ),
    );
    // As every version has written it.
    const stored = requestFingerprint(['TEST', Object.entries(contactInfo)]);
    expect(rows[0]?.fingerprint.toString('hex')).toBe(stored.toString('hex'));
    expect((await post(customersUrl, body)).body.customer.id).toBe(made.body.customer.id);
  });
});
