// Edge cases of the rules for recurring charges: what counts as a decline, how far a stop reaches, and what the bank
// receives.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../src/clock.ts';
import { receiptAuthor } from '../../../src/receipts/email-author.ts';
import { runPayerEmailJob } from '../../../src/emails/worker.ts';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import {
  declinedWith,
  insufficientFunds,
  mastercard,
  recurringWorld,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';
import type { Answer, Merchant } from '../../support/service/test-service.ts';
import { waylay, type Mishap, type FaultyBank } from '../../support/bank/faulty-bank.ts';

const hour = 3_600_000;
const minute = 60_000;
const visa = '4242424242424242';
const failsAuthentication = '4987654321098769';
const wantsChallenge = '4012888888881881';

let world: CustomerWorld;
let recurring: RecurringWorld;
let wayward: FaultyBank;
let merchant: Merchant;
beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
  wayward = waylay(world.service.banks);
});
afterAll(() => world.close());
beforeEach(async () => {
  merchant = await world.createMerchant();
  for (const kind of ['authorise', 'inquire', 'reverse', 'refund'] as const) wayward.always(kind, undefined);
});

const parentOf = (card?: string, more = {}) => recurring.parent(card, more, merchant);
const charge = (parent: Parent, amount?: number, body = {}) =>
  recurring.charge(parent, amount, { by: merchant, body });
const charged = (parent: Parent, amount?: number, body = {}) =>
  recurring.charged(parent, amount, { by: merchant, body });
const recurringOf = async ({ invoiceID, paymentID }: Parent): Promise<any> =>
  (
    await world.service.call('GET', `${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring`, {
      token: merchant.apiKey,
    })
  ).body;

async function sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await world.service.database.withClient((client) => client.query<Row>(text, values));
  return rows;
}
/** How many declines the networks count for the merchant's cards. */
const declines = async (): Promise<number> =>
  (await sql('select 1 from card_decline where party_id = $1', [merchant.partyId])).length;

/** Makes the next charge fail at the bank in the given way. */
async function chargedAs(parent: Parent, mishap: Mishap): Promise<string> {
  wayward.happens('authorise', mishap);
  return charged(parent);
}

