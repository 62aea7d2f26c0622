// Payments and refunds at the limits of amounts, currencies, holds and clocks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertShop, setShopFees } from '../../../src/merchants/store/parties.ts';
import { settlementAccount } from '../../../src/platform/ledger/domain/account.ts';
import { readBalance } from '../../../src/platform/ledger/store/journals.ts';
import type { Currency } from '../../../src/money.ts';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { invoicesUrl, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import type { Answer } from '../../support/service/test-service.ts';

const card = '4242424242424242';
const hour = 3_600_000;
const hold = { flow: { type: 'PaymentFlowHold' } };
/** The simulated bank declines the capture of this amount with code 25. */
const captureDeclined = 99_914;

let world: PaymentWorld;
/** The bank releases a hold after an hour. */
const bankHoldMs = hour;

beforeAll(async () => void (world = await startPaymentWorld({}, { holdMs: bankHoldMs })));
afterAll(() => world.close());

async function post(invoice: CreatedInvoice, path: string, body: object): Promise<Answer> {
  const url = `${invoicesUrl}/${invoice.id}/payments/1/${path}`;
  const answer = await world.service.call('POST', url, { token: world.merchant.apiKey, body });
  await world.service.jobs.whenIdle();
  return answer;
}

async function payIn(currency: string, amount: number, more: object = {}): Promise<CreatedInvoice> {
  const shopID = currency === 'RUB' ? 'TEST' : `TEST_${currency}`;
  const invoice = await world.pay(card, { ...more }, { shopID, currency, amount });
  expect(invoice.created.status, invoice.created.text).toBe(201);
  await world.service.jobs.whenIdle();
  return invoice;
}

async function openShop(currency: string): Promise<void> {
  const { service, merchant } = world;
  const shop_id = `TEST_${currency}`;
  const created_at = service.clock.now();
  const shop = {
    party_id: merchant.partyId,
    shop_id,
    livemode: false,
    name: shop_id,
    url: 'https://shop.example',
  };
  await service.database.run(insertShop, { ...shop, category_id: 1, currency, created_at });
  const fees = {
    processing: { basisPoints: 250n, fixedMinor: 3n },
    refund: { basisPoints: 0n, fixedMinor: 1n },
  };
  await service.database.run(setShopFees, { party_id: merchant.partyId, shop_id, fees });
  const terminal = { id: 'T1', merchantId: shop_id, descriptor: 'TEST SHOP' };
  await service.banks.putTerminal({
    ...terminal,
    partyId: merchant.partyId,
    shopId: shop_id,
    bankId: 'BANK',
    priority: 1,
  });
}

/** The amount that a shop of the currency can pay out. */
async function availableIn(currency: string): Promise<number> {
  const { partyId } = world.merchant;
  const shopId = currency === 'RUB' ? 'TEST' : `TEST_${currency}`;
  const account = settlementAccount({ livemode: false, currency: currency as Currency, partyId, shopId });
  return Number((await readBalance(world.service.database, account)).available);
}

async function pass(ms: number, steps = 1): Promise<void> {
  for (let step = 0; step < steps; step++) {
    world.service.clock.advance(ms);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
  }
}

describe('the largest amount', () => {
  const largest = 999_999_999_999;

  test('is charged, held, captured in part and refunded in full, and one kopeck more is refused', async () => {
    const before = await availableIn('RUB');
    const sold = await payIn('RUB', largest);
    expect(await world.payment(sold)).toMatchObject({ status: 'captured', amount: largest });
    const held = await payIn('RUB', largest, hold);
    await post(held, 'capture', { reason: 'r', amount: largest - 1, currency: 'RUB' });
    expect(await world.payment(held)).toMatchObject({ status: 'captured', amount: largest - 1 });
    expect(await availableIn('RUB')).toBe(before + 2 * largest - 1);

    expect((await post(sold, 'refunds', { amount: largest - 1 })).status).toBe(201);
    expect(await post(sold, 'refunds', { amount: 2 })).toMatchObject({
      body: { code: 'invoicePaymentAmountExceeded' },
    });
    expect((await post(sold, 'refunds', { amount: 1 })).status).toBe(201);
    expect(await world.payment(sold)).toMatchObject({ status: 'refunded', amount: largest });
    expect(await availableIn('RUB')).toBe(before + largest - 1);

    for (const path of ['refunds', 'capture']) {
      const refused = await post(held, path, { reason: 'r', amount: largest + 1 });
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
    }
  });

  test('is not a limit for the balance of a shop', async () => {
    await openShop('HUF');
    const sales = 3;
    for (let sale = 0; sale < sales; sale++) await payIn('HUF', largest);
    // 2.5 % rounded, plus three.
    const fee = 25_000_000_000 + 3;
    expect(await availableIn('HUF')).toBe(sales * (largest - fee));
  });
});

describe.each([
  ['JPY', 'JPY 6,001'],
  ['KWD', 'KWD 6.001'],
])('%s, whose minor unit is not a hundredth', (currency, shown) => {
  test('is charged, held, challenged and refunded in minor units with fees, and displayed with its own digits', async () => {
    await openShop(currency);
    const sold = await payIn(currency, 6_001);
    expect(await world.payment(sold)).toMatchObject({ status: 'captured', amount: 6_001, currency });
    const fee = 150 + 3;
    expect(await availableIn(currency)).toBe(6_001 - fee);
    expect((await post(sold, 'refunds', { amount: 1 })).status).toBe(201);
    expect(await availableIn(currency)).toBe(6_001 - fee - 1 - 1);

    const held = await payIn(currency, 77, hold);
    await post(held, 'capture', { reason: 'r', amount: 1, currency });
    expect(await world.payment(held)).toMatchObject({ status: 'captured', amount: 1, currency });

    const shopID = `TEST_${currency}`;
    const asked = await world.pay('4556418324571052', {}, { shopID, currency, amount: 6_001 });
    await world.service.jobs.whenIdle();
    const [{ userInteraction }] = (await world.changes(asked)).slice(-1);
    const page = await (await fetch(userInteraction.request.uriTemplate)).text();
    expect(page.replaceAll('\u00a0', ' ')).toContain(shown);
    await world.authenticate(asked, 'confirm');
    expect(await world.payment(asked)).toMatchObject({ status: 'captured' });
  });

  test('is refused in a capture or refund of another currency', async () => {
    const held = await payIn(currency, 500, hold);
    expect(await post(held, 'capture', { reason: 'r', amount: 5, currency: 'RUB' })).toMatchObject({
      body: { code: 'inconsistentCaptureCurrency' },
    });
    const sold = await payIn(currency, 500);
    expect(await post(sold, 'refunds', { amount: 5, currency: 'RUB' })).toMatchObject({
      body: { code: 'inconsistentRefundCurrency' },
    });
  });
});

describe('a capture the bank declines', () => {
  test.each([
    ['because the hold has ended', 6_000, 2 * bankHoldMs],
    ['because it does not find the hold', captureDeclined, 0],
  ])('%s releases the hold at once, and the invoice can be paid again', async (_why, amount, waitMs) => {
    const before = await availableIn('RUB');
    const held = await payIn('RUB', amount, hold);
    await pass(waitMs);
    expect((await post(held, 'capture', { reason: 'r' })).status).toBe(202);
    expect((await world.changes(held)).at(-1)).toEqual({
      changeType: 'PaymentStatusChanged',
      paymentID: '1',
      status: 'cancelled',
      reason: 'captureRefused',
    });
    expect(await availableIn('RUB')).toBe(before);
    expect(await world.differences()).toEqual([]);
    const { token } = await world.tokenize(card);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
    const again = await world.service.call('POST', `${invoicesUrl}/${held.id}/payments`, {
      token: world.merchant.apiKey,
      body: { flow: { type: 'PaymentFlowInstant' }, payer },
    });
    expect(again.status, again.text).toBe(201);
    await world.service.jobs.whenIdle();
  });
});

describe('a hold', () => {
  test('cannot be refunded before it is captured, nor ended after it has ended', async () => {
    const held = await payIn('RUB', 6_000, hold);
    expect(await post(held, 'refunds', {})).toMatchObject({ body: { code: 'invalidPaymentStatus' } });
    expect((await post(held, 'cancel', { reason: 'r' })).status).toBe(202);
    for (const [path, body] of [
      ['cancel', { reason: 'r' }],
      ['capture', { reason: 'r' }],
      ['refunds', {}],
    ] as const) {
      expect(await post(held, path, body)).toMatchObject({ body: { code: 'invalidPaymentStatus' } });
    }
  });

  test('that is cancelled at the moment it expires is reversed once', async () => {
    const held = await payIn('RUB', 6_000, hold);
    world.service.clock.advance(72 * hour);
    world.service.jobs.wake();
    const { status } = await post(held, 'cancel', { reason: 'r' });
    expect([202, 400]).toContain(status);
    await pass(0);
    expect(await world.payment(held)).toMatchObject({ status: 'cancelled' });
    const reversals = (await world.book()).filter(({ operationId }) => operationId === `${held.id}.1.r`);
    expect(reversals).toHaveLength(1);
  });
});

describe('a payer who opens the issuer’s page again', () => {
  test.each(['4012888888881881', '4556418324571052', '4929172190150505', '4556724110260093'])(
    'cannot change their decision with card %s',
    async (challengedCard) => {
      const invoice = await world.pay(challengedCard);
      await world.service.jobs.whenIdle();
      await world.decide(invoice, 'refuse');
      await world.authenticate(invoice, 'confirm');
      expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    },
  );
});

describe('a clock that goes backwards', () => {
  test('between a bank request and its response, or before a refund, leaves the ledger correct', async () => {
    const { clock } = world.service;
    const invoice = await world.pay(card);
    clock.advance(-hour);
    await world.service.jobs.whenIdle();
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
    expect((await post(invoice, 'refunds', { amount: 10 })).status).toBe(201);
    clock.advance(hour);
    await pass(1_000);
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ status: 'succeeded' });
  });
});

describe('an amount above the card’s balance', () => {
  test('fails the payment without a charge', async () => {
    const invoice = await payIn('RUB', 99_912);
    expect(await world.payment(invoice)).toMatchObject({
      status: 'failed',
      error: { subError: { code: 'insufficient_funds' } },
    });
  });
});

test('at the end nothing is open and the ledger agrees with the bank', async () => {
  await pass(hour / 4, 20);
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});
