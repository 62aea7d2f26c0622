// Payments over the API, with the simulated bank over real HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { epochMsOf } from '../../../src/clock.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { dueAfter } from '../../support/worlds/due-date.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';

let world: PaymentWorld;

beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

const minute = 60_000;
const hold = (onHoldExpiration?: string) => ({
  flow: { type: 'PaymentFlowHold', ...(onHoldExpiration ? { onHoldExpiration } : {}) },
});
const failed = (...path: string[]) =>
  path.reduceRight<object | undefined>(
    (subError, code) => ({ code, ...(subError ? { subError } : {}) }),
    undefined,
  );
const rejected = ['authorization_failed', 'payment_tool_rejected', 'bank_card_rejected'];
const statuses = (changes: any[]) =>
  changes.map(({ changeType, status }) => (status ? `${changeType} ${status}` : changeType));

describe('a payment', () => {
  test('is returned as pending without waiting for the bank, with the requested fields', async () => {
    const { id, created } = await world.pay('4242424242424242', {
      makeRecurrent: true,
      metadata: { order: 7 },
      externalID: 'first',
    });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: '1',
      invoiceID: id,
      externalID: 'first',
      createdAt: '2026-01-19T10:00:00.123000Z',
      amount: 6000,
      currency: 'RUB',
      flow: { type: 'PaymentFlowInstant' },
      payer: {
        payerType: 'PaymentResourcePayer',
        paymentToolToken: expect.stringMatching(/^v1\./),
        paymentSession: expect.any(String),
        paymentToolDetails: {
          detailsType: 'PaymentToolDetailsBankCard',
          bin: '424242',
          lastDigits: '4242',
          first6: '424242',
          last4: '4242',
          cardNumberMask: '424242******4242',
          paymentSystem: 'visa',
        },
        clientInfo: { fingerprint: 'a browser', ip: '127.0.0.1' },
        contactInfo: { email: 'payer@example.com' },
      },
      makeRecurrent: true,
      metadata: { order: 7 },
      status: 'pending',
    });
    await world.service.jobs.whenIdle();
  });

  test('is captured, pays the invoice, and its events are in order', async () => {
    const invoice = await world.paid('5555555555554444');
    expect(await world.payment(invoice)).toMatchObject({
      status: 'captured',
      amount: 6000,
      transactionInfo: { rrn: expect.stringMatching(/^[0-9A-Za-z]{12}$/) },
    });
    expect(statuses(await world.changes(invoice))).toEqual([
      'InvoiceCreated',
      'PaymentStarted',
      'PaymentStatusChanged processed',
      'PaymentStatusChanged captured',
      'InvoiceStatusChanged paid',
    ]);
    const { body } = await world.service.call('GET', `${invoicesUrl}/${invoice.id}`, {
      token: invoice.token,
    });
    expect(body.status).toBe('paid');
    const done = { token: world.merchant.apiKey, body: { reason: 'delivered' } };
    expect((await world.service.call('POST', `${invoicesUrl}/${invoice.id}/fulfill`, done)).status).toBe(204);
  });

  test.each([
    ['4000000000000002', failed('authorization_failed', 'insufficient_funds'), 'InsufficientFunds'],
    ['5100000000000412', failed('authorization_failed', 'insufficient_funds'), 'InsufficientFunds'],
    ['4222222222222220', failed('authorization_failed', 'account_not_found'), 'InvalidPaymentTool'],
    ['5100000000000511', failed('authorization_failed', 'account_not_found'), 'InvalidPaymentTool'],
    ['4003830171874018', failed(...rejected, 'cvv_invalid'), 'InvalidPaymentTool'],
    ['5496198584584769', failed(...rejected, 'cvv_invalid'), 'InvalidPaymentTool'],
    ['4000000000000069', failed(...rejected, 'card_expired'), 'InvalidPaymentTool'],
    ['5105105105105100', failed(...rejected, 'card_expired'), 'InvalidPaymentTool'],
    ['4111110000000112', failed('authorization_failed', 'unknown'), 'PaymentRejected'],
    ['5124990000000002', failed('authorization_failed', 'unknown'), 'PaymentRejected'],
    ['4111111111111111', failed(...rejected, 'issuer_not_found'), 'InvalidPaymentTool'],
  ])(
    'with card %s fails, with an error tree for the merchant and one flat code for the payer',
    async (card, error, word) => {
      const invoice = await world.paid(card);
      expect(await world.payment(invoice)).toMatchObject({ status: 'failed', error });
      const seen = await world.service.call('GET', `${invoicesUrl}/${invoice.id}/payments/1`, {
        token: invoice.token,
      });
      expect(seen.body.error).toEqual({ code: word });
      const { body } = await world.service.call('GET', `${invoicesUrl}/${invoice.id}`, {
        token: invoice.token,
      });
      expect(body.status).toBe('unpaid');
    },
  );

  test.each(['4242424242424242', '5555555555554444', '586824160825533338', '2201382000000013'])(
    'with card %s succeeds',
    async (card) => expect(await world.payment(await world.paid(card))).toMatchObject({ status: 'captured' }),
  );

  test('that failed can be followed by another, which has the next number', async () => {
    const invoice = await world.paid('4000000000000002');
    const { token: paymentToolToken } = await world.tokenize('4242424242424242');
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const second = await world.service.call('POST', url, { token: invoice.token, body: { payer } });
    expect(second.body).toMatchObject({ id: '2', status: 'pending' });
    await world.service.jobs.whenIdle();
    const { body } = await world.service.call('GET', url, { token: invoice.token });
    expect(body.map((payment: any) => [payment.id, payment.status])).toEqual([
      ['1', 'failed'],
      ['2', 'captured'],
    ]);
    const third = await world.service.call('POST', url, { token: invoice.token, body: { payer } });
    expect(third).toMatchObject({ status: 400, body: { code: 'invalidInvoiceStatus' } });
  });
});