describe('the networks’ count of declines excludes', () => {
  const silence: Mishap = { outcome: 'unknown', why: 'silence' };
  // For a charge this code would stop the series. For a reversal or refund it only says that it was declined.
  const refused: Mishap = { outcome: 'declined', network: 'mastercard', code: '79' };
  test.each<readonly [string, Partial<Record<'authorise' | 'inquire' | 'reverse', Mishap>>]>([
    ['is approved', { authorise: 'message lost', reverse: silence }],
    ['is a refusal, after which a refund is approved', { authorise: 'answer lost', reverse: refused }],
    ['is a refusal, as that of the charge', { authorise: 'answer lost', reverse: refused, inquire: refused }],
  ])(
    'a charge that was sent, not answered and reversed, also if the response to the reversal %s',
    async (_, { authorise, reverse, inquire }) => {
      const parent = await parentOf(mastercard);
      const made = world.service.clock.now();
      wayward.asked.length = 0;
      wayward.happens('authorise', authorise!);
      wayward.always('inquire', silence);
      wayward.always('reverse', reverse);
      wayward.always('refund', silence);
      expect(await charged(parent)).toBe('pending');
      for (let times = 0; times < 40; times++) await world.later(minute);
      const endings = () =>
        sql('select outcome, code, effect from series_attempt where series_id = $1', [
          `${parent.invoiceID}.1`,
        ]);
      const pending = [{ outcome: 'pending', code: null, effect: null }];
      expect(await endings()).toEqual(pending);
      expect(wayward.asked).not.toContain('refund');
      wayward.always('inquire', inquire);
      if (reverse === refused && !inquire) {
        await world.later(hour);
        expect(await endings()).toEqual(pending);
        expect(wayward.asked).toContain('refund');
        wayward.always('refund', undefined);
      }
      if (reverse !== refused) wayward.always('reverse', undefined);
      await world.later(hour);
      expect(await endings()).toEqual([{ outcome: 'lost', code: null, effect: null }]);
      expect(await declines()).toBe(0);
      // The issuer may have seen the charge, so it counts as an attempt and a failure.
      expect(await recurringOf(parent)).toMatchObject({
        status: 'active',
        refusal: { rule: 'onceADay', retryAfter: laterBy(made, 22.75 * hour) },
      });
    },
  );

  test('the bank’s own decline, even with a code that a network uses', async () => {
    const parent = await parentOf();
    expect(await chargedAs(parent, { outcome: 'declined', network: 'bank', code: '41' })).toBe('failed');
    expect(await declines()).toBe(0);
    expect(await recurringOf(parent)).toMatchObject({ status: 'active', refusal: { rule: 'onceADay' } });
  });

  test('an authentication that failed or was abandoned, in a payment or a binding', async () => {
    const invoice = await makeInvoice(world.service, merchant);
    const { token: paymentToolToken } = await world.tokenize(failsAuthentication, merchant.apiKey);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const body = { payer, makeRecurrent: true };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    await world.service.call('POST', url, { token: merchant.apiKey, body });
    await world.service.jobs.whenIdle();
    expect((await world.service.call('GET', `${url}/1`, { token: merchant.apiKey })).body.status).toBe(
      'failed',
    );
    await world.bound(await world.createCustomer({}, merchant), failsAuthentication);
    await world.bound(await world.createCustomer({}, merchant), wantsChallenge);
    await world.later(11 * minute);
    expect(await declines()).toBe(0);
    // A decline by the issuer counts, also with the payer present.
    await world.bound(await world.createCustomer({}, merchant), '4000000000000002');
    expect(await declines()).toBe(1);
  });

  test('declines of another shop, and those with the payer present', async () => {
    const parent = await parentOf();
    const plant = (shopId: string, byMerchant: boolean) =>
      sql(
        `insert into card_decline
           (card_key, invoice_id, payment_id, party_id, shop_id, amount_minor, currency, by_merchant, attempted_at)
         select card_key, 'planted' || n, '1', party_id, $2, 6000, 'RUB', $3, $4::timestamptz - n * interval '30 hours'
         from series, generate_series(1, 15) as n where series_id = $1`,
        [`${parent.invoiceID}.1`, shopId, byMerchant, world.service.clock.now()],
      );
    const clear = () => sql('delete from card_decline where party_id = $1', [merchant.partyId]);
    await plant('ANOTHER', true);
    expect(await charged(parent)).toBe('captured');
    await clear();
    await plant('TEST', false);
    expect(await charged(parent)).toBe('captured');
    await clear();
    await plant('TEST', true);
    expect(await charge(parent)).toMatchObject({ body: { code: 'recurrentRetryLimitReached' } });
    await clear();
  });
});

describe('a stop', () => {
  test('for all merchants reaches other shops', async () => {
    const here = await parentOf();
    const there = await parentOf(visa, { shopID: 'TEST_USD', currency: 'USD' });
    expect(await charged(here, 199_110)).toBe('failed'); // R3
    const usd = await recurring.invoice(100, { shopID: 'TEST_USD', currency: 'USD' }, merchant);
    expect(await recurring.charge(there, usd, { by: merchant })).toMatchObject({
      body: { code: 'recurrentStopped', rule: 'code R3' },
    });
  });

  test('that comes with an approval stops later charges', async () => {
    const parent = await parentOf();
    expect(await charged(parent, 199_907)).toBe('captured');
    expect(await charge(parent)).toMatchObject({ body: { code: 'recurrentStopped', rule: 'advice 03' } });
  });

  test('applies to consents before or at its time, not to later ones', async () => {
    const before = await parentOf();
    await world.later(1);
    const now = await parentOf();
    expect(await charged(before, declinedWith(41))).toBe('failed');
    expect(await charge(now)).toMatchObject({ body: { code: 'recurrentStopped' } });
    await world.later(1);
    expect(await charged(await parentOf())).toBe('captured');
  });
});

