// Customers over the API: creating, finding and deleting them, their active card, access, and limits.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
  type MadeCustomer,
} from '../../support/worlds/customer-world.ts';
import { setTradingFlag, tradingFlags } from '../../support/worlds/block-merchant.ts';

const good = '4242424242424242';
const minute = 60_000;
const hour = 60 * minute;

let world: CustomerWorld;
let token: string;
beforeAll(async () => {
  world = await startCustomerWorld();
  token = world.merchant.apiKey;
});
afterAll(() => world.close());

const get = (path: string, by = token) => world.service.call('GET', `${customersUrl}${path}`, { token: by });
const post = (path: string, body?: unknown, by = token) =>
  world.service.call('POST', `${customersUrl}${path}`, {
    token: by,
    ...(body === undefined ? {} : { body }),
  });
const remove = (path: string, by = token) =>
  world.service.call('DELETE', `${customersUrl}${path}`, { token: by });
const person = { shopID: 'TEST', contactInfo: { email: 'payer@example.com', phoneNumber: '88002000600' } };
const noCustomer = { status: 404, body: { message: 'Customer not found' } };

async function bindRequest(customer: MadeCustomer, by = customer.token, card = good) {
  const { token: paymentToolToken, session: paymentSession } = await world.tokenize(card, by);
  return { paymentResource: { paymentToolToken, paymentSession } };
}

describe('a customer', () => {
  test('is created unready, with a token that is valid for three days', async () => {
    const created = await post('', { ...person, metadata: { tier: 1 }, externalID: 'made' });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      customer: {
        id: expect.any(String),
        externalID: 'made',
        ...person,
        metadata: { tier: 1 },
        status: 'unready',
      },
      customerAccessToken: { payload: expect.any(String) },
    });
    const { customer, customerAccessToken } = created.body;
    expect(await get(`/${customer.id}`)).toMatchObject({ status: 200, body: customer });
    expect((await get(`/${customer.id}`, customerAccessToken.payload)).body).toEqual(customer);
    expect((await get('?externalID=made')).body).toEqual(customer);
  });

  test('needs no metadata, and a contactInfo that may be empty', async () => {
    expect((await post('', { shopID: 'TEST', contactInfo: {} })).body.customer).toMatchObject({
      metadata: {},
    });
    expect(await post('', { shopID: 'TEST' })).toMatchObject({
      status: 400,
      body: { code: 'invalidRequest', message: expect.stringContaining('contactInfo') },
    });
  });

  test.each([
    ['an unknown shop', { shopID: 'NOWHERE' }, 'invalidShopID'],
    ['another party', { partyID: 'another' }, 'invalidPartyID'],
    ['an invalid phone number', { contactInfo: { phoneNumber: 'call me' } }, 'invalidRequest'],
    ['metadata beyond 4 KiB', { metadata: { x: 'y'.repeat(5_000) } }, 'invalidRequest'],
  ])('with %s is refused with its error code', async (_, more, code) => {
    expect(await post('', { ...person, ...more })).toMatchObject({ status: 400, body: { code } });
  });

  test('that is created again with its external ID is returned as it is now, with another token', async () => {
    const body = { ...person, externalID: 'again' };
    const first = await post('', body);
    const customer: MadeCustomer = {
      id: first.body.customer.id,
      token: first.body.customerAccessToken.payload,
    };
    await world.bound(customer, good);
    const again = await post('', {
      ...body,
      metadata: { other: true },
      contactInfo: { phoneNumber: '88002000600', email: 'payer@example.com' },
    });
    expect(again).toMatchObject({ status: 201, body: { customer: { id: customer.id, status: 'ready' } } });
    expect(again.body.customerAccessToken.payload).not.toBe(customer.token);
    const other = await post('', { ...body, contactInfo: { email: 'other@example.com' } });
    expect(other).toMatchObject({ status: 409, body: { externalID: 'again', id: customer.id } });
  });

  test('gets new tokens by API key only', async () => {
    const customer = await world.createCustomer();
    const issued = await post(`/${customer.id}/access-tokens`);
    expect(issued.status).toBe(201);
    expect((await get(`/${customer.id}`, issued.body.payload)).status).toBe(200);
    expect((await post(`/${customer.id}/access-tokens`, undefined, customer.token)).status).toBe(401);
  });

  test('can bind cards if a bank takes them and a verification charge is set', async () => {
    const methods = async (shopID: string) => {
      const { id, token: own } = await world.createCustomer({ shopID });
      return (await get(`/${id}/payment-methods`, own)).body;
    };
    expect(await methods('TEST')).toEqual([
      { method: 'BankCard', paymentSystems: expect.arrayContaining(['visa', 'mastercard', 'nspkmir']) },
    ]);
    await world.openShop('IN_TENGE', 'KZT');
    expect(await methods('IN_TENGE')).toEqual([]);
    await world.openShop('WITHOUT_BANK', 'RUB', { terminal: false });
    expect(await methods('WITHOUT_BANK')).toEqual([]);
  });
});

