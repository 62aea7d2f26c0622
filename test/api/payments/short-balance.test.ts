// Refunds of shops whose balance is too small, with an overdraft and with a queue. Fees take all that a sale brings, so only
// top-ups pay refunds.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomIds } from '../../../src/ids.ts';
import { setShopFees, setWhenShort } from '../../../src/merchants/store/parties.ts';
import { storeTopUp } from '../../../src/merchants/store/top-ups.ts';
import type { Currency } from '../../../src/money.ts';
import { wakeFirstWaitingRefund } from '../../../src/payments/store/waiting-refunds.ts';
import { settlementAccount } from '../../../src/platform/ledger/domain/account.ts';
import { depositedFromShop } from '../../../src/wallets/domain/wallet-postings.ts';
import { setOverdraft } from '../../../src/platform/ledger/store/journals.ts';
import { book } from '../../support/database/ledger.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const dayMs = 24 * 3_600_000;
const shops = {
  TEST_USD: { currency: 'USD', when: 'overdraft' },
  TEST_EUR: { currency: 'EUR', when: 'wait' },
} as const;
type ShopId = keyof typeof shops;

let world: PaymentWorld;
beforeAll(async () => {
  world = await startPaymentWorld();
  const { database } = world.service;
  for (const [shop_id, { when }] of Object.entries(shops)) {
    const name = { party_id: world.merchant.partyId, shop_id };
    await database.run(setShopFees, {
      ...name,
      fees: { processing: { basisPoints: 10_000n, fixedMinor: 0n } },
    });
    await database.run(setWhenShort, { ...name, when_short: when });
  }
});
afterAll(() => world.close());

const names = (shopId: ShopId) => ({ partyId: world.merchant.partyId, shopId });
const moneyOf = (shopId: ShopId, minor: bigint) => ({ minor, currency: shops[shopId].currency as Currency });
const accountOf = (shopId: ShopId) =>
  settlementAccount({ livemode: false, currency: moneyOf(shopId, 0n).currency, ...names(shopId) });
const refundsOf = ({ id }: Paying) => `${invoicesUrl}/${id}/payments/1/refunds`;

async function settle(advanceMs = 0): Promise<void> {
  world.service.clock.advance(advanceMs);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}

async function sold(shopID: ShopId, amount = 3_000): Promise<Paying> {
  const paying = await world.pay(
    '4242424242424242',
    {},
    { shopID, currency: shops[shopID].currency, amount },
  );
  await world.service.jobs.whenIdle();
  return paying;
}

const ask = (paying: Paying, amount: number, more: object = {}) =>
  world.service.call('POST', refundsOf(paying), { token: world.merchant.apiKey, body: { amount, ...more } });
const read = async (paying: Paying, id = '100') =>
  (await world.service.call('GET', `${refundsOf(paying)}/${id}`, { token: world.merchant.apiKey })).body;

async function topUp(shopId: ShopId, reference: string, minor: bigint): Promise<void> {
  const { database, clock } = world.service;
  const amount = moneyOf(shopId, minor);
  const one = {
    id: reference,
    reference,
    bankAccountId: 'MAIN',
    amount,
    createdAt: clock.now(),
    ...names(shopId),
  };
  expect(await storeTopUp(database, one, false)).toEqual({ topUp: one, isNew: true });
  expect((await storeTopUp(database, one, false)).isNew).toBe(false);
}

async function topUpAndWake(shopId: ShopId, reference: string, minor: bigint): Promise<void> {
  await topUp(shopId, reference, minor);
  await wakeFirstWaitingRefund(world.service.database, names(shopId), world.service.clock.now());
  await settle();
}

const limitTo = (minor: bigint) =>
  world.service.database.transaction((tx) => setOverdraft(tx, accountOf('TEST_USD'), minor));

