// Payments with a 3-D Secure result of another server: it is checked, sent on, and used once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSimulatedBank, type SimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { secret } from '../../support/worlds/payment-world.ts';

/** The simulated bank challenges its payer, unless they were authenticated elsewhere. */
const challenged = '4012888888881881';
const minute = 60_000;
const contactInfo = { email: 'payer@example.com' };

let world: CustomerWorld;
let bank: FaultyBank;
let unable: SimulatedBank;
beforeAll(async () => {
  world = await startCustomerWorld();
  bank = waylay(world.service.banks);
  const { clock, banks, learnAbilities } = world.service;
  const options = { clock, secret, log: { warn: () => {} } };
  unable = await openSimulatedBank({ ...options, abilities: { authentication: ['hosted'] } });
  const gone = await openSimulatedBank(options);
  await banks.putBank({ id: 'GONE', url: gone.url, secret });
  await banks.putBank({ id: 'UNABLE', url: unable.url, secret });
  await banks.putBank({ id: 'DOWN', url: 'http://127.0.0.1:9', secret });
  await learnAbilities();
  await banks.putBank({ id: 'UNHEARD', url: unable.url, secret });
  await gone.stop();
});
afterAll(async () => {
  await world.close();
  await unable.stop();
});

let results = 0;
/** What another server says about a payment of 60 roubles with the card, a minute ago. */
function result(more: Record<string, unknown> = {}) {
  results++;
  return {
    version: '2.2.0',
    status: 'Y',
    eci: '05',
    value: Buffer.alloc(20, results).toString('base64'),
    dsTransID: `d7c1ee99-9478-44a6-b1f2-${String(results).padStart(12, '0')}`,
    acsTransID: '8a880dc0-d2d2-4067-bcb1-b08d1690b26e',
    at: new Date(Date.parse(world.service.clock.now()) - minute).toISOString(),
    amount: 6_000,
    currency: 'RUB',
    card: { bin: '401288', lastDigits: '1881' },
    ...more,
  };
}

async function request(authenticated: object | undefined, more: object = {}, by = world.merchant.apiKey) {
  const invoice = await makeInvoice(world.service, world.merchant);
  const { token, session } = await world.tokenize(challenged, by === 'invoice' ? invoice.token : by);
  const card = { paymentToolToken: token, paymentSession: session };
  const payer = { payerType: 'PaymentResourcePayer', ...card, contactInfo };
  const body = { payer, ...(authenticated && { authenticated }), ...more };
  const url = `${invoicesUrl}/${invoice.id}/payments`;
  const ask = (headers = {}) =>
    world.service.call('POST', url, { token: by === 'invoice' ? invoice.token : by, body, headers });
  return { ...invoice, url, ask };
}

async function paid(authenticated: object | undefined, more: object = {}) {
  const asked = await request(authenticated, more);
  const created = await asked.ask();
  await world.service.jobs.whenIdle();
  return { ...asked, created };
}

async function paymentsOf({ url }: { readonly url: string }): Promise<any[]> {
  return (await world.service.call('GET', url, { token: world.merchant.apiKey })).body;
}

const sentFor = ({ id }: CreatedInvoice) =>
  bank.sent.filter(({ kind, operationId }) => kind === 'authorise' && operationId.startsWith(id)) as any[];

async function later(ms: number): Promise<void> {
  world.service.clock.advance(ms);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}

/** In any column of any table. */
async function isStored(text: string): Promise<string[]> {
  return world.service.testDatabase.database.withClient(async (client) => {
    const { rows } = await client.query(
      `select relname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind = 'r' and nspname = current_schema()`,
    );
    const found: string[] = [];
    for (const { relname } of rows) {
      const has = await client.query(`select 1 from "${relname}" as t where t::text like $1 limit 1`, [
        `%${text}%`,
      ]);
      if (has.rows.length > 0) found.push(relname);
    }
    return found;
  });
}

test('is charged without a challenge, with the ECI, and shows what is no secret', async () => {
  const authenticated = result();
  const payment = await paid(authenticated);
  expect(payment.created, payment.created.text).toMatchObject({ status: 201 });
  const { version, status, eci, dsTransID, acsTransID } = authenticated;
  const [stored] = await paymentsOf(payment);
  expect(stored).toMatchObject({ status: 'captured' });
  expect(stored.authenticated).toMatchObject({ version, status, eci, dsTransID, acsTransID });
  expect(Object.keys(stored.authenticated).sort()).toEqual(
    ['acsTransID', 'at', 'dsTransID', 'eci', 'status', 'version'].sort(),
  );
  expect(sentFor(payment)).toMatchObject([{ authentication: 'given' }]);
  const [entry] = (await world.book()).filter(({ operationId }) => operationId.startsWith(payment.id));
  expect(entry).toMatchObject({ kind: 'authorise', sign: 1, amount: 6_000 });
  expect(await isStored(authenticated.value)).toEqual([]);
  expect(world.service.logged.join('\n')).not.toContain(authenticated.value);
  expect(await isStored(authenticated.dsTransID)).toContain('payment');
});

