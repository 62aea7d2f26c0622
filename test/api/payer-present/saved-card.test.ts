// A payer who is present pays with the card they saved: a payment like one with an entered card, and no recurring charge.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeCustomer,
} from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { attemptLimits } from '../../../src/cards/domain/attempt-limits.ts';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import { refuse } from '../../../src/refusal.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';

const good = '4242424242424242';
const asksThePayer = '4012888888881881';
/** Another test's attempts do not count for it. */
const seldom = '5555555555554444';
const fingerprint = 'a browser';
const hold = { flow: { type: 'PaymentFlowHold' } };

let world: CustomerWorld;
let bank: FaultyBank;
let token: string;
beforeAll(async () => {
  world = await startCustomerWorld({ CARD_TESTING_LIMITS: 'on' });
  bank = waylay(world.service.banks);
  token = world.merchant.apiKey;
});
afterAll(() => world.close());

async function readyCustomer(card = good): Promise<MadeCustomer> {
  const customer = await world.createCustomer();
  const binding = await world.bound(customer, card);
  if (card === asksThePayer) await world.authenticateBinding(binding, 'confirm');
  return customer;
}

async function pay(
  customer: { id: string },
  payer: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
  by = token,
) {
  const invoice = await makeInvoice(world.service, world.merchant);
  const call = () => payInvoice(invoice, customer, more, payer, by);
  const created = await call();
  await world.service.jobs.whenIdle();
  return { ...invoice, created, again: call };
}

function payInvoice(
  invoice: { readonly id: string; readonly token: string },
  { id: customerID }: { id: string },
  more: Record<string, unknown>,
  payer: Record<string, unknown> = {},
  by = token,
) {
  const clientInfo = { fingerprint, ip: '203.0.113.7' };
  const body = {
    payer: { payerType: 'CustomerPayer', customerID, present: true, clientInfo, ...payer },
    ...more,
  };
  return world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
    token: by === 'invoice' ? invoice.token : by,
    body,
  });
}

const lastAuthorisation = () => bank.sent.findLast(({ kind }) => kind === 'authorise') as any;

test('is a payment like one with an entered card, and the bank learns that the card is stored', async () => {
  const customer = await readyCustomer();
  const paid = await pay(customer);
  expect(paid.created, paid.created.text).toMatchObject({ status: 201 });
  expect(await world.payment(paid)).toMatchObject({
    status: 'captured',
    payer: {
      payerType: 'CustomerPayer',
      customerID: customer.id,
      present: true,
      paymentToolDetails: { cardNumberMask: '424242******4242' },
      clientInfo: { fingerprint, ip: '203.0.113.7' },
    },
  });
  expect(paid.created.text).not.toContain('paymentToolToken');
  expect(lastAuthorisation()).toMatchObject({
    initiation: { by: 'payer', storesCard: false, usesStored: true },
    authentication: 'preferred',
    payer: { ip: '203.0.113.7', fingerprint, reference: customer.id, email: 'payer@example.com' },
  });
  expect(lastAuthorisation().initiation).not.toHaveProperty('rootNetworkTransactionId');
});

test('waits for the payer’s challenge, and takes the wish for 3-D Secure', async () => {
  const customer = await readyCustomer(asksThePayer);
  const paid = await pay(customer, {}, hold);
  expect(await world.payment(paid)).toMatchObject({ status: 'pending' });
  await world.authenticate(paid, 'confirm');
  expect(await world.payment(paid)).toMatchObject({ status: 'processed' });
  const without = await pay(customer, {}, { threeDSecure: 'never' });
  expect(await world.payment(without)).toMatchObject({ status: 'captured', threeDSecure: 'never' });
});

test('knows no rules of recurring charges: twice a day, after a revoked consent, and no series changes', async () => {
  const customer = await readyCustomer();
  const series = async () => {
    const { rows } = await world.service.database.withClient((client) =>
      client.query(
        `select series_id, version, (select count(*) from series_attempt) from series order by series_id`,
      ),
    );
    return rows;
  };
  const before = await series();
  for (let time = 0; time < 3; time++) {
    const paid = await pay(customer);
    expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
    expect(paid.created.body).not.toHaveProperty('warnings');
  }
  expect(await series()).toEqual(before);
});

