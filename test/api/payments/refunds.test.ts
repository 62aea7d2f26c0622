// Refunds over the API, with the simulated bank over real HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setShopFees } from '../../../src/merchants/store/parties.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import type { Answer } from '../../support/service/test-service.ts';

let world: PaymentWorld;

beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

const card = '4242424242424242';
const refundsOf = ({ id }: { id: string }) => `${invoicesUrl}/${id}/payments/1/refunds`;

function ask(paying: Paying, body: Record<string, unknown> = {}): Promise<Answer> {
  return world.service.call('POST', refundsOf(paying), { token: world.merchant.apiKey, body });
}

async function read(url: string): Promise<Answer> {
  return world.service.call('GET', url, { token: world.merchant.apiKey });
}

async function refunded(paying: Paying, body: Record<string, unknown> = {}): Promise<any> {
  const asked = await ask(paying, body);
  if (asked.status !== 201) throw new Error(`The refund was refused: ${asked.text}`);
  await world.service.jobs.whenIdle();
  return (await read(`${refundsOf(paying)}/${asked.body.id}`)).body;
}

/** Sets a refund fee for new payments in dollars. */
async function chargeRefunds(): Promise<void> {
  await world.service.database.run(setShopFees, {
    party_id: world.merchant.partyId,
    shop_id: 'TEST_USD',
    fees: { processing: { basisPoints: 250n, fixedMinor: 10n }, refund: { basisPoints: 0n, fixedMinor: 5n } },
  });
}

describe('a refund', () => {
  test('is returned as pending with the requested fields, and then succeeds', async () => {
    const paying = await world.paid(card);
    const cart = [
      {
        product: 'Two of three',
        quantity: 2,
        price: 2000,
        taxMode: { type: 'InvoiceLineTaxVAT', rate: '20%' },
      },
    ];
    const asked = await ask(paying, {
      externalID: 'refund 1',
      amount: 2000,
      currency: 'RUB',
      reason: 'One came back',
      cart,
    });
    expect(asked.status).toBe(201);
    const refund = {
      id: '100',
      externalID: 'refund 1',
      createdAt: expect.stringMatching(/^2026-01-19T/),
      amount: 2000,
      currency: 'RUB',
      reason: 'One came back',
      cart: [{ ...cart[0], cost: 4000 }],
    };
    expect(asked.body).toEqual({ ...refund, status: 'pending' });
    await world.service.jobs.whenIdle();
    const references = { rrn: expect.stringMatching(/^9\d{11}$/), arn: expect.stringMatching(/^\d{23}$/) };
    const done = { ...refund, ...references, status: 'succeeded' };
    expect((await read(`${refundsOf(paying)}/100`)).body).toEqual(done);
    expect((await read(refundsOf(paying))).body).toEqual([done]);
    expect((await read('/v2/processing/refunds?externalID=refund%201')).body).toEqual({
      ...done,
      invoiceID: paying.id,
      paymentID: '1',
    });
    expect(await world.payment(paying)).toMatchObject({ status: 'captured', amount: 6000 });
  });

  test('of everything sets the payment to refunded in one event and leaves the invoice unchanged', async () => {
    const paying = await world.paid(card);
    await refunded(paying);
    expect(await world.payment(paying)).toMatchObject({ status: 'refunded', amount: 6000 });
    const { body } = await read(`${invoicesUrl}/${paying.id}/events?limit=100`);
    expect(body.slice(-2).map((event: any) => event.changes)).toEqual([
      [
        {
          changeType: 'RefundStarted',
          paymentID: '1',
          refund: {
            id: '100',
            createdAt: expect.any(String),
            amount: 6000,
            currency: 'RUB',
            status: 'pending',
          },
        },
      ],
      [
        { changeType: 'RefundStatusChanged', paymentID: '1', refundID: '100', status: 'succeeded' },
        { changeType: 'PaymentStatusChanged', paymentID: '1', status: 'refunded' },
      ],
    ]);
    expect((await read(`${invoicesUrl}/${paying.id}`)).body.status).toBe('paid');
    expect(await ask(paying)).toMatchObject({ status: 400, body: { code: 'invalidPaymentStatus' } });
  });

  test('leaves a fulfilled invoice fulfilled', async () => {
    const paying = await world.paid(card);
    const fulfill = { token: world.merchant.apiKey, body: { reason: 'sent' } };
    await world.service.call('POST', `${invoicesUrl}/${paying.id}/fulfill`, fulfill);
    await refunded(paying, { amount: 1 });
    expect((await read(`${invoicesUrl}/${paying.id}`)).body.status).toBe('fulfilled');
  });

  test('can be repeated until the captured amount, not the held one, is used up', async () => {
    const paying = await world.paid(card, { flow: { type: 'PaymentFlowHold' } });
    const capture = { token: world.merchant.apiKey, body: { reason: 'sent', amount: 5000, currency: 'RUB' } };
    expect(await ask(paying)).toMatchObject({ status: 400, body: { code: 'invalidPaymentStatus' } });
    await world.service.call('POST', `${invoicesUrl}/${paying.id}/payments/1/capture`, capture);
    await world.service.jobs.whenIdle();
    expect(await refunded(paying, { amount: 2000 })).toMatchObject({ id: '100', status: 'succeeded' });
    expect(await ask(paying, { amount: 3001 })).toMatchObject({
      status: 400,
      body: { code: 'invoicePaymentAmountExceeded' },
    });
    expect(await refunded(paying)).toMatchObject({ id: '101', amount: 3000, status: 'succeeded' });
    expect(await world.payment(paying)).toMatchObject({ status: 'refunded', amount: 5000 });
  });

  test('that the bank declines fails with its reason, and the shop gets its money back', async () => {
    const paying = await world.pay(card, {}, { amount: 200_000 });
    await world.service.jobs.whenIdle();
    const before = await world.balance();
    // The simulated bank declines a refund of this amount.
    const failed = await refunded(paying, { amount: 99_057 });
    expect(failed).toMatchObject({
      status: 'failed',
      error: {
        code: 'authorization_failed',
        message: 'authorization_failed',
        subError: { code: 'operation_blocked' },
      },
    });
    expect(await world.balance()).toEqual(before);
    expect((await world.changes(paying)).at(-1)).toMatchObject({
      changeType: 'RefundStatusChanged',
      status: 'failed',
      error: { code: 'authorization_failed' },
    });
    expect(await refunded(paying, { amount: 100 })).toMatchObject({ id: '101', status: 'succeeded' });
  });

  test('is executed once even if the response is lost, and stays pending until it is known', async () => {
    for (const kind of [
      'foreign-answer-after-booking',
      'reset-before-booking',
      'error-after-booking',
    ] as const) {
      const paying = await world.paid(card);
      world.bank.faults.order({ kind, next: 1, operationKind: 'refund' });
      const { body } = await ask(paying, { amount: 700 });
      await world.service.jobs.whenIdle();
      expect((await read(`${refundsOf(paying)}/${body.id}`)).body.status, kind).toBe('pending');
      expect(await ask(paying, { amount: 1 })).toMatchObject({
        status: 400,
        body: { code: 'operationNotPermitted' },
      });
      world.service.clock.advance(120_000);
      world.service.jobs.wake();
      await world.service.jobs.whenIdle();
      expect((await read(`${refundsOf(paying)}/${body.id}`)).body.status, kind).toBe('succeeded');
    }
    expect(await world.differences()).toEqual([]);
  });
});