describe('a chain of charges', () => {
  test('does not continue from a failed or merely held charge', async () => {
    const parent = await parentOf();
    const failed = await charge(parent, insufficientFunds, { makeRecurrent: true });
    await world.service.jobs.whenIdle();
    expect(await recurringOf(parent)).toMatchObject({ latestParent: parent, rootPayment: parent });
    await world.later(24 * hour);
    const asParent = (made: { body: any }) => ({ invoiceID: made.body.invoiceID, paymentID: '1' });
    expect(await charge(asParent(failed))).toMatchObject({ body: { code: 'invalidRecurrentParent' } });
    const flow = { type: 'PaymentFlowHold' };
    const held = await charge(parent, 100, { makeRecurrent: true, flow });
    await world.service.jobs.whenIdle();
    expect(await charge(asParent(held))).toMatchObject({ body: { code: 'invalidRecurrentParent' } });
    await world.service.call('POST', `${invoicesUrl}/${held.body.invoiceID}/payments/1/capture`, {
      token: merchant.apiKey,
      body: { reason: 'sent' },
    });
    await world.service.jobs.whenIdle();
    expect(await recurringOf(parent)).toMatchObject({ latestParent: asParent(held), rootPayment: parent });
    expect(await charged(asParent(held), 100)).toBe('captured');
  });

  test('sends the network IDs of the first and the previous payment to the bank', async () => {
    const parent = await parentOf();
    wayward.sent.length = 0;
    const second = await charge(parent, 100, { makeRecurrent: true });
    await world.service.jobs.whenIdle();
    await charged({ invoiceID: second.body.invoiceID, paymentID: '1' }, 100);
    const [first, next] = await sql<{ id: string; all: unknown[] }>(
      `select state->'approval'->>'networkTransactionId' as id, state->'approval'->'networkIds' as all from payment
       where party_id = $1 and invoice_id in ($2, $3) order by created_at, invoice_id = $3`,
      [merchant.partyId, parent.invoiceID, second.body.invoiceID],
    );
    const told = wayward.sent.flatMap((sent) => (sent.kind === 'authorise' ? [sent.initiation] : []));
    expect(first!.all).toEqual([{ kind: 'visaTid', value: first!.id }]);
    const root = { rootNetworkTransactionId: first!.id, rootNetworkIds: first!.all };
    const common = { by: 'merchant', reason: 'recurring', ...root };
    expect(told).toEqual([
      { ...common, previousNetworkTransactionId: first!.id },
      { ...common, previousNetworkTransactionId: next!.id, previousNetworkIds: next!.all },
    ]);
  });
});