test('a security code goes to the bank once, and into no record', async () => {
  const customer = await readyCustomer();
  const paid = await pay(customer, { cvv: '739' });
  expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
  expect(lastAuthorisation().card.session).toMatch(/^s1\./);
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ text: string }>(
      `select terms::text as text from payment where invoice_id = $1
       union all select facts::text from event where aggregate_id = $1`,
      [paid.id],
    ),
  );
  expect(rows.length).toBeGreaterThan(1);
  for (const { text } of rows) expect(text).not.toContain('739');
});

describe('a refusal leaves no copy of the card,', () => {
  /** Of copies that no payment has. A job may delete other cards meanwhile. */
  const unused = async () => {
    const { rows } = await world.service.database.withClient((client) =>
      client.query<{ card_id: string }>('select card_id from card where not is_retained'),
    );
    return rows.map(({ card_id }) => card_id);
  };
  async function leavesNoCopy(refused: () => Promise<void>): Promise<void> {
    const before = await unused();
    await refused();
    expect((await unused()).filter((id) => !before.includes(id))).toEqual([]);
  }

  test('if no bank takes it', async () => {
    const customer = await readyCustomer();
    const { banks } = world.service;
    const { terminalFor } = banks;
    await leavesNoCopy(async () => {
      Object.assign(banks, { terminalFor: async () => refuse('notOfferedByBank') });
      try {
        const { created } = await pay(customer, { cvv: '739' });
        expect(created).toMatchObject({ status: 400, body: { code: 'notOfferedByBank' } });
      } finally {
        Object.assign(banks, { terminalFor });
      }
    });
  });

  test('if the invoice is paid at the same time', async () => {
    const customer = await readyCustomer();
    const { banks } = world.service;
    const { terminalFor } = banks;
    await leavesNoCopy(async () => {
      const invoice = await makeInvoice(world.service, world.merchant);
      const other: { status?: number } = {};
      const meanwhile = async (...asked: Parameters<typeof terminalFor>) => {
        Object.assign(banks, { terminalFor });
        Object.assign(other, await payInvoice(invoice, customer, hold));
        return terminalFor(...asked);
      };
      Object.assign(banks, { terminalFor: meanwhile });
      const late = await payInvoice(invoice, customer, hold);
      expect([other.status, late.status], late.text).toEqual([201, 400]);
    });
  });

  test('if the card was declined too often', async () => {
    const customer = await readyCustomer(seldom);
    bank.always('authorise', { outcome: 'declined', network: 'visa', code: '05' });
    await leavesNoCopy(async () => {
      const statuses: number[] = [];
      for (let time = 0; time <= attemptLimits.card.declinesPerHour; time++)
        statuses.push((await pay(customer, { cvv: '739' })).created.status);
      bank.always('authorise', undefined);
      expect(statuses).toEqual([201, 201, 201, 201, 429]);
    });
  });
});

test('a repeat is the same payment; the card that is copied is deleted once it is not needed', async () => {
  const customer = await readyCustomer();
  const paid = await pay(customer, {}, { externalID: `present ${customer.id}` });
  const again = await paid.again();
  expect([again.status, again.body.id]).toEqual([201, paid.created.body.id]);
  const cards = async () => {
    const { rows } = await world.service.database.withClient((client) =>
      client.query(`select from card where retained_for::text like '%payment/${paid.id}/%'`),
    );
    return rows.length;
  };
  expect(await cards()).toBe(1);
  await world.later(2 * 60_000);
  expect(await cards()).toBe(0);
  expect(await world.payment(await pay(customer))).toMatchObject({ status: 'captured' });
});

test('an invoice’s token cannot say where the payer is, and counts their address', async () => {
  const customer = await readyCustomer();
  const paid = await pay(customer, {}, {}, 'invoice');
  expect(paid.created).toMatchObject({ status: 201 });
  const { clientInfo } = (await world.payment(paid)).payer;
  expect(clientInfo.ip).not.toBe('203.0.113.7');
});

