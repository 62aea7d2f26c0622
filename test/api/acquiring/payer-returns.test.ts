// What the payer's browser says about itself, and what it brings back from a challenge: both reach the bank.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationMessage, ReturnMessage } from '../../../src/acquiring/adapters/http/messages.ts';
import { returnValueOf } from '../../../src/sandbox/bank/operation-processor.ts';
import { paymentResourcesUrl, cardBody } from '../../support/worlds/cards.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const challenged = '4012888888881881';
const messages = new Map<string, OperationMessage>();
const returns: ReturnMessage[] = [];
let world: PaymentWorld;

beforeAll(async () => {
  world = await startPaymentWorld(
    {},
    {
      employ: (processor) => ({
        ...processor,
        perform(id, read) {
          if ('message' in read) messages.set(id, read.message);
          return processor.perform(id, read);
        },
        resume(id, returned) {
          returns.push(returned);
          return processor.resume(id, returned);
        },
      }),
    },
  );
});
afterAll(() => world.close());

async function waiting(): Promise<{ invoice: Paying; value: string }> {
  const invoice = await world.pay(challenged, {}, { amount: 199_934 });
  await world.service.jobs.whenIdle();
  const [asked] = (await world.changes(invoice)).filter(
    ({ changeType }) => changeType === 'PaymentInteractionRequested',
  );
  const fields: { key: string; template: string }[] = asked.userInteraction.request.form;
  const ticket = fields.find(({ key }) => key === 'MD')?.template ?? '';
  await world.decide(invoice, 'confirm');
  return { invoice, value: returnValueOf(ticket) };
}

async function comeBack(invoice: Paying, query: string, form?: string): Promise<string> {
  const target = `/payer/return/${invoice.id}/1${query}`;
  if (form === undefined) await world.service.call('GET', target);
  else {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await world.service.call('POST', target, { body: form, headers });
  }
  await world.service.jobs.whenIdle();
  return (await world.payment(invoice)).status;
}

describe('what the browser brings back', () => {
  test('by GET counts once, and may come twice', async () => {
    const { invoice, value } = await waiting();
    expect(await comeBack(invoice, '')).toBe('pending');
    expect(await comeBack(invoice, `?redirectResult=${value}&more=%20x`)).toBe('captured');
    expect(returns.at(-1)).toEqual({ method: 'GET', query: `redirectResult=${value}&more=%20x` });
    expect(await comeBack(invoice, `?redirectResult=${value}`)).toBe('captured');
    expect(await world.differences()).toEqual([]);
  });

  test('by POST is handed on unchanged', async () => {
    const { invoice, value } = await waiting();
    expect(await comeBack(invoice, '?a=1', `redirectResult=${value}&b=+`)).toBe('captured');
    expect(returns.at(-1)).toEqual({ method: 'POST', query: 'a=1', form: `redirectResult=${value}&b=+` });
  });

  test('from another payment proves nothing', async () => {
    const [first, second] = [await waiting(), await waiting()];
    expect(await comeBack(first.invoice, `?redirectResult=${second.value}`)).toBe('pending');
    expect(await comeBack(first.invoice, `?redirectResult=${first.value}`)).toBe('captured');
    expect((await world.payment(second.invoice)).status).toBe('pending');
  });

  test('is not handed on when it exceeds 64 KiB', async () => {
    const { invoice } = await waiting();
    const before = returns.length;
    expect(await comeBack(invoice, '', 'x'.repeat(65_537))).toBe('pending');
    expect(returns.length).toBe(before);
  });

  test('after ten minutes is handed on to no bank, and the payment stays failed', async () => {
    const { invoice, value } = await waiting();
    world.service.clock.advance(10 * 60_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    const before = returns.length;
    expect(await comeBack(invoice, `?redirectResult=${value}`)).toBe('failed');
    expect(returns.length).toBe(before);
    expect(await world.differences()).toEqual([]);
  });

  test.each([
    ['the query', '?redirectResult=%00%0d%0aX:%20y%1b', undefined],
    ['the form', '', 'redirectResult=\u0000\r\nX: y\u001b\u0085'],
  ])(
    'with control characters in %s reaches the bank unchanged, and proves nothing',
    async (_, query, form) => {
      const { invoice, value } = await waiting();
      expect(await comeBack(invoice, query, form)).toBe('pending');
      const method = form === undefined ? 'GET' : 'POST';
      expect(returns.at(-1)).toEqual({
        method,
        query: query.slice(1),
        ...(form === undefined ? {} : { form }),
      });
      expect(await comeBack(invoice, `?redirectResult=${value}`)).toBe('captured');
    },
  );
});

describe('what the browser says about itself', () => {
  const browser = {
    accept: 'text/html',
    userAgent: 'Mozilla/5.0',
    language: 'ru',
    javaEnabled: false,
    javaScriptEnabled: true,
    colorDepth: 30,
    screenWidth: 1_920,
    screenHeight: 1_080,
    timeZoneOffset: -180,
  };

  function enter(facts: object) {
    const body = cardBody({ cardNumber: '4242424242424242' }) as { clientInfo: object };
    const withFacts = { ...body, clientInfo: { ...body.clientInfo, browser: facts } };
    return world.service.call('POST', paymentResourcesUrl, {
      token: world.merchant.apiKey,
      body: withFacts,
    });
  }

  test('reaches the bank, and no response', async () => {
    const { status, body } = await enter(browser);
    expect(status).toBe(201);
    expect(body.clientInfo).not.toHaveProperty('browser');
    const payer = {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: body.paymentToolToken,
      paymentSession: body.paymentSession,
      contactInfo: { email: 'payer@example.com' },
    };
    const invoice = await world.paid('4242424242424242', { payer });
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
    const message = messages.get(`${invoice.id}.1.a`);
    expect(message).toMatchObject({ payer: { browser }, obligation: invoice.id, attempt: 1 });
    expect(JSON.stringify(await world.changes(invoice))).not.toContain('1920');
  });

  test.each([
    { colorDepth: 65 },
    { screenWidth: -1 },
    { timeZoneOffset: 1_441 },
    { language: 'x'.repeat(36) },
    { userAgent: 'my card is 4242424242424242' },
    { javaEnabled: 'no' },
  ])('is refused outside of its bounds: %j', async (facts) => {
    expect((await enter(facts)).status).toBe(400);
  });
});