describe('what networks ask about a charge', () => {
  const initiations = () =>
    wayward.sent.flatMap((sent) => (sent.kind === 'authorise' ? [sent.initiation] : [])) as object[];

  test('is said of a consent: it ends with its last day in the time zone of the shop', async () => {
    const shop = { partyId: world.merchant.partyId, shopId: 'TEST' };
    const { database } = world.service;
    const consents = [
      // Of roubles.
      [{}, '2030-12-31T20:59:59.000000Z'],
      [{ timeZone: 'America/New_York' }, '2031-01-01T04:59:59.000000Z'],
    ] as const;
    for (const [settings, until] of consents) {
      await storeSettings(database, shop, settings);
      wayward.sent.length = 0;
      const { id } = await world.paid(visa, {
        makeRecurrent: true,
        recurrentTerms: { validUntil: '2030-12-31' },
      });
      expect(initiations()).toMatchObject([{ stores: { until } }]);
      // The series ends a second later.
      const [series] = await sql<{ ends: string }>(
        "select terms ->> 'endsAt' as ends from series where series_id = $1",
        [`${id}.1`],
      );
      expect(series?.ends).toBe(laterBy(until as Instant, 1_000));
    }
    await storeSettings(database, shop, {});
  });

  test('is said: whether its amount is fixed, and whether it repeats one that lacked funds', async () => {
    const recurrentTerms = { schedule: 'P1D', amountRule: { kind: 'upTo', amount: 200_000 } };
    const started = await world.paid(visa, { makeRecurrent: true, recurrentTerms });
    const parent = { invoiceID: started.id, paymentID: '1' };
    const invoice = await recurring.invoice(insufficientFunds);
    wayward.sent.length = 0;
    for (const of of [invoice, invoice, 100]) {
      world.service.clock.advance(25 * hour);
      await recurring.charge(parent, of);
      await world.service.jobs.whenIdle();
    }
    expect(initiations()).toMatchObject([1, 2, 3].map(() => ({ by: 'merchant', amount: 'variable' })));
    expect(initiations().map((one) => 'resubmission' in one)).toEqual([false, true, false]);
  });

  test.each(['unscheduled', 'instalment'] as const)(
    'is said: that the charges of a series are %s, also when the card is stored',
    async (chargeReason) => {
      wayward.sent.length = 0;
      const parent = await parentOf(visa, { makeRecurrent: true, recurrentTerms: { chargeReason } });
      const made = await charge(parent, 100, { makeRecurrent: true });
      await world.service.jobs.whenIdle();
      await charged({ invoiceID: made.body.invoiceID, paymentID: '1' }, 100);
      expect(initiations()).toMatchObject([
        { by: 'payer', storesCard: true, stores: { for: chargeReason } },
        { by: 'merchant', reason: chargeReason },
        { by: 'merchant', reason: chargeReason },
      ]);
    },
  );

  test('a repeat follows its own invoice, and no decline of another one of the series', async () => {
    const started = await world.paid(visa, { makeRecurrent: true });
    const parent = { invoiceID: started.id, paymentID: '1' };
    const lacking = await recurring.invoice(insufficientFunds);
    const another = await recurring.invoice(declinedWith(91));
    wayward.sent.length = 0;
    for (const of of [another, lacking, another, lacking]) {
      world.service.clock.advance(25 * hour);
      await recurring.charge(parent, of);
      await world.service.jobs.whenIdle();
    }
    expect(initiations().map((one) => 'resubmission' in one)).toEqual([false, false, false, true]);
  });

  test('is said: the facts of the merchant that the operator gave, also when they have changed since', async () => {
    const [used] = await sql<{ terminal_id: string; bank_id: string; merchant_id: string }>(
      'select terminal_id, bank_id, merchant_id from terminal where party_id = $1 order by priority',
      [merchant.partyId],
    );
    const { partyId, shopId = 'TEST' } = merchant as { partyId: string; shopId?: string };
    const terminal = {
      id: used!.terminal_id,
      bankId: used!.bank_id,
      merchantId: used!.merchant_id,
      descriptor: 'EXAMPLE',
      partyId,
      shopId,
      priority: 1,
    };
    const facts = { mcc: '5734', country: 'RUS' };
    expect(await world.service.banks.putTerminal({ ...terminal, merchant: facts })).toBe(true);
    const parent = await parentOf();
    expect(await world.service.banks.putTerminal({ ...terminal, merchant: { mcc: '6012' } })).toBe(true);
    wayward.sent.length = 0;
    await charged(parent, 100);
    await world.service.call('POST', `${invoicesUrl}/${parent.invoiceID}/payments/1/refunds`, {
      token: merchant.apiKey,
      body: { reason: 'sent back' },
    });
    await world.service.jobs.whenIdle();
    expect(wayward.sent.map(({ kind, terminal: { merchant: told } }) => [kind, told])).toEqual([
      ['authorise', { mcc: '6012' }],
      ['refund', facts],
    ]);
  });

  test('is said: the address of the payer, if the request has any of it', async () => {
    const parent = await parentOf();
    wayward.sent.length = 0;
    const contactInfo = { firstName: 'LEXA', country: 'RUS', city: 'Moskva', address: 'Tverskaia 1' };
    const payer = { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo };
    await charge(parent, 100, { payer });
    await charge(parent, 100);
    await world.service.jobs.whenIdle();
    const billingAddress = { country: 'RUS', city: 'Moskva', line: 'Tverskaia 1' };
    const payers = wayward.sent.flatMap((sent) => (sent.kind === 'authorise' ? [sent.payer] : []));
    expect(payers.find(({ name }) => name === 'LEXA')).toMatchObject({ billingAddress });
    expect(payers.filter((one) => 'billingAddress' in one)).toHaveLength(1);
  });

  test('is not said where the terms state no amount', async () => {
    const parent = await parentOf();
    wayward.sent.length = 0;
    await charged(parent, 100);
    expect(initiations()[0]).not.toHaveProperty('amount');
  });
});

