// Bindings over the API, with the simulated bank behind real HTTP: what happens before a card is bound, and that every
// verification charge is refunded.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeCustomer,
} from '../../support/worlds/customer-world.ts';
import { waylay, type Mishap, type FaultyBank } from '../../support/bank/faulty-bank.ts';

const minute = 60_000;
const hour = 60 * minute;
const good = '4242424242424242';
const challenging = '4012888888881881';

let world: CustomerWorld;
let bank: FaultyBank;
beforeAll(async () => {
  world = await startCustomerWorld();
  bank = waylay(world.service.banks);
});
afterAll(() => world.close());
afterEach(async () => {
  for (const kind of ['authorise', 'reverse', 'refund', 'inquire'] as const) {
    bank.happens(kind);
    bank.always(kind, undefined);
  }
  bank.asked.length = 0;
  // After every test: no money of a payer is left, neither in the ledger nor at the bank.
  const found = await world.differences();
  if (found.length > 0) throw new Error(found.join('\n'));
});

const statuses = (changes: any[]) =>
  changes.map(({ changeType, status }) => (status ? `${changeType} ${status}` : changeType));
const isReady = async (customer: MadeCustomer) => (await world.customer(customer)).status === 'ready';

describe('a card that is bound', () => {
  test('is pending in the response, which does not wait for the bank and shows the request', async () => {
    const customer = await world.createCustomer();
    const { created } = await world.bind(customer, good, { externalID: 'first' });
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({
      id: expect.any(String),
      externalID: 'first',
      paymentResource: {
        paymentToolToken: expect.stringMatching(/^v1\./),
        paymentSession: expect.stringMatching(/^s1\./),
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
      },
      status: 'pending',
      isActive: false,
    });
    await world.service.jobs.whenIdle();
  });

  test.each([good, '5555555555554444', '586824160825533338', '2201382000000013', '4300000000000777'])(
    'is charged and the charge reversed before the binding succeeds (%s)',
    async (card) => {
      const customer = await world.createCustomer();
      const made = await world.bound(customer, card);
      expect(bank.asked).toEqual(['authorise', 'reverse']);
      expect(await world.binding(made)).toMatchObject({ status: 'succeeded', isActive: true });
      expect(await isReady(customer)).toBe(true);
      expect(statuses(await world.customerChanges(customer))).toEqual([
        'CustomerBindingStarted',
        'CustomerBindingStatusChanged succeeded',
      ]);
    },
  );

  test.each([
    ['TEST', 1_000, 'RUB'],
    ['TEST_USD', 100, 'USD'],
    ['TEST_EUR', 100, 'EUR'],
  ])('in the shop %s is charged %i %s, which is refunded', async (shopID, amount, currency) => {
    const made = await world.bound(await world.createCustomer({ shopID }), good);
    const entries = (await world.book()).filter(({ operationId }) => operationId.includes(made.bindingId));
    expect(entries).toMatchObject([
      { kind: 'authorise', amount, currency, sign: 1 },
      { kind: 'reverse', amount, currency, sign: -1 },
    ]);
    expect(await world.bindingClearing(currency)).toEqual({ own: 0, returning: 0 });
  });

  test('is always charged with the payer authenticated', async () => {
    const sent: any[] = [];
    const { bankOf } = world.service.banks;
    Object.assign(world.service.banks, {
      bankOf: async (terminal: never) => {
        const real = await bankOf(terminal);
        return {
          ...real,
          send(operation: any) {
            sent.push(operation);
            return real.send(operation);
          },
        };
      },
    });
    const made = await world.bound(await world.createCustomer(), good);
    await world.bind(await world.createCustomer(), good, { recurrentTerms: { validUntil: '2030-12-31' } });
    await world.service.jobs.whenIdle();
    Object.assign(world.service.banks, { bankOf });
    expect(sent[0]).toMatchObject({
      kind: 'authorise',
      operationId: `${made.id}.${made.bindingId}.charge`,
      authentication: 'required',
      capture: true,
      initiation: { by: 'payer', storesCard: true, stores: { for: 'recurring' } },
      payer: { email: 'payer@example.com', ip: '127.0.0.1', fingerprint: 'a browser', reference: made.id },
    });
    const { amount } = sent[0];
    const rrn = expect.stringMatching(/^\d{12}$/);
    // In the zone of a shop with roubles.
    expect(sent[2]).toMatchObject({ initiation: { stores: { until: '2030-12-31T20:59:59.000000Z' } } });
    expect(sent[1]).toMatchObject({ kind: 'reverse', original: { amount, references: { rrn } } });
  });

  test('may already be bound, and may be bound by the merchant’s server', async () => {
    const customer = await world.createCustomer();
    const first = await world.bound(customer, good);
    const card = await world.tokenize(good);
    const body = { paymentResource: { paymentToolToken: card.token, paymentSession: card.session } };
    const url = `${customersUrl}/${customer.id}/bindings`;
    const token = world.merchant.apiKey;
    const second = await world.service.call('POST', url, { token, body });
    expect(second.status).toBe(201);
    await world.service.jobs.whenIdle();
    expect((await world.service.call('GET', url, { token })).body).toMatchObject([
      { id: first.bindingId, isActive: false },
      { id: second.body.id, isActive: true },
    ]);
  });
});