test('without it the same card is challenged', async () => {
  const payment = await paid(undefined);
  expect(await paymentsOf(payment)).toMatchObject([{ status: 'pending' }]);
});

test('a payer who is present with their saved card can be authenticated elsewhere', async () => {
  const customer = await world.createCustomer();
  const binding = await world.bound(customer, challenged);
  await world.authenticateBinding(binding, 'confirm');
  const clientInfo = { fingerprint: 'a browser', ip: '203.0.113.7' };
  const payer = { payerType: 'CustomerPayer', customerID: customer.id, present: true, clientInfo };
  const payment = await paid(result(), { payer });
  expect(payment.created, payment.created.text).toMatchObject({ status: 201 });
  expect(await paymentsOf(payment)).toMatchObject([{ status: 'captured' }]);
});

describe('a result that does not fit', () => {
  test.each([
    ['another amount', { amount: 5_999 }, 'authenticationMismatch'],
    ['another currency', { currency: 'USD' }, 'authenticationMismatch'],
    ['another card', { card: { bin: '401288', lastDigits: '1882' } }, 'authenticationMismatch'],
    ['an ECI of no authentication', { eci: '07' }, 'authenticationMismatch'],
    ['more than a day', { at: '2026-01-01T00:00:00Z' }, 'authenticationNotCurrent'],
    ['the future', { at: '2999-01-01T00:00:00Z' }, 'authenticationNotCurrent'],
    ['a short value', { value: 'AAAA' }, 'invalidRequest'],
    ['a value that is not base64', { value: `${'-'.repeat(27)}=` }, 'invalidRequest'],
    ['a failed authentication', { status: 'N' }, 'invalidRequest'],
    ['an old version', { version: '1.0.2' }, 'invalidRequest'],
  ])('because of %s is refused, writes nothing, and can be corrected', async (_what, wrong, code) => {
    const right = result();
    const asked = await request({ ...right, ...wrong });
    expect(await asked.ask()).toMatchObject({ status: 400, body: { code } });
    expect(await paymentsOf(asked)).toEqual([]);
    expect((await paid(right)).created).toMatchObject({ status: 201 });
  });

  test.each([
    ['an access token', {}, 'invoice', 'operationNotPermitted'],
    ['its own wish', { threeDSecure: 'always' }, undefined, 'invalidRequest'],
    ['a card to be saved after an attempt', { makeRecurrent: true }, undefined, 'invalidRequest'],
  ])('with %s is refused', async (_what, more, by, code) => {
    const attempt = 'makeRecurrent' in more ? { status: 'A', eci: '06' } : {};
    const { ask } = await request(result(attempt), more, by);
    expect(await ask()).toMatchObject({ status: 400, body: { code } });
  });

  test('for a payer who is not present is refused', async () => {
    const customer = await world.createCustomer();
    const payer = { payerType: 'CustomerPayer', customerID: customer.id };
    const { ask } = await request(result(), { payer });
    expect(await ask()).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
  });
});