test('what only a present payer can have is refused without one, and what a customer cannot have always', async () => {
  const customer = await readyCustomer();
  const refusals = [
    [{ clientInfo: undefined }, {}, 'payer.clientInfo'],
    [{ present: false }, {}, 'payer.clientInfo'],
    [{ present: false, clientInfo: undefined, cvv: '123' }, {}, 'payer.cvv'],
    [{ present: false, clientInfo: undefined }, { threeDSecure: 'always' }, 'threeDSecure'],
    [{ clientInfo: { fingerprint, ip: 'here' } }, {}, 'payer.clientInfo.ip'],
    [{ clientInfo: { fingerprint, url: 'here' } }, {}, 'payer.clientInfo.url'],
    [{}, { makeRecurrent: true }, 'Invalid payer'],
  ] as const;
  for (const [payer, more, says] of refusals) {
    const { created } = await pay(customer, payer, more);
    expect(created, says).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
    expect(created.body.message).toContain(says);
  }
  const byToken = await pay(customer, {}, { threeDSecure: 'never' }, 'invoice');
  expect(byToken.created).toMatchObject({ status: 400, body: { code: 'operationNotPermitted' } });
});

describe('the token of the customer', () => {
  /** As the checkout has it: for a payer who is present, and no charge. */
  async function forCheckout(shop = world.merchant, shopID = 'TEST') {
    const invoice = await makeInvoice(world.service, shop, { shopID });
    const url = `${invoicesUrl}/${invoice.id}/access-tokens?for=checkout`;
    const { body } = await world.service.call('POST', url, { token: shop.apiKey });
    return { ...invoice, token: body.payload as string };
  }
  const payWith = async (customer: { id: string }, payer: Record<string, unknown>) => {
    const invoice = await forCheckout();
    const seen = { fingerprint };
    const answer = await payInvoice(invoice, customer, {}, { clientInfo: seen, ...payer }, invoice.token);
    await world.service.jobs.whenIdle();
    return { ...invoice, answer };
  };
  const refused = (message: RegExp) => ({
    status: 400,
    body: { code: 'operationNotPermitted', message: expect.stringMatching(message) },
  });

  test('lets a token that charges no saved card pay with the one of its customer', async () => {
    const customer = await readyCustomer();
    expect((await payWith(customer, {})).answer).toMatchObject(refused(/limited to a payer who is present/));
    const { id, answer } = await payWith(customer, { customerAccessToken: customer.token });
    expect(answer).toMatchObject({
      status: 201,
      body: { payer: { customerID: customer.id, present: true } },
    });
    expect(answer.text).not.toContain(customer.token);
    expect((await world.service.call('GET', `${invoicesUrl}/${id}`, { token })).body.status).toBe('paid');
    expect(world.service.logged.join('\n')).not.toContain(customer.token.slice(-20));
  });

  test('is enough where charges need an API key, because the payer is present', async () => {
    const customer = await readyCustomer();
    const settings = (needsApiKey: boolean) =>
      storeSettings(
        world.service.database,
        { partyId: world.merchant.partyId, shopId: 'TEST' },
        { needsApiKey },
      );
    await settings(true);
    try {
      const byInvoice = await pay(customer, { clientInfo: { fingerprint } }, {}, 'invoice');
      expect(byInvoice.created).toMatchObject(refused(/only with an API key/));
      const { answer } = await payWith(customer, { customerAccessToken: customer.token });
      expect(answer.status).toBe(201);
    } finally {
      await settings(false);
    }
  });

  test('pays for its own customer alone', async () => {
    const customer = await readyCustomer();
    const other = await world.createCustomer();
    const stranger = await world.createMerchant();
    const foreign = await world.createCustomer({}, stranger);
    const theirs = /is not of this customer/;
    for (const customerAccessToken of [other.token, foreign.token, token, 'x', (await forCheckout()).token])
      expect((await payWith(customer, { customerAccessToken })).answer).toMatchObject(refused(theirs));
    for (const id of ['unknown', foreign.id])
      expect((await payWith({ id }, { customerAccessToken: customer.token })).answer).toMatchObject(
        refused(theirs),
      );
    // Another party's token is good for its customer, and not for this invoice.
    const { answer } = await payWith(foreign, { customerAccessToken: foreign.token });
    expect(answer).toMatchObject(refused(theirs));
  });

  test('is refused without a present payer, once it has expired, and for a customer who cannot pay', async () => {
    const customer = await readyCustomer();
    const customerAccessToken = customer.token;
    const alone = { present: false, clientInfo: undefined, customerAccessToken };
    expect((await payWith(customer, alone)).answer).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('payer.customerAccessToken') },
    });
    const unready = await world.createCustomer();
    expect((await payWith(unready, { customerAccessToken: unready.token })).answer.body).toMatchObject({
      code: 'customerNotReady',
    });
    await world.openShop('THIRD', 'RUB');
    const elsewhere = await world.createCustomer({ shopID: 'THIRD' });
    expect((await payWith(elsewhere, { customerAccessToken: elsewhere.token })).answer.body).toMatchObject({
      message: 'Invalid customer',
    });
    await world.service.call('DELETE', `${customersUrl}/${unready.id}`, { token });
    expect((await payWith(unready, { customerAccessToken: unready.token })).answer.body).toMatchObject({
      message: 'Customer not found',
    });
    const other = await world.createCustomer();
    world.service.clock.advance(3 * 24 * 3_600_000 + 1_000);
    expect((await payWith(customer, { customerAccessToken })).answer).toMatchObject(refused(/has expired/));
    for (const { token: expired } of [other, await forCheckout()])
      expect((await payWith(customer, { customerAccessToken: expired })).answer).toMatchObject(
        refused(/is not of this customer/),
      );
  });

  test('may have expired when a payment that was created is asked for again', async () => {
    const customer = await readyCustomer();
    const invoice = await makeInvoice(world.service, world.merchant);
    const again = (externalID: string, of: { id: string } = customer) =>
      payInvoice(invoice, of, { externalID }, { customerAccessToken: customer.token });
    const created = await again('stale');
    await world.service.jobs.whenIdle();
    world.service.clock.advance(3 * 24 * 3_600_000 + 1_000);
    expect(created.status).toBe(201);
    expect(await again('stale')).toMatchObject({ status: 201, body: { id: created.body.id } });
    expect(await again('new')).toMatchObject(refused(/has expired/));
    const other = await readyCustomer();
    expect(await again('stale', other)).toMatchObject(refused(/is not of this customer/));
    expect(world.service.logged.join('\n')).not.toContain(customer.token.slice(-20));
  });

  test.each([
    ['has expired', () => world.service.clock.advance(3 * 24 * 3_600_000 + 1_000)],
    ['is of another customer', () => {}],
    ['is missing', () => {}],
  ])('is not remembered for an Idempotency-Key if it %s', async (what, pass) => {
    const customer = await readyCustomer();
    const another = await world.createCustomer();
    pass();
    const invoice = await forCheckout();
    const wrong = { 'has expired': customer.token, 'is of another customer': another.token }[what];
    const fresh = await world.service.call('POST', `${customersUrl}/${customer.id}/access-tokens`, { token });
    const payWithKey = (customerAccessToken: string | undefined) =>
      world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
        token: invoice.token,
        headers: { 'idempotency-key': 'one-try' },
        body: {
          payer: {
            payerType: 'CustomerPayer',
            customerID: customer.id,
            present: true,
            clientInfo: { fingerprint },
            ...(customerAccessToken ? { customerAccessToken } : {}),
          },
        },
      });
    expect(await payWithKey(wrong)).toMatchObject({ status: 400, body: { code: 'operationNotPermitted' } });
    const paid = await payWithKey(fresh.body.payload);
    expect(paid).toMatchObject({ status: 201 });
    await world.service.jobs.whenIdle();
    expect((await payWithKey(wrong)).text).toBe(paid.text);
  });
});