describe('the active card', () => {
  const active = async (customer: MadeCustomer) =>
    (await get(`/${customer.id}/bindings`)).body.find(({ isActive }: any) => isActive)?.id;

  test('is the one that succeeded last; a failed or pending newer one is not', async () => {
    const customer = await world.createCustomer();
    const first = await world.bound(customer, good);
    expect(await active(customer)).toBe(first.bindingId);
    const second = await world.bound(customer, '5555555555554444');
    expect(await active(customer)).toBe(second.bindingId);
    await world.bound(customer, '4000000000000002');
    const fourth = await world.bound(customer, '4012888888881881');
    expect(await active(customer)).toBe(second.bindingId);
    expect((await get(`/${customer.id}/bindings`)).body.map(({ status }: any) => status)).toEqual([
      'succeeded',
      'succeeded',
      'failed',
      'pending',
    ]);
    await world.authenticateBinding(fourth, 'confirm');
    expect(await active(customer)).toBe(fourth.bindingId);
  });

  test('follows the order of success, not of the requests', async () => {
    const customer = await world.createCustomer();
    const slow = await world.bound(customer, '4012888888881881');
    const quick = await world.bound(customer, good);
    expect(await active(customer)).toBe(quick.bindingId);
    await world.authenticateBinding(slow, 'confirm');
    expect(await active(customer)).toBe(slow.bindingId);
    expect((await world.withdraw(slow)).status).toBe(204);
    expect(await active(customer)).toBe(quick.bindingId);
  });

  test('is the one before after a revocation, and without one the customer is unready', async () => {
    const customer = await world.createCustomer();
    const made: MadeBinding[] = [];
    for (const card of [good, '5555555555554444', '2201382000000013'])
      made.push(await world.bound(customer, card));
    const [first, second, third] = made as [MadeBinding, MadeBinding, MadeBinding];
    expect((await world.withdraw(second)).status).toBe(204);
    expect(await active(customer)).toBe(third.bindingId);
    expect((await world.withdraw(third, customer.token)).status).toBe(204);
    expect(await active(customer)).toBe(first.bindingId);
    expect(await world.customer(customer)).toMatchObject({ status: 'ready' });
    expect((await world.withdraw(first)).status).toBe(204);
    expect(await active(customer)).toBeUndefined();
    expect(await world.customer(customer)).toMatchObject({ status: 'unready' });
    expect(await world.binding(first)).toMatchObject({
      status: 'succeeded',
      isActive: false,
      withdrawnAt: expect.stringMatching(/^2026-/),
    });
    expect((await world.customerChanges(customer)).at(-1)).toEqual({
      changeType: 'CustomerBindingWithdrawn',
      customerBindingID: first.bindingId,
    });
    // Another card makes the customer ready again.
    const next = await world.bound(customer, good);
    expect(await active(customer)).toBe(next.bindingId);
    expect(await world.customer(customer)).toMatchObject({ status: 'ready' });
  });

  test('is revoked once, however often it is requested, and a card that is not bound is refused', async () => {
    const customer = await world.createCustomer();
    const bound = await world.bound(customer, good);
    const failed = await world.bound(customer, '4000000000000002');
    const waiting = await world.bound(customer, '4012888888881881');
    const events = async () => (await get(`/${customer.id}/events?limit=1000`)).body.length;
    expect((await world.withdraw(bound)).status).toBe(204);
    const before = await events();
    expect((await world.withdraw(bound)).status).toBe(204);
    expect(await events()).toBe(before);
    for (const other of [failed, waiting]) {
      const refused = await world.withdraw(other);
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalidBindingStatus' } });
    }
    expect(await remove(`/${customer.id}/bindings/nothing`)).toMatchObject({
      status: 404,
      body: { message: 'Customer binding not found' },
    });
    await world.authenticateBinding(waiting, 'refuse');
  });

  test('is always the one bound last while many are bound and revoked concurrently', async () => {
    const customer = await world.createCustomer();
    const made: MadeBinding[] = [];
    for (let number = 0; number < 4; number++) made.push(await world.bound(customer, good));
    const more = Promise.all(Array.from({ length: 4 }, () => world.bind(customer, '5555555555554444')));
    const answers = await Promise.all(made.map((binding) => world.withdraw(binding)));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    expect((await more).map(({ created }) => created.status)).toEqual([201, 201, 201, 201]);
    await world.service.jobs.whenIdle();
    await world.later(2 * minute);
    const list = (await get(`/${customer.id}/bindings`)).body;
    expect(list.map(({ status }: any) => status)).toEqual(Array(8).fill('succeeded'));
    expect(list.filter(({ withdrawnAt }: any) => withdrawnAt)).toHaveLength(4);
    expect(list.filter(({ isActive }: any) => isActive)).toHaveLength(1);
    const successes = (await world.customerChanges(customer)).filter(({ status }) => status === 'succeeded');
    expect(await active(customer)).toBe(successes.at(-1).customerBindingID);
    expect(await world.differences()).toEqual([]);
  });
});