describe('3-D Secure', () => {
  test.each([
    '4012888888881881',
    '5169147129584558',
    '4556418324571052',
    '4929172190150505',
    '4556724110260093',
  ])('with card %s requests a challenge, and is captured when the payer confirms', async (card) => {
    const invoice = await world.paid(card);
    expect(await world.payment(invoice)).toMatchObject({ status: 'pending' });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({
      changeType: 'PaymentInteractionRequested',
      paymentID: '1',
      userInteraction: {
        interactionType: 'Redirect',
        request: { uriTemplate: expect.stringContaining(world.bank.url) },
      },
    });
    await world.authenticate(invoice, 'confirm');
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
  });

  test('fails the payment when the payer refuses', async () => {
    const invoice = await world.paid('4012888888881881');
    await world.authenticate(invoice, 'refuse');
    expect(await world.payment(invoice)).toMatchObject({
      status: 'failed',
      error: failed('preauthorization_failed', 'three_ds_failed'),
    });
  });

  test('times out after ten minutes, and the payment fails once the bank has reversed it', async () => {
    const invoice = await world.paid('4012888888881881');
    // The browser's return proves nothing. Only the bank does.
    await world.service.call('GET', `/payer/return/${invoice.id}/1`);
    await world.service.jobs.whenIdle();
    expect(await world.payment(invoice)).toMatchObject({ status: 'pending' });
    world.service.clock.advance(10 * minute);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(await world.payment(invoice)).toMatchObject({
      status: 'failed',
      error: failed('preauthorization_failed', 'three_ds_not_finished'),
    });
  });
});