describe('a card that is not bound', () => {
  test.each([
    ['4000000000000002', 'authorization_failed', 'insufficient_funds', 'InsufficientFunds'],
    ['5100000000000412', 'authorization_failed', 'insufficient_funds', 'InsufficientFunds'],
    ['4222222222222220', 'authorization_failed', 'account_not_found', 'InvalidPaymentTool'],
    ['5100000000000511', 'authorization_failed', 'account_not_found', 'InvalidPaymentTool'],
    ['4003830171874018', 'authorization_failed', 'bank_card_rejected:cvv_invalid', 'InvalidPaymentTool'],
    ['5496198584584769', 'authorization_failed', 'bank_card_rejected:cvv_invalid', 'InvalidPaymentTool'],
    ['4000000000000069', 'authorization_failed', 'bank_card_rejected:card_expired', 'InvalidPaymentTool'],
    ['5105105105105100', 'authorization_failed', 'bank_card_rejected:card_expired', 'InvalidPaymentTool'],
    ['4111110000000112', 'authorization_failed', 'unknown', 'PaymentRejected'],
    ['5124990000000002', 'authorization_failed', 'unknown', 'PaymentRejected'],
    ['2222405343248877', 'authorization_failed', 'unknown', 'PaymentRejected'],
    ['4111111111111111', 'authorization_failed', 'bank_card_rejected:issuer_not_found', 'InvalidPaymentTool'],
    ['4987654321098769', 'preauthorization_failed', 'three_ds_failed', 'PreauthorizationFailed'],
    ['5123456789012346', 'preauthorization_failed', 'three_ds_failed', 'PreauthorizationFailed'],
    ['4342561111111118', 'preauthorization_failed', 'three_ds_not_finished', 'PreauthorizationFailed'],
    ['5112000200000002', 'preauthorization_failed', 'three_ds_not_finished', 'PreauthorizationFailed'],
  ])('fails %s with %s, and the payer gets only a general code', async (card, code, why, word) => {
    const customer = await world.createCustomer();
    const made = await world.bound(customer, card);
    const failed = await world.binding(made);
    expect(failed).toMatchObject({ status: 'failed', isActive: false, error: { code } });
    expect(failed.error.message.endsWith(why)).toBe(true);
    expect((await world.binding(made, customer.token)).error).toEqual({ code, message: word });
    expect(await isReady(customer)).toBe(false);
    expect((await world.customerChanges(customer)).at(-1)).toEqual({
      changeType: 'CustomerBindingStatusChanged',
      customerBindingID: made.bindingId,
      status: 'failed',
      error: failed.error,
    });
    expect(bank.asked).toEqual(['authorise']);
  });

  test('leaves the customer unchanged, and another card can be bound', async () => {
    const customer = await world.createCustomer();
    await world.bound(customer, '4000000000000002');
    const second = await world.bound(customer, good);
    expect(await isReady(customer)).toBe(true);
    await world.bound(customer, '4000000000000002');
    expect(await isReady(customer)).toBe(true);
    expect((await world.binding(second)).isActive).toBe(true);
  });
});