test('revoking all cards concurrently leaves the customer unready', async () => {
  for (let round = 0; round < 3; round++) {
    const customer = await world.createCustomer();
    const made: MadeBinding[] = [];
    for (let number = 0; number < 5; number++) made.push(await world.bound(customer, good));
    const answers = await Promise.all(made.map((binding) => world.withdraw(binding)));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(204));
    expect(await world.customer(customer)).toMatchObject({ status: 'unready' });
    expect(await world.differences()).toEqual([]);
  }
});

describe('a deleted customer', () => {
  test('is not found by any operation or token', async () => {
    const customer = await world.createCustomer({ externalID: 'gone' });
    const { bindingId } = await world.bound(customer, good);
    const body = await bindRequest(customer);
    expect((await remove(`/${customer.id}`)).status).toBe(204);
    const at = `/${customer.id}`;
    for (const by of [token, customer.token]) {
      for (const path of [
        at,
        `${at}/bindings`,
        `${at}/bindings?bindingID=${bindingId}`,
        `${at}/bindings/${bindingId}`,
        `${at}/events?limit=5`,
        `${at}/payment-methods`,
      ])
        expect(await get(path, by)).toMatchObject(noCustomer);
      expect(await post(`${at}/bindings`, body, by)).toMatchObject(noCustomer);
      expect(await remove(`${at}/bindings/${bindingId}`, by)).toMatchObject(noCustomer);
    }
    expect(await get('?externalID=gone')).toMatchObject(noCustomer);
    expect(await post(`${at}/access-tokens`)).toMatchObject(noCustomer);
    expect(await remove(at)).toMatchObject(noCustomer);
    // Its external ID stays taken.
    const again = { ...person, contactInfo: { email: 'payer@example.com' }, externalID: 'gone' };
    expect(await post('', again)).toMatchObject({ status: 409, body: { id: customer.id } });
  });

  test.each([
    ['is waiting for the payer', '4012888888881881'],
    ['has just been requested', good],
  ])('binds nothing and gets the money back while a binding %s', async (_, card) => {
    const customer = await world.createCustomer();
    const { bindingId } = await world.bind(customer, card);
    if (card !== good) await world.service.jobs.whenIdle();
    expect((await remove(`/${customer.id}`)).status).toBe(204);
    await world.service.jobs.whenIdle();
    await world.later(2 * minute);
    expect(await world.row(customer, bindingId)).toEqual({
      customer: 'deleted',
      active: null,
      // The bank may have been quicker than the deletion.
      binding: card === good ? expect.stringMatching(/^(failed|succeeded)$/) : 'failed',
      refund_due_at: null,
    });
    expect(await world.differences()).toEqual([]);
  });

  test('can be deleted only by API key, and only by its own merchant', async () => {
    const customer = await world.createCustomer();
    const other = await world.createMerchant();
    expect((await remove(`/${customer.id}`, customer.token)).status).toBe(401);
    expect(await remove(`/${customer.id}`, other.apiKey)).toMatchObject(noCustomer);
    expect((await get(`/${customer.id}`)).status).toBe(200);
  });
});