describe('a hold', () => {
  const end = (
    invoice: { id: string },
    verb: 'capture' | 'cancel',
    body: object,
    token = world.merchant.apiKey,
  ) => world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments/1/${verb}`, { token, body });
  const settled = async (answer: Promise<{ status: number; body: any; text: string }>) => {
    const { status, body } = await answer;
    await world.service.jobs.whenIdle();
    return { status, body };
  };

  test('has heldUntil, stays processed, and can be captured in full', async () => {
    const invoice = await world.paid('4242424242424242', hold());
    expect(await world.payment(invoice)).toMatchObject({
      status: 'processed',
      flow: {
        type: 'PaymentFlowHold',
        onHoldExpiration: 'cancel',
        heldUntil: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    });
    expect(await settled(end(invoice, 'capture', { reason: 'shipped' }))).toEqual({
      status: 202,
      body: undefined,
    });
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured', amount: 6000 });
    expect(statuses(await world.changes(invoice)).slice(2)).toEqual([
      'PaymentStatusChanged processed',
      'PaymentStatusChanged captured',
      'InvoiceStatusChanged paid',
    ]);
    expect(await end(invoice, 'capture', { reason: 'again' })).toMatchObject({
      body: { code: 'invalidPaymentStatus' },
    });
  });

  test('can be captured in part: the payment then has that amount and the invoice is paid', async () => {
    const invoice = await world.paid('4242424242424242', hold());
    expect(
      await settled(end(invoice, 'capture', { reason: 'part', amount: 2500, currency: 'RUB' })),
    ).toMatchObject({ status: 202 });
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured', amount: 2500 });
    const { body } = await world.service.call('GET', `${invoicesUrl}/${invoice.id}`, {
      token: invoice.token,
    });
    expect(body).toMatchObject({ status: 'paid', amount: 6000 });
  });

  test('can be cancelled: the invoice is unpaid and can be paid again', async () => {
    const invoice = await world.paid('4242424242424242', hold());
    const { transactionInfo } = await world.payment(invoice);
    expect(transactionInfo.rrn).toMatch(/^\w{12}$/);
    expect(await settled(end(invoice, 'cancel', { reason: 'no stock' }))).toMatchObject({ status: 202 });
    // The merchant finds the hold at its bank by this reference.
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled', transactionInfo });
    const { body } = await world.service.call('GET', `${invoicesUrl}/${invoice.id}`, {
      token: invoice.token,
    });
    expect(body.status).toBe('unpaid');
  });

  test.each([
    ['amountExceededCaptureBalance', { amount: 6001 }, 'Max amount: 6000'],
    ['inconsistentCaptureCurrency', { amount: 1, currency: 'USD' }, 'Correct currency: RUB'],
    ['invalidInvoiceCart', { cart: [] }, expect.any(String)],
    ['invalidRequest', { amount: 5, cart: [{ product: 'x', price: 4 }] }, expect.any(String)],
    ['allocationNotPermitted', { allocation: [] }, expect.any(String)],
  ])('is not captured with %s, and nothing changes', async (code, asked, message) => {
    const invoice = await world.paid('4242424242424242', hold());
    const refused = await end(invoice, 'capture', { reason: 'r', ...asked });
    expect(refused).toMatchObject({ status: 400, body: { code, message } });
    expect(await world.payment(invoice)).toMatchObject({ status: 'processed' });
  });

  test('can be ended only with an API key', async () => {
    const invoice = await world.paid('4242424242424242', hold());
    for (const verb of ['capture', 'cancel'] as const) {
      expect((await end(invoice, verb, { reason: 'r' }, invoice.token)).status).toBe(401);
    }
  });

  test.each([
    ['cancel', 'cancelled'],
    ['capture', 'captured'],
  ])('that expires follows onHoldExpiration: %s', async (onHoldExpiration, status) => {
    const invoice = await world.paid('4242424242424242', hold(onHoldExpiration));
    world.service.clock.advance(72 * 60 * minute - 1_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(await world.payment(invoice)).toMatchObject({ status: 'processed' });
    world.service.clock.advance(1_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(await world.payment(invoice)).toMatchObject({ status });
  });
});

describe('an invoice', () => {
  test('with a payment in progress accepts no other, is not rescinded and not overdue', async () => {
    const dueDate = dueAfter(world.service.clock.now(), minute);
    const invoice = await world.pay('4012888888881881', {}, { dueDate });
    await world.service.jobs.whenIdle();
    const { token: paymentToolToken } = await world.tokenize('4242424242424242');
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const url = `${invoicesUrl}/${invoice.id}`;
    const token = world.merchant.apiKey;
    expect(await world.service.call('POST', `${url}/payments`, { token, body: { payer } })).toMatchObject({
      status: 400,
      body: { code: 'invoicePaymentPending' },
    });
    expect(
      await world.service.call('POST', `${url}/rescind`, { token, body: { reason: 'r' } }),
    ).toMatchObject({
      status: 400,
      body: { code: 'invoicePaymentPending' },
    });
    world.service.clock.advance(2 * minute);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect((await world.service.call('GET', url, { token })).body.status).toBe('unpaid');

    // When that payment has failed the due date applies again, and it is past.
    await world.authenticate(invoice, 'refuse');
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect((await world.service.call('GET', url, { token })).body).toMatchObject({
      status: 'cancelled',
      reason: 'overdue',
    });
  });
});

describe('a repeated request', () => {
  test('with its externalID returns the payment in its current state, also after the invoice is paid', async () => {
    const card = await world.tokenize('4242424242424242');
    const again = await world.tokenize('4242424242424242');
    const invoice = await world.pay('4242424242424242', { externalID: 'pay-1' });
    await world.service.jobs.whenIdle();
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const body = (token: string, more: object = {}) => ({
      externalID: 'pay-1',
      payer: { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} },
      ...more,
    });
    for (const { token } of [card, again]) {
      const repeated = await world.service.call('POST', url, {
        token: world.merchant.apiKey,
        body: body(token),
      });
      expect(repeated).toMatchObject({ status: 201, body: { id: '1', status: 'captured' } });
    }
    const other = await world.tokenize('5555555555554444');
    for (const different of [
      body(other.token),
      body(card.token, { makeRecurrent: true }),
      body(card.token, hold()),
    ]) {
      const refused = await world.service.call('POST', url, {
        token: world.merchant.apiKey,
        body: different,
      });
      expect(refused).toMatchObject({ status: 409, body: { externalID: 'pay-1', id: '1' } });
    }
    const found = await world.service.call('GET', '/v2/processing/payments?externalID=pay-1', {
      token: world.merchant.apiKey,
    });
    expect(found).toMatchObject({ status: 200, body: { id: '1', invoiceID: invoice.id } });
  });

  test('succeeds after its deadline, while a new request is refused', async () => {
    const processingDeadline = new Date(epochMsOf(world.service.clock.now()) + minute).toISOString();
    const { token: paymentToolToken } = await world.tokenize('4242424242424242');
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const body = { externalID: 'with a deadline', payer, processingDeadline };
    const invoice = await world.pay('4242424242424242', body);
    expect(invoice.created).toMatchObject({ status: 201, body: { id: '1', status: 'pending' } });
    await world.service.jobs.whenIdle();
    world.service.clock.advance(2 * minute);

    const repeat = (of: { id: string }, more: object) =>
      world.service.call('POST', `${invoicesUrl}/${of.id}/payments`, {
        token: world.merchant.apiKey,
        body: { ...body, ...more },
      });
    expect(await repeat(invoice, {})).toMatchObject({ status: 201, body: { id: '1', status: 'captured' } });
    expect(await repeat(invoice, { makeRecurrent: true })).toMatchObject({ status: 409 });
    const late = { status: 400, body: { code: 'invalidProcessingDeadline' } };
    expect(await repeat(invoice, { externalID: 'too late' })).toMatchObject(late);
    const unpaid = await makeInvoice(world.service, world.merchant);
    expect(await repeat(unpaid, { externalID: 'too late' })).toMatchObject(late);
  });

  test('sent twenty times concurrently creates one payment and one authorisation', async () => {
    const invoice = await world.pay('4000000000000002');
    await world.service.jobs.whenIdle();
    const { token: paymentToolToken } = await world.tokenize('4242424242424242');
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        world.service.call('POST', url, { token: invoice.token, body: { externalID: 'at once', payer } }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`))).toEqual(new Set(['201 2']));
    await world.service.jobs.whenIdle();
    expect(
      statuses(await world.changes(invoice)).filter((change) => change.endsWith('captured')),
    ).toHaveLength(1);
  });
});

