// Create invoice with randomizeAmount: the invoice is for an amount near the one that was sent.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { invoicesUrl, order } from '../../support/worlds/invoices.ts';

let world: PaymentWorld;
beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

const create = (more: object) =>
  world.service.call('POST', invoicesUrl, { token: world.merchant.apiKey, body: { ...order, ...more } });
const read = async (id: string) =>
  (await world.service.call('GET', `${invoicesUrl}/${id}`, { token: world.merchant.apiKey })).body;

const amount = 100_000;
/** The difference by hand: each of 0 to 99000 minor units, by the hash of the ID. */
const upward = { deviation: 99_000, precision: 0, direction: 'upward' };
const drawnFor = (id: string) =>
  Number(createHash('sha256').update(`amount ${id}`).digest().readBigUInt64BE() % 99_001n);
const amountsOf = async (randomizeAmount: object) =>
  (await Promise.all(Array.from({ length: 12 }, () => create({ amount, randomizeAmount })))).map(
    ({ body }) => body.invoice.amount as number,
  );

describe('an invoice with randomizeAmount', () => {
  test.each([
    ['both', {}, 97_500, 102_500],
    ['upward', { direction: 'upward' }, 100_000, 102_500],
    ['downward', { direction: 'downward' }, 97_500, 100_000],
  ])('is for an amount within the deviation, %s', async (_, more, lowest, highest) => {
    for (const drawn of await amountsOf({ deviation: 2_500, ...more })) {
      expect(drawn).toBeGreaterThanOrEqual(lowest);
      expect(drawn).toBeLessThanOrEqual(highest);
      expect(drawn % 100).toBe(0);
    }
  });

  test('has the amount that its ID draws', async () => {
    const { body } = await create({ amount, randomizeAmount: upward });
    expect(body.invoice.amount).toBe(amount + drawnFor(body.invoice.id));
  });

  test.each([
    { minAmountCondition: 100_001 },
    { maxAmountCondition: 99_999 },
    { amountMultiplicityCondition: 7 },
  ])('keeps an amount that does not meet %j', async (condition) => {
    const randomizeAmount = { deviation: 50_000, precision: 0, ...condition };
    expect(new Set(await amountsOf(randomizeAmount))).toEqual(new Set([amount]));
  });

  test('is stored, shown and paid with that amount', async () => {
    const invoice = await world.pay(
      '4242424242424242',
      {},
      {
        amount,
        randomizeAmount: upward,
      },
    );
    await world.service.jobs.whenIdle();
    const { amount: stored, status, amountRandomized } = await read(invoice.id);
    expect(status).toBe('paid');
    expect(amountRandomized).toEqual({ original: amount, randomized: stored });
    expect(stored).toBe(amount + drawnFor(invoice.id));
    expect((await world.payment(invoice)).amount).toBe(stored);
    const [created] = await world.changes(invoice);
    expect(created.invoice).toMatchObject({ amount: stored, amountRandomized });
    expect(await world.differences()).toEqual([]);
  });

  test('has its amount in the one line of its cart', async () => {
    const cart = [{ product: 'Tea', price: amount }];
    const { body } = await create({ amount, cart, randomizeAmount: upward });
    const { amount: drawn } = body.invoice;
    expect(drawn).toBe(amount + drawnFor(body.invoice.id));
    expect(body.invoice.cart).toEqual([{ product: 'Tea', quantity: 1, price: drawn, cost: drawn }]);
    expect((await read(body.invoice.id)).cart).toEqual(body.invoice.cart);
  });

  test('is the same for a repeat, and another for another wish', async () => {
    const wish = { amount, externalID: 'drawn', randomizeAmount: { deviation: 50_000, precision: 2 } };
    const first = await create(wish);
    const again = await create({ ...wish, randomizeAmount: { deviation: 50_000, direction: 'both' } });
    expect(again.body.invoice).toEqual(first.body.invoice);
    expect(again.body.invoice.amountRandomized.original).toBe(amount);
    expect((await create({ amount })).body.invoice).not.toHaveProperty('amountRandomized');
    expect((await create({ ...wish, randomizeAmount: { deviation: 40_000 } })).status).toBe(409);
    expect((await create({ amount, externalID: 'drawn' })).status).toBe(409);
  });
});

test.each<[string, object, string]>([
  [
    'a deviation that leaves nothing',
    { amount: 1_000, randomizeAmount: { deviation: 1_000 } },
    'invalidInvoiceCost',
  ],
  [
    'a deviation beyond the largest amount',
    { amount: 999_999_999_999, randomizeAmount: { deviation: 100, direction: 'upward' } },
    'invalidInvoiceCost',
  ],
  [
    'a cart of two lines',
    {
      amount: undefined,
      cart: [
        { product: 'A', price: 5 },
        { product: 'B', price: 5 },
      ],
      randomizeAmount: { deviation: 1 },
    },
    'invalidInvoiceCart',
  ],
  [
    'a cart with two of one',
    { amount: undefined, cart: [{ product: 'A', price: 5, quantity: 2 }], randomizeAmount: { deviation: 1 } },
    'invalidInvoiceCart',
  ],
  ['no deviation', { randomizeAmount: {} }, 'invalidRequest'],
  ['a list', { randomizeAmount: [] }, 'invalidRequest'],
  ['a negative deviation', { randomizeAmount: { deviation: -1 } }, 'invalidRequest'],
  ['a precision of 6', { randomizeAmount: { deviation: 1, precision: 6 } }, 'invalidRequest'],
  ['another direction', { randomizeAmount: { deviation: 1, direction: 'up' } }, 'invalidRequest'],
  [
    'a multiplicity of 0',
    { randomizeAmount: { deviation: 1, amountMultiplicityCondition: 0 } },
    'invalidRequest',
  ],
])('with %s no invoice is created', async (_, more, code) => {
  expect(await create(more)).toMatchObject({ status: 400, body: { code } });
});