describe('the balance of the shop', () => {
  test('pays the fees agreed when the payment was created, and must cover the refund fee', async () => {
    await chargeRefunds();
    const paying = await world.pay(card, {}, { shopID: 'TEST_USD', currency: 'USD' });
    await world.service.jobs.whenIdle();
    expect(await world.balance('TEST_USD')).toEqual({ own: 5840, available: 5840 });
    expect(await ask(paying)).toMatchObject({
      status: 400,
      body: { code: 'insufficentAccountBalance', message: 'Insufficient account balance' },
    });
    expect(await ask(paying, { amount: 5836 })).toMatchObject({ status: 400 });
    expect((await read(refundsOf(paying))).body).toEqual([]);
    expect(await refunded(paying, { amount: 5835 })).toMatchObject({ id: '100', status: 'succeeded' });
    expect(await world.balance('TEST_USD')).toEqual({ own: 0, available: 0 });
  });

  test('cannot be refunded twice by twenty concurrent requests', async () => {
    const first = await world.pay(card, {}, { shopID: 'TEST_EUR', currency: 'EUR' });
    const second = await world.pay(card, {}, { shopID: 'TEST_EUR', currency: 'EUR' });
    await world.service.jobs.whenIdle();
    await refunded(first, { amount: 3000 });
    // 9000 is left of two payments. Each can refund what is left of it, one refund at a time.
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ask(n % 2 ? first : second, { amount: n % 2 ? 3000 : 6000 })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    // Another refund is in progress, or has already ended and nothing is left.
    for (const { status, body } of answers)
      if (status !== 201) expect(['operationNotPermitted', 'invalidPaymentStatus']).toContain(body.code);
    await world.service.jobs.whenIdle();
    expect(await world.balance('TEST_EUR')).toEqual({ own: 0, available: 0 });
  });
});