describe('a charge that waits for its bank', () => {
  const away = ['authorise', 'inquire'] as const;
  const url = ({ invoiceID, paymentID }: Parent) =>
    `${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring/withdraw`;
  const withdraw = (parent: Parent) =>
    world.service.call('POST', url(parent), { token: merchant.apiKey, body: { reason: 'wished' } });

  /** The outcome of a charge created while the bank is unreachable, with `meanwhile` before the bank returns. */
  async function chargedWhileAway(
    make: () => Promise<Answer>,
    meanwhile: () => Promise<Answer>,
    mishap: Mishap = 'not sent',
  ): Promise<{ status: string; sent: string[] }> {
    wayward.always('authorise', mishap);
    wayward.always('inquire', 'not sent');
    const made = await make();
    expect(made.status).toBe(201);
    await world.later(minute);
    expect((await meanwhile()).status).toBeLessThan(300);
    for (const kind of away) wayward.always(kind, undefined);
    wayward.sent.length = 0;
    for (let times = 0; times < 10; times++) await world.later(minute);
    const payment = `${invoicesUrl}/${made.body.invoiceID}/payments/${made.body.id}`;
    const seen = await world.service.call('GET', payment, { token: merchant.apiKey });
    return { status: seen.body.status, sent: wayward.sent.map(({ kind }) => kind) };
  }
  const nothing = () => world.service.call('GET', '/health/live');

  test('is sent when the bank is reachable', async () => {
    const parent = await parentOf();
    expect(await chargedWhileAway(() => charge(parent), nothing)).toEqual({
      status: 'captured',
      sent: ['authorise'],
    });
  });

  test('is not sent after the consent was revoked, and does not count as an attempt', async () => {
    const parent = await parentOf();
    expect(
      await chargedWhileAway(
        () => charge(parent),
        () => withdraw(parent),
      ),
    ).toEqual({ status: 'failed', sent: ['reverse'] });
    const rows = await sql('select outcome from series_attempt where series_id = $1', [
      `${parent.invoiceID}.1`,
    ]);
    expect(rows).toEqual([{ outcome: 'unsent' }]);
  });

  test('is not sent after the consent was revoked during the first wait for the bank', async () => {
    const parent = await parentOf();
    wayward.meanwhile('authorise', () => withdraw(parent));
    wayward.happens('authorise', 'waits');
    const made = await charge(parent);
    // Else the lease ends while the first run still waits.
    await world.service.jobs.whenIdle();
    const operationId = (kind: string) => (sent: { operationId: string; kind: string }) =>
      sent.kind === kind && sent.operationId.startsWith(made.body.invoiceID);
    for (let times = 0; times < 10; times++) await world.later(minute);
    const payment = `${invoicesUrl}/${made.body.invoiceID}/payments/${made.body.id}`;
    const seen = await world.service.call('GET', payment, { token: merchant.apiKey });
    expect(seen.body.status).toBe('failed');
    expect(wayward.sent.filter(operationId('authorise'))).toHaveLength(1);
    const rows = await sql('select outcome from series_attempt where series_id = $1', [
      `${parent.invoiceID}.1`,
    ]);
    expect(rows).toEqual([{ outcome: 'unsent' }]);
  });

  test('is not sent after the consent was revoked and a first message was lost', async () => {
    const parent = await parentOf();
    expect(
      await chargedWhileAway(
        () => charge(parent),
        () => withdraw(parent),
        'message lost',
      ),
    ).toEqual({ status: 'failed', sent: ['reverse'] });
  });

  test('is not sent after the binding was revoked', async () => {
    const customer = await world.createCustomer({}, merchant);
    const binding = await world.bound(customer, visa);
    const invoice = await makeInvoice(world.service, merchant);
    const body = { payer: { payerType: 'CustomerPayer', customerID: customer.id } };
    expect(
      await chargedWhileAway(
        () =>
          world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
            token: merchant.apiKey,
            body,
          }),
        () => world.withdraw(binding, merchant.apiKey),
      ),
    ).toEqual({ status: 'failed', sent: ['reverse'] });
  });

  test('is completed if the bank has already executed it', async () => {
    const parent = await parentOf();
    expect(
      await chargedWhileAway(
        () => charge(parent),
        () => withdraw(parent),
        'answer lost',
      ),
    ).toEqual({ status: 'captured', sent: [] });
  });
});