test('with an overdraft refunds go to its limit and no further, and nothing else may use it', async () => {
  const { database } = world.service;
  const payings = await Promise.all([sold('TEST_USD'), sold('TEST_USD'), sold('TEST_USD')]);
  expect((await ask(payings[0] as Paying, 1)).body.code).toBe('insufficentAccountBalance');
  expect(await limitTo(5_000n)).toBe(true);
  const answers = await Promise.all(payings.map((paying) => ask(paying, 2_500)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400]);
  expect(answers.find(({ status }) => status === 400)?.body.code).toBe('insufficentAccountBalance');
  await settle();
  expect(await world.balance('TEST_USD')).toEqual({ own: -5_000, available: -5_000 });

  expect(await limitTo(4_999n)).toBe(false);
  expect(await limitTo(5_001n)).toBe(true);
  const ids = { livemode: false, depositId: randomIds.next(), walletId: randomIds.next() } as const;
  const loan = depositedFromShop({ ...ids, ...names('TEST_USD') }, moneyOf('TEST_USD', 1n));
  expect(await book(database, loan)).toBe('insufficient');

  await topUp('TEST_USD', 'paid in', 5_000n);
  expect(await world.balance('TEST_USD')).toEqual({ own: 0, available: 0 });
  expect(await limitTo(0n)).toBe(true);
});

describe('a refund that waits', () => {
  test('is paid in the order of the requests, when money comes in', async () => {
    const first = await sold('TEST_EUR');
    const second = await sold('TEST_EUR');
    const third = await sold('TEST_EUR');
    for (const [paying, amount] of [
      [first, 3_000],
      [second, 100],
      [third, 2_000],
    ] as const) {
      const { status, body } = await ask(paying, amount);
      expect([status, body.status]).toEqual([201, 'pending']);
      expect(Date.parse(body.waitsUntil) - Date.parse(body.createdAt)).toBe(10 * dayMs);
      await settle(1);
    }
    // The second could be paid, but the first comes first.
    await topUpAndWake('TEST_EUR', 'too little', 200n);
    expect(await read(second)).toMatchObject({ status: 'pending', waitsUntil: expect.any(String) });
    await topUpAndWake('TEST_EUR', 'for two', 2_900n);
    // The first has made the second due, which the next poll runs.
    await settle();
    for (const paying of [first, second]) {
      const done = await read(paying);
      expect(done).toMatchObject({ status: 'succeeded', rrn: expect.any(String) });
      expect(done).not.toHaveProperty('waitsUntil');
    }
    expect(await read(third)).toMatchObject({ status: 'pending' });
    await topUp('TEST_EUR', 'found at the next look', 2_000n);
    await settle(30_000);
    expect(await read(third)).toMatchObject({ status: 'succeeded' });
    expect(await world.balance('TEST_EUR')).toEqual({ own: 0, available: 0 });
  });

  test('becomes the first when the one before it has left, also without being woken', async () => {
    const first = await sold('TEST_EUR');
    const second = await sold('TEST_EUR');
    await ask(first, 3_000);
    await settle(dayMs);
    await ask(second, 100);
    await settle();
    await topUp('TEST_EUR', 'for the second', 100n);
    await settle(9 * dayMs);
    expect(await read(first)).toMatchObject({ status: 'failed' });
    await settle(10 * 60_000);
    expect(await read(second)).toMatchObject({ status: 'succeeded' });
  });

  test('fails after ten days without money, and the payment can be refunded again', async () => {
    const paying = await sold('TEST_EUR', 500);
    const asked = await ask(paying, 500, { externalID: 'patient' });
    expect((await ask(paying, 500, { externalID: 'patient' })).body).toEqual(asked.body);
    await settle(10 * dayMs - 1);
    expect(await read(paying)).toMatchObject({ status: 'pending' });
    await settle(1);
    expect(await read(paying)).toMatchObject({
      status: 'failed',
      error: {
        code: 'terms_violated',
        message: 'terms_violated',
        subError: { code: 'insufficient_merchant_funds' },
      },
    });
    await topUp('TEST_EUR', 'too late', 500n);
    expect((await ask(paying, 500)).body).toMatchObject({ id: '101', status: 'pending' });
    await settle();
    expect(await read(paying, '101')).toMatchObject({ status: 'succeeded' });
  });

  test('is sent once, even if the response to its refund is lost', async () => {
    const paying = await sold('TEST_EUR', 700);
    world.bank.faults.order({ kind: 'reset-before-booking', next: 1, operationKind: 'refund' });
    await ask(paying, 700);
    // A job that is woken while it runs would ask the bank again at once.
    await settle();
    await topUpAndWake('TEST_EUR', 'for the lost one', 700n);
    expect(await read(paying)).toMatchObject({ status: 'pending' });
    await settle(120_000);
    expect(await read(paying)).toMatchObject({ status: 'succeeded' });
  });
});

test('at the end, bank report, payments and ledger agree', async () => {
  expect(await world.differences()).toEqual([]);
});