describe('a bank that does not answer', () => {
  test('leaves the payment pending, and its outcome counts once when it responds', async () => {
    await fetch(`${world.bank.url}/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'reset-after-booking', next: 1, operationKind: 'authorise' }),
    });
    const invoice = await world.paid('4242424242424242');
    expect(await world.payment(invoice)).toMatchObject({ status: 'pending' });
    world.service.clock.advance(minute);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
  });
});

describe('the payer’s browser', () => {
  test('gets the usual page or an error, never a fault, for an invalid address', async () => {
    for (const id of ['%00', 'x'.repeat(300), '..%2f..', 'unknown']) {
      expect((await world.service.call('GET', `/payer/return/${id}/1`)).status).toBe(200);
      expect((await world.service.call('POST', `/bank/callbacks/${id}`, { body: {} })).status).toBe(401);
    }
  });

  test('returns to the shop, whatever characters its address has', async () => {
    const { token: paymentToolToken } = await world.tokenize('4242424242424242');
    const sessionInfo = { redirectUrl: 'https://пример.example/спасибо{?x}' };
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {}, sessionInfo };
    const invoice = await world.pay('4242424242424242', { payer });
    await world.service.jobs.whenIdle();
    const back = await world.service.call('GET', `/payer/return/${invoice.id}/1`);
    expect(back.status).toBe(200);
    expect(back.text).toMatch(/ href="https:\/\/xn--[\x21-\x7e]+"/);
  });
});

test.each([
  '86400000ms',
  '30.12345678901s',
  `${'9'.repeat(38)}ms`,
  `${'9'.repeat(39)}m`,
  '9999-12-31T23:59:59Z',
])('a payment accepts the processing deadline %s', async (processingDeadline) => {
  const invoice = await world.pay('4242424242424242', { processingDeadline });
  expect(invoice.created).toMatchObject({ status: 201 });
  await world.service.jobs.whenIdle();
  expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
});

describe('bad input', () => {
  test.each([
    [
      'invalidPaymentToolToken',
      { payer: { payerType: 'PaymentResourcePayer', paymentToolToken: 'v1.nothing', contactInfo: {} } },
    ],
    ['invalidProcessingDeadline', { processingDeadline: '1h' }],
    ['invalidProcessingDeadline', { processingDeadline: '2020-01-01T00:00:00Z' }],
    ['invalidProcessingDeadline', { processingDeadline: '0.0m' }],
    ['invalidProcessingDeadline', { processingDeadline: '.5m' }],
    ['invalidProcessingDeadline', { processingDeadline: '5.m' }],
    ['invalidRequest', { processingDeadline: '' }],
    ['invalidRequest', { processingDeadline: `${'9'.repeat(40)}m` }],
    ['invalidRequest', { flow: { type: 'PaymentFlowLater' } }],
    ['invalidRequest', { payer: { payerType: 'RecurrentPayer' } }],
    ['invalidRequest', { makeRecurrent: 'yes' }],
    ['invalidRequest', { metadata: { x: 'y'.repeat(5_000) } }],
  ])('is refused with %s and writes nothing', async (code, more) => {
    const { id, created, token } = await world.pay('4242424242424242', more);
    expect(created).toMatchObject({ status: 400, body: { code } });
    expect((await world.service.call('GET', `${invoicesUrl}/${id}/payments`, { token })).body).toEqual([]);
  });

  test('a token of another party or invoice is refused', async () => {
    const stranger = await world.createMerchant();
    const foreign = await world.tokenize('4242424242424242', stranger.apiKey);
    const one = await world.pay('4000000000000002');
    const two = await world.pay('4000000000000002');
    await world.service.jobs.whenIdle();
    const ofOne = await world.tokenize('4242424242424242', one.token);
    for (const [token, by] of [
      [foreign.token, two.token],
      [ofOne.token, two.token],
    ] as const) {
      const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
      const refused = await world.service.call('POST', `${invoicesUrl}/${two.id}/payments`, {
        token: by,
        body: { payer },
      });
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalidPaymentToolToken' } });
    }
  });
});

test('at the end, bank report, payments and ledger agree', async () => {
  expect(await world.differences()).toEqual([]);
});