describe('a refused request', () => {
  test('of another merchant sees nothing and changes nothing', async () => {
    const customer = await world.createCustomer();
    const { bindingId } = await world.bound(customer, good);
    const { apiKey: foreign } = await world.createMerchant();
    const at = `/${customer.id}`;
    for (const path of ['', '/bindings', `/bindings/${bindingId}`, '/events?limit=5', '/payment-methods'])
      expect(await get(at + path, foreign)).toMatchObject(noCustomer);
    expect(await remove(`${at}/bindings/${bindingId}`, foreign)).toMatchObject(noCustomer);
    expect(await post(`${at}/bindings`, await bindRequest(customer, foreign), foreign)).toMatchObject(
      noCustomer,
    );
    expect(await world.customer(customer)).toMatchObject({ status: 'ready' });
  });

  test('with the token of another customer gets 401 for writes and 404 for reads', async () => {
    const [one, other] = [await world.createCustomer(), await world.createCustomer()];
    const body = await bindRequest(one, other.token);
    expect((await post(`/${one.id}/bindings`, body, other.token)).status).toBe(401);
    expect(await get(`/${one.id}`, other.token)).toMatchObject(noCustomer);
    expect(await get(`/${one.id}/events?limit=1`, other.token)).toMatchObject(noCustomer);
  });

  test('cannot bind a card tokenised for another customer, except by the merchant', async () => {
    const [one, other] = [await world.createCustomer(), await world.createCustomer()];
    const body = await bindRequest(one);
    expect(await post(`/${other.id}/bindings`, body, other.token)).toMatchObject({
      status: 400,
      body: { code: 'invalidPaymentToolToken' },
    });
    expect((await post(`/${other.id}/bindings`, body)).status).toBe(201);
    await world.service.jobs.whenIdle();
  });

  test.each(tradingFlags)('of a %s that %s binds nothing: %s', async (of, flag, code) => {
    const customer = await world.createCustomer();
    const bound = await world.bound(customer, good);
    const body = await bindRequest(customer);
    await setTradingFlag(world.service, world.merchant, { of, flag }, true);
    try {
      expect(await post(`/${customer.id}/bindings`, body)).toMatchObject({ status: 400, body: { code } });
      expect(await post('', person)).toMatchObject({ status: 400, body: { code } });
      expect(await remove(`/${customer.id}`)).toMatchObject({ status: 400, body: { code } });
      // A payer can always revoke a card.
      expect((await world.withdraw(bound, customer.token)).status).toBe(204);
    } finally {
      await setTradingFlag(world.service, world.merchant, { of, flag }, false);
    }
  });

  test('in a currency without a verification charge names the currency', async () => {
    await world.openShop('IN_LIRA', 'TRY');
    const customer = await world.createCustomer({ shopID: 'IN_LIRA' });
    expect(await post(`/${customer.id}/bindings`, await bindRequest(customer))).toMatchObject({
      status: 400,
      body: {
        code: 'operationNotPermitted',
        message: 'No card can be bound in TRY: the operator has set no verification charge for it',
      },
    });
  });

  test.each([
    [
      'with the session of another card',
      async () => (await world.tokenize(good)).session,
      'invalidPaymentSession',
    ],
    ['with an invalid session', () => Promise.resolve('s1.none'), 'invalidPaymentSession'],
  ])('%s has its error code', async (_, sessionOf, code) => {
    const customer = await world.createCustomer();
    const { paymentResource } = await bindRequest(customer);
    const body = { paymentResource: { ...paymentResource, paymentSession: await sessionOf() } };
    expect(await post(`/${customer.id}/bindings`, body)).toMatchObject({ status: 400, body: { code } });
  });

  test('has an expired token, or no session', async () => {
    const customer = await world.createCustomer();
    const body = await bindRequest(customer);
    const { paymentToolToken } = body.paymentResource;
    expect(await post(`/${customer.id}/bindings`, { paymentResource: { paymentToolToken } })).toMatchObject({
      body: { code: 'invalidRequest', message: expect.stringContaining('paymentSession') },
    });
    world.service.clock.advance(61 * minute);
    expect(await post(`/${customer.id}/bindings`, body)).toMatchObject({
      body: { code: 'invalidPaymentToolToken' },
    });
  });
});