describe('3-D Secure', () => {
  test.each([
    '4012888888881881',
    '5169147129584558',
    '4556418324571052',
    '4929172190150505',
    '4556724110260093',
  ])('with the card %s challenges the payer, and binds the card when they confirm', async (card) => {
    const customer = await world.createCustomer();
    const made = await world.bound(customer, card);
    expect(await world.binding(made)).toMatchObject({ status: 'pending' });
    expect((await world.customerChanges(customer)).at(-1)).toEqual({
      changeType: 'CustomerBindingInteractionRequested',
      customerBindingID: made.bindingId,
      userInteraction: {
        interactionType: 'Redirect',
        request: expect.objectContaining({ uriTemplate: expect.stringContaining(world.bank.url) }),
      },
    });
    await world.authenticateBinding(made, 'confirm');
    expect(await world.binding(made)).toMatchObject({ status: 'succeeded', isActive: true });
  });

  test.each([
    ['refuse', 'three_ds_failed'],
    ['cancel', 'three_ds_not_finished'],
  ] as const)('that the payer ends with "%s" fails the binding', async (decision, message) => {
    const made = await world.bound(await world.createCustomer(), challenging);
    await world.authenticateBinding(made, decision);
    expect(await world.binding(made)).toMatchObject({
      status: 'failed',
      error: { code: 'preauthorization_failed', message },
    });
  });

  test('that the payer never finishes is reversed after ten minutes, and only then fails', async () => {
    const customer = await world.createCustomer();
    const made = await world.bound(customer, challenging);
    // The payer's return proves nothing: only the browser says that the challenge is done, not the bank.
    const page = await world.service.call('GET', `/payer/return/customers/${made.id}/${made.bindingId}`);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('finish-interaction') });
    expect(page.text).toContain('<html lang="en"');
    const headers = { 'accept-language': 'ru-RU,ru;q=0.9' };
    const url = `/payer/return/customers/${made.id}/${made.bindingId}`;
    expect((await world.service.call('GET', url, { headers })).text).toContain('вернуться в магазин');
    await world.service.jobs.whenIdle();
    expect(await world.binding(made)).toMatchObject({ status: 'pending' });
    // The bank would report the outcome itself. Here it never does.
    bank.always('inquire', { outcome: 'pending' });
    await world.later(10 * minute);
    expect(await world.binding(made)).toMatchObject({
      status: 'failed',
      error: { code: 'preauthorization_failed', message: 'three_ds_not_finished' },
    });
    expect(bank.asked.at(-1)).toBe('reverse');
  });

  test('finishes by the bank’s callback if the browser never returns', async () => {
    const made = await world.bound(await world.createCustomer(), challenging);
    const [asked] = (await world.customerChanges(made)).filter(({ userInteraction }) => userInteraction);
    await world.decideAtIssuer(asked.userInteraction.request, 'confirm');
    await world.callback(`${made.id}.${made.bindingId}.charge`);
    expect(await world.binding(made)).toMatchObject({ status: 'succeeded' });
  });

  test('returns to a page that accepts unknown and malformed IDs', async () => {
    for (const path of ['unknown/unknown', '%00/%00', `${'x'.repeat(500)}/1`, '%FF/1']) {
      const { status } = await world.service.call('GET', `/payer/return/customers/${path}`);
      expect([200, 400, 404]).toContain(status);
    }
  });
});