test('a customer who is unknown, of another shop, not ready or revoked is refused', async () => {
  expect((await pay({ id: 'unknown' })).created).toMatchObject({
    status: 400,
    body: { message: 'Customer not found' },
  });
  const unready = await world.createCustomer();
  expect((await pay(unready)).created.body).toMatchObject({ code: 'customerNotReady' });
  await world.openShop('SECOND', 'RUB');
  const foreign = await world.createCustomer({ shopID: 'SECOND' });
  expect((await pay(foreign)).created.body).toMatchObject({ message: 'Invalid customer' });
  const customer = await world.createCustomer();
  await world.withdraw(await world.bound(customer, good));
  expect((await pay(customer)).created.body).toMatchObject({ code: 'customerNotReady' });
  expect((await world.service.call('DELETE', `${customersUrl}/${customer.id}`, { token })).status).toBe(204);
  expect((await pay(customer)).created.body).toMatchObject({ message: 'Customer not found' });
});

test('webhooks name the customer and that the payer was there, and no token', async () => {
  const customer = await readyCustomer();
  const paid = await pay(customer);
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ facts: string }>(`select facts::text as facts from event where aggregate_id = $1`, [
      paid.id,
    ]),
  );
  expect(rows.map(({ facts }) => facts).join()).toContain('"savedBy"');
});