describe('a repeated binding request', () => {
  test('with the same external ID returns the binding as it is now, and conflicts for another card', async () => {
    const customer = await world.createCustomer();
    const body = { ...(await bindRequest(customer)), externalID: 'bind-1' };
    const url = `/${customer.id}/bindings`;
    const first = await post(url, body, customer.token);
    expect(first).toMatchObject({ status: 201, body: { status: 'pending', externalID: 'bind-1' } });
    await world.service.jobs.whenIdle();
    expect(await post(url, body, customer.token)).toMatchObject({
      status: 201,
      body: { id: first.body.id, status: 'succeeded' },
    });
    for (const card of [good, '5555555555554444']) {
      const other = { ...(await bindRequest(customer, customer.token, card)), externalID: 'bind-1' };
      expect(await post(url, other)).toMatchObject({
        status: 409,
        body: { externalID: 'bind-1', id: first.body.id },
      });
    }
    const sibling = await world.createCustomer();
    expect(await post(`/${sibling.id}/bindings`, body)).toMatchObject({ status: 409 });
    expect((await get(url)).body).toHaveLength(1);
  });

  test('sent ten times concurrently creates one binding', async () => {
    const customer = await world.createCustomer();
    const body = { ...(await bindRequest(customer)), externalID: 'at once' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post(`/${customer.id}/bindings`, body, customer.token)),
    );
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    await world.service.jobs.whenIdle();
    expect((await get(`/${customer.id}/bindings`)).body).toHaveLength(1);
  });

  test('with an Idempotency-Key gets the first response, byte for byte', async () => {
    const customer = await world.createCustomer();
    const body = await bindRequest(customer);
    const ask = () =>
      world.service.call('POST', `${customersUrl}/${customer.id}/bindings`, {
        token: customer.token,
        body,
        headers: { 'idempotency-key': 'bind' },
      });
    const first = await ask();
    await world.service.jobs.whenIdle();
    await world.later(minute);
    expect((await ask()).text).toBe(first.text);
    expect((await get(`/${customer.id}/bindings`)).body).toMatchObject([{ status: 'succeeded' }]);
  });
});

describe('the events of a customer', () => {
  test('are listed in pages, oldest first, without internal ones', async () => {
    const customer = await world.createCustomer();
    const first = await world.bound(customer, good);
    await world.bound(customer, '4000000000000002');
    const url = `/${customer.id}/events`;
    const whole = (await get(`${url}?limit=100`)).body;
    // Created (1) and charged (3) take a sequence but are not shown.
    expect(whole.map(({ id }: any) => id)).toEqual([2, 4, 5, 6]);
    expect(whole[1].changes).toEqual([
      {
        changeType: 'CustomerBindingStatusChanged',
        customerBindingID: first.bindingId,
        status: 'succeeded',
      },
    ]);
    let after = 0;
    const paged: any[] = [];
    for (;;) {
      const { body } = await get(`${url}?limit=1&eventID=${after}`, customer.token);
      if (body.length === 0) break;
      expect(body).toHaveLength(1);
      paged.push(...body);
      after = body[0].id;
    }
    expect(paged.map(({ id }) => id)).toEqual(whole.map(({ id }: any) => id));
    expect(await get(`${url}?limit=5&eventID=999999`)).toMatchObject({ status: 200, body: [] });
    expect(await get(url)).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
    expect(await get(`${url}?limit=0`)).toMatchObject({ status: 400 });
  });

  test('are also available under /v1', async () => {
    const customer = await world.createCustomer();
    const url = `/v1/processing/customers/${customer.id}/events?limit=1`;
    expect(await world.service.call('GET', url, { token })).toMatchObject({ status: 200, body: [] });
  });
});