test('a retry that never reached the bank does not use up the day', async () => {
  const parent = await parentOf();
  expect(await charged(parent, insufficientFunds)).toBe('failed');
  await world.later(24 * hour);
  wayward.always('authorise', 'message lost');
  wayward.always('inquire', { outcome: 'notFound' });
  await charge(parent);
  for (let times = 0; times < 40; times++) await world.later(minute);
  for (const kind of ['authorise', 'inquire'] as const) wayward.always(kind, undefined);
  const rows = await sql<{ outcome: string }>(
    'select outcome from series_attempt where series_id = $1 order by created_at',
    [`${parent.invoiceID}.1`],
  );
  expect(rows.map(({ outcome }) => outcome)).toEqual(['declined', 'unsent']);
  expect(await charged(parent)).toBe('captured');
});

test('a shop that requires an API key for recurring charges refuses all other tokens', async () => {
  const customer = await world.createCustomer({}, merchant);
  await world.bound(customer, visa);
  await storeSettings(
    world.service.database,
    { partyId: merchant.partyId, shopId: 'TEST' },
    { needsApiKey: true },
  );
  const invoice = await makeInvoice(world.service, merchant);
  const body = { payer: { payerType: 'CustomerPayer', customerID: customer.id } };
  const pay = (token: string) =>
    world.service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, { token, body });
  expect(await pay(invoice.token)).toMatchObject({ status: 400, body: { code: 'operationNotPermitted' } });
  expect((await pay(merchant.apiKey)).status).toBe(201);
  await world.service.jobs.whenIdle();
});

test('a checkout token pays with an entered card and charges no saved card', async () => {
  const customer = await world.createCustomer({}, merchant);
  await world.bound(customer, visa);
  const recurrentParentPayment = await parentOf();
  const invoice = await makeInvoice(world.service, merchant);
  const at = `${invoicesUrl}/${invoice.id}`;
  const issued = await world.service.call('POST', `${at}/access-tokens?for=checkout`, {
    token: merchant.apiKey,
  });
  expect(issued.status).toBe(201);
  const pay = (payer: unknown, token: string = issued.body.payload) =>
    world.service.call('POST', `${at}/payments`, { token, body: { payer } });
  const kept = { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: {} };
  const refused = { status: 400, body: { code: 'operationNotPermitted' } };
  expect(await pay(kept)).toMatchObject(refused);
  expect(
    await pay({ ...kept, recurrentParentPayment: { invoiceID: 'unknown', paymentID: '1' } }),
  ).toMatchObject(refused);
  expect(await pay({ payerType: 'CustomerPayer', customerID: customer.id })).toMatchObject(refused);

  const resource = await world.service.call('POST', paymentResourcesUrl, {
    token: issued.body.payload,
    body: cardBody(),
  });
  expect(resource.status).toBe(201);
  const { paymentToolToken, paymentSession } = resource.body;
  const present = { payerType: 'PaymentResourcePayer', paymentToolToken, paymentSession, contactInfo: {} };
  expect((await pay(present)).status).toBe(201);
  await world.service.jobs.whenIdle();
  const unknown = await world.service.call('POST', `${at}/access-tokens?for=printing`, {
    token: merchant.apiKey,
  });
  expect(unknown.status).toBe(400);
});

test('a shop that requires a consent also refuses bindings without one', async () => {
  const shop = { partyId: merchant.partyId, shopId: 'TEST' };
  await storeSettings(world.service.database, shop, { requireConsentEvidence: true });
  const customer = await world.createCustomer({}, merchant);
  const bare = await world.bind(customer, visa, { recurrentTerms: { schedule: 'P1M' } });
  expect(bare.created).toMatchObject({ status: 400, body: { code: 'operationNotPermitted' } });
  const consent = { ticked: true, tickedAt: '2026-01-01T00:00:00Z', text: 'I agree.' };
  const agreed = await world.bind(customer, visa, { recurrentTerms: { schedule: 'P1M', consent } });
  expect(agreed.created.status).toBe(201);
  await world.service.jobs.whenIdle();
});

type SourceOf = Parameters<typeof receiptAuthor>[0]['sourceOf'];
function authorsOf(sourceOf: SourceOf) {
  const receipt = receiptAuthor({ receipts: world.service.receipts, sourceOf });
  return { receipt, subscription: receipt };
}