describe('repeating a refund', () => {
  test('with its externalID returns the existing refund in its current state', async () => {
    const paying = await world.paid(card);
    const body = { externalID: 'twice', amount: 10, reason: 'first' };
    const [one, two] = await Promise.all([ask(paying, body), ask(paying, { ...body, reason: 'other' })]);
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body.id).toBe(two.body.id);
    // Another node may have locked the payment during the claim, which skips locked rows until the next poll.
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect((await ask(paying, body)).body).toMatchObject({ id: one.body.id, status: 'succeeded' });
    expect((await read(refundsOf(paying))).body).toHaveLength(1);
    expect(await ask(paying, { ...body, amount: 11 })).toMatchObject({
      status: 409,
      body: { externalID: 'twice', id: one.body.id },
    });
    const elsewhere = await world.paid(card);
    expect((await ask(elsewhere, body)).status).toBe(409);
  });

  test('with an Idempotency-Key returns the same bytes, also for insufficient funds', async () => {
    await chargeRefunds();
    const paying = await world.pay(card, {}, { shopID: 'TEST_USD', currency: 'USD' });
    await world.service.jobs.whenIdle();
    const send = (amount: number, key: string) =>
      world.service.call('POST', refundsOf(paying), {
        token: world.merchant.apiKey,
        body: { amount },
        headers: { 'idempotency-key': key },
      });
    const refused = await send(6000, 'too-much');
    expect(refused).toMatchObject({ status: 400, body: { code: 'insufficentAccountBalance' } });
    const first = await send(20, 'enough');
    expect(first.status).toBe(201);
    await world.service.jobs.whenIdle();
    expect((await send(20, 'enough')).text).toBe(first.text);
    expect((await send(6000, 'too-much')).body).toEqual(refused.body);
    expect((await read(refundsOf(paying))).body).toHaveLength(1);
  });
});

describe('an invalid refund', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ currency: 'USD' }, 'inconsistentRefundCurrency'],
    [{ amount: 6001 }, 'invoicePaymentAmountExceeded'],
    [{ amount: 0 }, 'invalidRequest'],
    [{ amount: -1 }, 'invalidRequest'],
    [{ amount: 1.5 }, 'invalidRequest'],
    [{ amount: '1' }, 'invalidRequest'],
    [{ currency: 'rub' }, 'invalidRequest'],
    [{ reason: 'x'.repeat(1_001) }, 'invalidRequest'],
    [{ externalID: '' }, 'invalidRequest'],
    [{ cart: [{ product: 'x', price: 1 }] }, 'invalidRequest'],
    [{ amount: 10, cart: [] }, 'invalidInvoiceCart'],
    [{ amount: 10, cart: [{ product: 'x', price: 1 }] }, 'invalidRequest'],
    [{ allocation: [] }, 'allocationNotPermitted'],
    [{ allocation: [], cart: [{ product: 'x', price: 1 }] }, 'refundCartConflict'],
  ])('%j is refused with %s and writes nothing', async (body, code) => {
    const paying = await world.paid(card);
    expect(await ask(paying, body)).toMatchObject({ status: 400, body: { code } });
    expect((await read(refundsOf(paying))).body).toEqual([]);
    expect(await world.changes(paying)).toHaveLength(5);
  });

  test('gets another error than a missing object', async () => {
    const paying = await world.paid(card);
    const { token } = await world.createMerchant().then(({ apiKey }) => ({ token: apiKey }));
    const not = async (url: string, message: string, by = world.merchant.apiKey) => {
      const answer = await world.service.call('GET', url, { token: by });
      expect(answer).toMatchObject({ status: 404, body: { message } });
    };
    await not(`${refundsOf(paying)}/100`, 'Invoice payment refund not found');
    await not(`${invoicesUrl}/${paying.id}/payments/2/refunds`, 'Payment not found');
    await not(`${invoicesUrl}/nothing/payments/1/refunds`, 'Invoice not found');
    await not(refundsOf(paying), 'Invoice not found', token);
    await not('/v2/processing/refunds?externalID=nothing', 'Refund not found');
    await not(`${invoicesUrl}/${paying.id}/payments/1/chargebacks/1`, 'Invoice payment chargeback not found');
    const chargebacks = await read(`${invoicesUrl}/${paying.id}/payments/1/chargebacks`);
    expect(chargebacks).toMatchObject({ status: 200, body: [] });
    expect(await world.service.call('POST', refundsOf(paying), { token, body: {} })).toMatchObject({
      status: 404,
    });
    const payer = await world.service.call('POST', refundsOf(paying), { token: paying.token, body: {} });
    expect(payer.status).toBe(401);
  });
});

test('payment methods list cards of every network if the shop has a terminal', async () => {
  const paying = await world.paid(card);
  const methods = await world.service.call('GET', `${invoicesUrl}/${paying.id}/payment-methods`, {
    token: paying.token,
  });
  expect(methods.body).toEqual([
    {
      method: 'BankCard',
      paymentSystems: expect.arrayContaining(['visa', 'mastercard', 'maestro', 'nspkmir', 'unionpay']),
    },
  ]);
});

test('at the end, bank report, payments and ledger agree', async () => {
  expect(await world.differences()).toEqual([]);
});