describe('card testing', () => {
  let limited: CustomerWorld;
  beforeAll(async () => {
    limited = await startCustomerWorld({
      BINDINGS_PER_CUSTOMER_PER_DAY: '3',
      BINDINGS_PER_CARD_PER_DAY: '4',
    });
  });
  afterAll(() => limited.close());

  test('is limited per customer, whatever the outcomes, for 24 hours', async () => {
    const customer = await limited.createCustomer();
    for (const card of ['4000000000000002', '4222222222222220', '5555555555554444']) {
      await limited.bound(customer, card);
      limited.service.clock.advance(hour);
    }
    const refused = await limited.bind(customer, '5169147129584558');
    expect(refused.created).toMatchObject({
      status: 429,
      body: { message: 'Too many cards were tried for this customer. Try again in 75600 seconds.' },
      headers: { 'retry-after': '75600' },
    });
    // Another customer is not limited. 24 hours after the first binding, one more is allowed.
    expect((await limited.bind(await limited.createCustomer(), good)).created.status).toBe(201);
    limited.service.clock.advance(21 * hour);
    expect((await limited.bind(customer, '2201382000000013')).created.status).toBe(201);
    expect((await limited.bind(customer, '2201382000000013')).created.status).toBe(429);
    await limited.service.jobs.whenIdle();
  });

  test('is limited per card, across customers, and does not count other cards', async () => {
    const card = '586824160825533338';
    for (let number = 0; number < 4; number++)
      expect((await limited.bind(await limited.createCustomer(), card)).created.status).toBe(201);
    const refused = await limited.bind(await limited.createCustomer(), card);
    expect(refused.created).toMatchObject({
      status: 429,
      body: { message: 'This card was tried too often. Try again in 86400 seconds.' },
    });
    expect((await limited.bind(await limited.createCustomer(), good)).created.status).toBe(201);
    await limited.service.jobs.whenIdle();
    limited.service.clock.advance(24 * hour);
    expect((await limited.bind(await limited.createCustomer(), card)).created.status).toBe(201);
    await limited.service.jobs.whenIdle();
    expect(await limited.differences()).toEqual([]);
  });

  test('gets the current Retry-After under the same Idempotency-Key', async () => {
    const customer = await limited.createCustomer();
    for (const card of ['4000000000000002', '4222222222222220', '5555555555554444'])
      await limited.bound(customer, card);
    const tokens = await limited.tokenize('5169147129584558', customer.token);
    const body = { paymentResource: { paymentToolToken: tokens.token, paymentSession: tokens.session } };
    const ask = () =>
      limited.service.call('POST', `${customersUrl}/${customer.id}/bindings`, {
        token: customer.token,
        body,
        headers: { 'idempotency-key': 'the-same' },
      });
    expect(await ask()).toMatchObject({ status: 429, headers: { 'retry-after': '86400' } });
    limited.service.clock.advance(minute);
    expect(await ask()).toMatchObject({ status: 429, headers: { 'retry-after': '86340' } });
  });

  test('is not limited without the settings, and a repeated request is not counted', async () => {
    const customer = await limited.createCustomer();
    const { token: paymentToolToken, session: paymentSession } = await limited.tokenize('2223577120017656');
    const body = { paymentResource: { paymentToolToken, paymentSession }, externalID: 'repeat' };
    for (let number = 0; number < 6; number++) {
      const url = `${customersUrl}/${customer.id}/bindings`;
      const answer = await limited.service.call('POST', url, { token: limited.merchant.apiKey, body });
      expect(answer.status).toBe(201);
    }
    const free = await world.createCustomer();
    for (let number = 0; number < 8; number++)
      expect((await world.bind(free, '4000000000000002')).created.status).toBe(201);
    await world.service.jobs.whenIdle();
    await limited.service.jobs.whenIdle();
  });
});

test('in the end the bank’s report, the bindings and the ledger agree', async () => {
  await world.later(2 * minute);
  expect(await world.differences()).toEqual([]);
});