test('a sent email is not sent again when its job runs once more', async () => {
  const { invoiceID: invoiceId, paymentID: paymentId } = await parentOf();
  await world.later(0);
  const sent: string[] = [];
  const { database: db, clock } = world.service;
  const mailServer = {
    send: ({ id }: { id: string }) => {
      sent.push(id);
      return Promise.resolve({ accepted: true } as never);
    },
  };
  const again = () =>
    runPayerEmailJob(
      { db, authors: authorsOf(() => Promise.resolve(undefined)), mailServer: mailServer as never },
      { key: [invoiceId, paymentId], clock, attempt: 1 },
    );
  await again();
  expect(sent).toEqual([]);
  // The state after a crash between the server's response and the write.
  await sql(
    `update payer_email set status = 'waiting', ended_at = null, subject = null, text_body = null, html_body = null
     where invoice_id = $1`,
    [invoiceId],
  );
  await again();
  await again();
  expect(sent).toEqual([`receipt.${invoiceId}.${paymentId}`]);
});

test('the text of an email follows from its row, and of one that an older node stored from its series', async () => {
  const { invoiceID: invoiceId, paymentID: paymentId } = await parentOf();
  await world.later(0);
  const { database: db, consents, clock } = world.service;
  const textOf = async () => {
    const [row] = await sql<{ text_body: string | null }>(
      'select text_body from payer_email where invoice_id = $1',
      [invoiceId],
    );
    return row?.text_body;
  };
  const textAgain = async (change: string, sourceOf: SourceOf) => {
    await sql(
      `update payer_email set status = 'waiting', ended_at = null, text_body = null${change} where invoice_id = $1`,
      [invoiceId],
    );
    const job = { key: [invoiceId, paymentId], clock, attempt: 1 };
    await runPayerEmailJob({ db, authors: authorsOf(sourceOf), mailServer: undefined }, job);
    return textOf();
  };
  const text = await textOf();
  expect(text).toContain('recurring transaction');
  expect(await textAgain('', () => Promise.reject(new Error('the row has all of it')))).toBe(text);
  const ofSeries: SourceOf = (seriesId, paid) => consents.receiptSource(db, seriesId, paid);
  expect(await textAgain(', content = null', ofSeries)).toBe(text);
});

test('a retry at the same local time is allowed the day after, also when the clocks have gone forward', async () => {
  const shop = { partyId: merchant.partyId, shopId: 'TEST' };
  await storeSettings(world.service.database, shop, { timeZone: 'Europe/Berlin' });
  world.service.clock.set(Date.UTC(2027, 2, 27, 11));
  const parent = await parentOf();
  const start = world.service.clock.now();
  expect(await charged(parent, insufficientFunds)).toBe('failed');
  await world.later(22.75 * hour - 1);
  expect((await charge(parent)).body.retryAfter).toBe(laterBy(start as Instant, 22.75 * hour));
  await world.later(0.25 * hour + 1);
  expect(world.service.clock.now()).toBe('2027-03-28T10:00:00.000000Z');
  expect(await charged(parent)).toBe('captured');
});