describe('a result is used once', () => {
  const used = { status: 400, body: { code: 'authenticationUsed' } };

  test('also after the payment has failed', async () => {
    const authenticated = result();
    bank.happens('authorise', { outcome: 'declined', network: 'visa', code: '05' });
    const first = await paid(authenticated);
    expect(await paymentsOf(first)).toMatchObject([{ status: 'failed' }]);
    const second = await paid(authenticated);
    expect(second.created).toMatchObject(used);
    expect(await paymentsOf(second)).toEqual([]);
    expect(
      (await paid({ ...authenticated, dsTransID: authenticated.dsTransID.toUpperCase() })).created,
    ).toMatchObject(used);
  });

  test('of requests at the same moment, by one', async () => {
    const authenticated = result();
    const asked = await Promise.all([1, 2, 3, 4].map(() => request(authenticated)));
    const answers = await Promise.all(asked.map(({ ask }) => ask()));
    await world.service.jobs.whenIdle();
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    const refused = answers.filter(({ status }) => status === 400);
    for (const answer of refused) expect(answer).toMatchObject(used);
    expect((await Promise.all(asked.map(paymentsOf))).flat()).toMatchObject([{ status: 'captured' }]);
  });

  test('but a repeat of its request returns the same payment', async () => {
    const authenticated = result();
    const { ask, url } = await request(authenticated, { externalID: `order ${results}` });
    const [first, second] = [await ask(), await ask()];
    await world.service.jobs.whenIdle();
    expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
    expect(await paymentsOf({ url })).toHaveLength(1);
    const keyed = await request(result());
    const headers = { 'idempotency-key': `key-${results}` };
    const answers = [await keyed.ask(headers), await keyed.ask(headers)];
    await world.service.jobs.whenIdle();
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });

  test('and a refused request has not used it', async () => {
    const authenticated = result();
    const busy = await paid(undefined);
    const { token, session } = await world.tokenize(challenged);
    const card = { paymentToolToken: token, paymentSession: session };
    const payer = { payerType: 'PaymentResourcePayer', ...card, contactInfo };
    const options = { token: world.merchant.apiKey, body: { payer, authenticated } };
    const refused = await world.service.call('POST', busy.url, options);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invoicePaymentPending' } });
    expect((await paid(authenticated)).created).toMatchObject({ status: 201 });
  });
});

describe('on the way to the bank', () => {
  test('a lost answer is asked for, and the charge made once', async () => {
    world.bank.faults.order({ kind: 'error-after-booking', next: 1, operationKind: 'authorise' });
    const payment = await paid(result());
    await later(minute);
    expect(await paymentsOf(payment)).toMatchObject([{ status: 'captured' }]);
    const lines = (await world.book()).filter(({ operationId }) => operationId.startsWith(payment.id));
    expect(lines).toHaveLength(1);
  });

  test('a lost message is never sent again without its value: the payment fails and charges nothing', async () => {
    world.bank.faults.order({ kind: 'error-before-booking', next: 1, operationKind: 'authorise' });
    const payment = await paid(result());
    for (let times = 0; times < 8; times++) await later(minute);
    expect(await paymentsOf(payment)).toMatchObject([{ status: 'failed' }]);
    expect((await world.book()).filter(({ operationId }) => operationId.startsWith(payment.id))).toEqual([]);
    expect(await world.service.jobs.stuckJobs()).toEqual([]);
    expect(await brokenInvariants(world.service.database)).toEqual([]);
  });

  test.each([
    ['was never heard', 'DOWN'],
    ['cannot be reached any more', 'GONE'],
    ['declares too late that it takes none', 'UNHEARD'],
  ])('it moves with its value from a bank that %s, past one that takes none', async (_what, first) => {
    const { partyId } = world.merchant;
    const put = (bankId: string, priority: number) =>
      world.service.banks.putTerminal({
        id: bankId === 'BANK' ? 'T1' : bankId,
        merchantId: 'TEST',
        descriptor: 'TEST SHOP',
        partyId,
        shopId: 'TEST',
        bankId,
        priority,
      });
    await put('BANK', 5);
    await put('UNABLE', 4);
    for (const id of ['DOWN', 'GONE']) await put(id, 6);
    await put(first, 3);
    const payment = await paid(result());
    await later(minute);
    expect(sentFor(payment).map(({ terminal }) => terminal.bankId)).toEqual([first, 'BANK']);
    expect(await paymentsOf(payment)).toMatchObject([{ status: 'captured' }]);
  });

  test('it is refused where no bank of the shop takes results', async () => {
    const merchant = await world.service.createMerchant();
    const terminal = { id: 'T', merchantId: 'TEST', descriptor: 'TEST SHOP', priority: 1 };
    const { partyId } = merchant;
    await world.service.banks.putTerminal({ ...terminal, partyId, shopId: 'TEST', bankId: 'UNABLE' });
    const invoice = await makeInvoice(world.service, merchant);
    const { token, session } = await world.tokenize(challenged, merchant.apiKey);
    const card = { paymentToolToken: token, paymentSession: session };
    const payer = { payerType: 'PaymentResourcePayer', ...card, contactInfo };
    const body = { payer, authenticated: result() };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const refused = await world.service.call('POST', url, { token: merchant.apiKey, body });
    expect(refused).toMatchObject({ status: 400, body: { code: 'notOfferedByBank' } });
    expect(refused.body.hint).toContain('authentication given');
  });
});