describe('the verification refund', () => {
  test('is requested as a refund if the bank declines the reversal', async () => {
    bank.happens('reverse', { outcome: 'declined', network: 'bank', code: '12' });
    const made = await world.bound(await world.createCustomer(), good);
    expect(bank.asked).toEqual(['authorise', 'reverse', 'refund']);
    expect(await world.binding(made)).toMatchObject({ status: 'succeeded' });
    expect((await world.book()).at(-1)).toMatchObject({ kind: 'refund', amount: 1_000, sign: -1 });
  });

  test.each<[string, 'reverse' | 'refund', Mishap]>([
    ['a reversal', 'reverse', 'answer lost'],
    ['a reversal', 'reverse', 'message lost'],
    ['a reversal', 'reverse', 'not sent'],
    ['a refund', 'refund', 'answer lost'],
    ['a refund', 'refund', 'message lost'],
    ['a refund', 'refund', { outcome: 'declined', network: 'visa', code: '96' }],
  ])('by %s that goes wrong (%s: %s) is requested again under the same ID', async (_, kind, mishap) => {
    if (kind === 'refund') bank.happens('reverse', { outcome: 'declined', network: 'bank', code: '12' });
    bank.happens(kind, mishap, mishap);
    const customer = await world.createCustomer();
    const made = await world.bound(customer, good);
    expect(await world.binding(made)).toMatchObject({ status: 'pending', isActive: false });
    expect(await isReady(customer)).toBe(false);
    expect(await world.bindingClearing('RUB')).toEqual({ own: 1_000, returning: 1_000 });
    expect(await world.metric('mandate_verification_refunds_pending')).toBe(1);
    await world.later(2_000);
    await world.later(4_000);
    expect(await world.binding(made)).toMatchObject({ status: 'succeeded', isActive: true });
    expect(await world.bindingClearing('RUB')).toEqual({ own: 0, returning: 0 });
    expect(await world.metric('mandate_verification_refunds_pending')).toBe(0);
  });

  test('is overdue after its date, stuck after 15 failures, and resumed without an operator', async () => {
    bank.always('reverse', 'message lost');
    const made = await world.bound(await world.createCustomer(), good);
    expect(await world.metric('mandate_verification_refunds_overdue')).toBe(0);
    for (let tries = 0; tries < 15; tries++) await world.later(10 * minute);
    expect(await world.metric('mandate_verification_refunds_pending')).toBe(1);
    expect(await world.metric('mandate_verification_refunds_overdue')).toBe(1);
    expect(await world.service.jobs.stuckJobs()).toMatchObject([
      {
        kind: 'binding',
        id: `${made.id}/${made.bindingId}`,
        reason: expect.stringMatching(/^OutcomeUnknown: .*message lost/),
      },
    ]);
    expect(await world.binding(made)).toMatchObject({ status: 'pending' });

    // The bank is available again. Within two hours the service retries, without an operator.
    bank.always('reverse', undefined);
    world.service.clock.advance(61 * minute);
    await world.watchVerificationRefunds();
    await world.later(1_000);
    expect(await world.binding(made)).toMatchObject({ status: 'succeeded' });
    expect(await world.service.jobs.stuckJobs()).toEqual([]);
    expect(await world.metric('mandate_verification_refunds_overdue')).toBe(0);
    expect(world.service.logged.join('')).toContain('verification refunds overdue');
  });

  test('can be resolved by an operator, and then the binding fails', async () => {
    bank.happens('reverse', { outcome: 'declined', network: 'bank', code: '12' });
    bank.always('refund', 'answer lost');
    const customer = await world.createCustomer();
    const made = await world.bound(customer, good);
    const name = { customerId: made.id, bindingId: made.bindingId };
    expect(await world.closeReturn(name, 'seen on the statement')).toBe(true);
    expect(await world.binding(made)).toMatchObject({
      status: 'failed',
      error: { code: 'return_unconfirmed' },
    });
    expect(await isReady(customer)).toBe(false);
    expect(await world.bindingClearing('RUB')).toEqual({ own: 0, returning: 0 });
    expect(await world.closeReturn(name, 'again')).toBe(false);
  });
});