describe('an hour in which the bank is away', () => {
  const away: Mishap = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };
  const unreachable: Mishap = { outcome: 'unknown', why: 'ECONNREFUSED' };
  const notDone: Mishap = { outcome: 'notSent', why: 'the bank is busy, status 503', notDone: true };
  const refused: Mishap = {
    outcome: 'notSent',
    why: 'the bank rejected the signature',
    isUnauthorised: true,
  };
  const noInquiry: Mishap = {
    outcome: 'unknown',
    why: 'the bank rejected the signature',
    isUnauthorised: true,
  };
  const unproved: Mishap = { outcome: 'notSent', why: 'the bank is busy, status 429' };
  const silent: Mishap = { outcome: 'unknown', why: 'no answer', isSilence: true };
  const turnedAway: Mishap = { outcome: 'notSent', why: 'full', turnedAway: true, againInMs: 5_000 };

  test.each<readonly [string, Mishap, Mishap, 'unsent' | 'lost']>([
    ['no byte was sent', away, unreachable, 'unsent'],
    ['no byte was sent, and later inquiries were not answered', away, silent, 'unsent'],
    ['the first send was answered notDone', notDone, unreachable, 'unsent'],
    ['every send was answered notDone', notDone, { outcome: 'notFound' }, 'unsent'],
    ['the bank turned away every send', turnedAway, { outcome: 'notFound' }, 'unsent'],
    ['the first send was not answered', silent, unreachable, 'lost'],
    ['the bank refused the signature of every message', refused, noInquiry, 'unsent'],
    ['the bank was busy, and does not say that it did nothing', unproved, unreachable, 'lost'],
  ])('%s', async (_, sent, inquired, outcome) => {
    const parent = await parentOf();
    wayward.always('authorise', sent);
    wayward.always('inquire', inquired);
    wayward.always('reverse', unreachable);
    const made = await charge(parent);
    await world.service.jobs.whenIdle();
    for (let times = 0; times < 40; times++) await world.later(minute);
    for (const kind of ['authorise', 'inquire', 'reverse'] as const) wayward.always(kind, undefined);
    for (let times = 0; times < 12; times++) await world.later(10 * minute);
    const id = `${parent.invoiceID}.1`;
    const rows = await sql('select outcome from series_attempt where series_id = $1', [id]);
    expect(rows).toEqual([{ outcome }]);
    const payment = `${invoicesUrl}/${made.body.invoiceID}/payments/${made.body.id}`;
    const seen = await world.service.call('GET', payment, { token: merchant.apiKey });
    expect(seen.body.status).toBe('failed');
    // The next one on the same day is no retry, or comes too early.
    const again = await charge(parent);
    expect([again.status, again.body.code]).toEqual(
      outcome === 'unsent' ? [201, undefined] : [400, 'recurrentRetryTooEarly'],
    );
    const [series] = await sql<{ failing: boolean }>(
      `select exists (select from series_attempt where series_id = $1 and is_retry) as failing`,
      [id],
    );
    expect(series).toEqual({ failing: false });
  });
});

describe('a charge that stands because its bank refuses every way back', () => {
  const declined: Mishap = { outcome: 'declined', network: 'bank', code: '12' };
  const attempts = ({ invoiceID }: Parent) =>
    sql(
      'select outcome, captured_at is not null as captured, held_until from series_attempt where series_id = $1',
      [`${invoiceID}.1`],
    );
  const taken = [{ outcome: 'approved', captured: true, held_until: null }];

  test('counts in its period although it was recorded as unsent', async () => {
    const parent = await parentOf();
    wayward.always('authorise', { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true });
    wayward.always('inquire', { outcome: 'unknown', why: 'ECONNREFUSED' });
    wayward.always('reverse', { outcome: 'unknown', why: 'ECONNREFUSED' });
    await charge(parent);
    await world.service.jobs.whenIdle();
    for (let times = 0; times < 40; times++) await world.later(minute);
    expect(await attempts(parent)).toMatchObject([{ outcome: 'unsent' }]);
    for (const kind of ['reverse', 'refund'] as const) wayward.always(kind, declined);
    wayward.always('inquire', { outcome: 'approved', reference: '900000000009' });
    for (let times = 0; times < 12; times++) await world.later(10 * minute);
    expect(await attempts(parent)).toEqual(taken);
  });

  test('counts in its period from its approval, if it was cancelled before that was known', async () => {
    const parent = await parentOf();
    wayward.happens('authorise', 'answer lost');
    wayward.always('inquire', 'message lost');
    wayward.always('reverse', 'message lost');
    const { body } = await charge(parent);
    await world.service.jobs.whenIdle();
    const payment = `${invoicesUrl}/${body.invoiceID}/payments/${body.id}`;
    const token = merchant.apiKey;
    const cancelled = await world.service.call('POST', `${payment}/cancel`, { token, body: { reason: 'r' } });
    expect(cancelled.status, cancelled.text).toBe(202);
    wayward.always('inquire', undefined);
    await world.later(minute);
    expect(await attempts(parent)).toEqual([
      { outcome: 'approved', captured: false, held_until: expect.anything() },
    ]);
    for (const kind of ['reverse', 'refund'] as const) wayward.always(kind, declined);
    for (let times = 0; times < 12; times++) await world.later(10 * minute);
    expect((await world.service.call('GET', payment, { token })).body.status).toBe('captured');
    expect(await attempts(parent)).toEqual(taken);
  });
});
