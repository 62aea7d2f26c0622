// POST /sandbox/faults: a merchant lets its own charges fail, and never those of another party.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { startTestService, type Merchant } from '../../support/service/test-service.ts';

const visa = '4242424242424242';
const mastercard = '5555555555554444';

let world: PaymentWorld;
let merchants = 0;

beforeAll(async () => {
  world = await startPaymentWorld();
});
afterAll(() => world.close());

/** With a terminal of its own for each shop. */
async function newMerchant(merchantIds?: string): Promise<Merchant> {
  const merchant = await world.createMerchant();
  const own = merchantIds ?? `M${(merchants += 1)}`;
  for (const shopId of ['TEST', 'TEST_USD', 'TEST_EUR']) {
    const at = { id: 'T1', bankId: 'BANK', merchantId: `${own}_${shopId}`, descriptor: 'SHOP' };
    await world.service.banks.putTerminal({ ...at, partyId: merchant.partyId, shopId, priority: 1 });
  }
  return merchant;
}

const order = (by: Merchant, body: object) =>
  world.service.call('POST', '/sandbox/faults', { token: by.apiKey, body });

/** The error's code of a payment, or its status. */
async function outcome(by: Merchant, number = visa, shop: Record<string, unknown> = {}): Promise<string> {
  const { call, jobs } = world.service;
  const invoice = await makeInvoice(world.service, by, shop);
  const stored = await call('POST', paymentResourcesUrl, {
    token: invoice.token,
    body: cardBody({ cardNumber: number }),
  });
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: stored.body.paymentToolToken,
    contactInfo: {},
  };
  await call('POST', `${invoicesUrl}/${invoice.id}/payments`, { token: by.apiKey, body: { payer } });
  await jobs.whenIdle();
  const { body } = await call('GET', `${invoicesUrl}/${invoice.id}/payments/1`, { token: by.apiKey });
  return body.error?.subError?.code ?? body.status;
}

describe('a fault that a merchant orders', () => {
  test('fails as many of its charges as it says, and no other operation', async () => {
    const merchant = await newMerchant();
    expect((await order(merchant, { kind: 'decline', code: '51', next: 2 })).status).toBe(204);
    expect(await outcome(merchant)).toBe('insufficient_funds');
    expect(await outcome(merchant, mastercard, { shopID: 'TEST_USD', currency: 'USD' })).toBe(
      'insufficient_funds',
    );
    expect(await outcome(merchant)).toBe('captured');
  });

  test('can be for a card, a shop and a terminal', async () => {
    const merchant = await newMerchant();
    await order(merchant, { kind: 'decline', code: '54', card: mastercard });
    expect(await outcome(merchant)).toBe('captured');
    expect(await outcome(merchant, mastercard)).toBe('payment_tool_rejected');
    await order(merchant, { kind: 'decline', code: '51', shopID: 'TEST_USD', terminal: 'T1' });
    expect(await outcome(merchant)).toBe('captured');
    expect(await outcome(merchant, visa, { shopID: 'TEST_USD', currency: 'USD' })).toBe('insufficient_funds');
  });

  test('concerns no other party', async () => {
    const [merchant, other] = [await newMerchant(), await newMerchant()];
    await order(merchant, { kind: 'decline', code: '51' });
    expect(await outcome(other)).toBe('captured');
    expect(await outcome(merchant), 'it was not used up').toBe('insufficient_funds');
  });

  test('is refused where another party uses the terminal too, or has retired it', async () => {
    const [merchant, other] = [await newMerchant('SHARED'), await newMerchant('SHARED')];
    const refused = { status: 400, body: { code: 'faultNotOrdered' } };
    expect(await order(merchant, { kind: 'decline', code: '51' })).toMatchObject(refused);
    await world.service.database.withClient((client) =>
      client.query('update terminal set retired_at = now() where party_id = $1', [other.partyId]),
    );
    expect(await order(merchant, { kind: 'decline', code: '51' })).toMatchObject(refused);
    expect(await outcome(merchant)).toBe('captured');
  });

  test.each([
    [{ kind: 'decline', code: '51', terminal: 'T9' }, 400, 'faultNotOrdered'],
    [{ kind: 'decline', code: '51', shopID: 'NONE' }, 404, undefined],
    [{ kind: 'decline' }, 400, 'invalidRequest'],
    [{ kind: 'decline', code: '00' }, 400, 'invalidRequest'],
    [{ kind: 'not-done', code: '51' }, 400, 'invalidRequest'],
    [{ kind: 'outage', on: true }, 400, 'invalidRequest'],
    [{ kind: 'lost-callback' }, 400, 'invalidRequest'],
    [{ kind: 'not-done', operationKind: 'payout' }, 400, 'invalidRequest'],
    [{ kind: 'not-done', operationKind: 'inquire' }, 400, 'invalidRequest'],
    [{ kind: 'not-done', operationKind: 'refund', card: visa }, 400, 'invalidRequest'],
  ])('like %j is refused', async (body, status, code) => {
    const answer = await order(await newMerchant(), body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test('is refused by a bank that is not simulated, or away', async () => {
    const merchant = await newMerchant();
    const { banks, app } = world.service;
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as { port: number };
    for (const url of [`http://127.0.0.1:${port}/bank`, 'http://127.0.0.1:1']) {
      await banks.putBank({ id: 'ELSEWHERE', url, secret: 'a secret of the tests that is long enough' });
      const at = { id: 'T2', bankId: 'ELSEWHERE', merchantId: 'E', descriptor: 'SHOP' };
      await banks.putTerminal({ ...at, partyId: merchant.partyId, shopId: 'TEST', priority: 2 });
      const { status, body } = await order(merchant, { kind: 'decline', code: '51', terminal: 'T2' });
      expect([status, body.code]).toEqual([400, 'faultNotOrdered']);
    }
  });
});

test('live mode takes no faults', async () => {
  const live = await startTestService({ MANDATE_MODE: 'live', PUBLIC_URL: 'https://pay.example' });
  try {
    const { apiKey } = await live.createMerchant();
    const body = { kind: 'decline', code: '51' };
    expect((await live.call('POST', '/sandbox/faults', { token: apiKey, body })).status).toBe(404);
  } finally {
    await live.close();
  }
});