describe('while a bank request is in progress', () => {
  const remove = (customer: MadeCustomer) =>
    world.service.call('DELETE', `${customersUrl}/${customer.id}`, { token: world.merchant.apiKey });

  test.each(['authorise', 'reverse'] as const)(
    'to %s, the customer can be deleted: nothing is bound and the money is refunded',
    async (kind) => {
      const customer = await world.createCustomer();
      bank.meanwhile(kind, () => remove(customer));
      const made = await world.bound(customer, good);
      await world.later(minute);
      expect(await world.row(customer, made.bindingId)).toEqual({
        customer: 'deleted',
        active: null,
        binding: 'failed',
        refund_due_at: null,
      });
    },
  );

  test('another card can be bound, and the one confirmed last is active', async () => {
    const customer = await world.createCustomer();
    let quick: { bindingId: string } | undefined;
    bank.meanwhile('reverse', async () => {
      quick = await world.bind(customer, '5555555555554444');
      await untilBound(customer, quick.bindingId);
    });
    const slow = await world.bound(customer, good);
    expect(await world.binding(slow)).toMatchObject({ status: 'succeeded', isActive: true });
    expect((await world.withdraw(slow)).status).toBe(204);
    expect(await world.row(customer, quick?.bindingId ?? '')).toMatchObject({ active: quick?.bindingId });
  });

  async function untilBound(customer: MadeCustomer, bindingId: string): Promise<void> {
    const isBound = async () =>
      ((await world.row(customer, bindingId)) as { binding: string }).binding === 'succeeded';
    await vi.waitUntil(isBound, { interval: 20, timeout: 30_000 });
  }
});

describe('a charge of unknown outcome', () => {
  test.each<[string, Mishap]>([
    ['approved, but its response was lost', 'answer lost'],
    ['lost on the way', 'message lost'],
    ['not sent', 'not sent'],
  ])('that was %s is queried before anything is sent again', async (_, mishap) => {
    bank.happens('authorise', mishap);
    const made = await world.bound(await world.createCustomer(), good);
    expect(await world.binding(made)).toMatchObject({ status: 'pending' });
    await world.later(2_000);
    expect(await world.binding(made)).toMatchObject({ status: 'succeeded' });
    expect(bank.asked.slice(0, 2)).toEqual(['authorise', 'inquire']);
  });

  test('is reversed after half an hour', async () => {
    bank.happens('authorise', 'answer lost');
    bank.always('inquire', 'message lost');
    const customer = await world.createCustomer();
    const made = await world.bound(customer, good);
    for (let tries = 0; tries < 5; tries++) await world.later(8 * minute);
    expect(await world.binding(made)).toMatchObject({
      status: 'failed',
      error: { code: 'timeout', message: 'timeout' },
    });
    expect(bank.asked.at(-1)).toBe('reverse');
    expect(await isReady(customer)).toBe(false);
  });

  test('counts as a pending refund while the reversal is unconfirmed, and the binding has not failed', async () => {
    bank.happens('authorise', 'answer lost');
    bank.always('inquire', 'message lost');
    bank.always('reverse', 'message lost');
    const made = await world.bound(await world.createCustomer(), good);
    for (let tries = 0; tries < 5; tries++) await world.later(8 * minute);
    expect(await world.binding(made)).toMatchObject({ status: 'pending' });
    expect(await world.metric('mandate_verification_refunds_pending')).toBe(1);
    bank.always('reverse', undefined);
    await world.later(hour);
    expect(await world.binding(made)).toMatchObject({ status: 'failed' });
    expect(await world.metric('mandate_verification_refunds_pending')).toBe(0);
  });
});
