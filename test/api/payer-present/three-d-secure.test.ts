// What a shop and a request want of 3-D Secure, and what the bank is asked.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setThreeDSecure } from '../../../src/merchants/store/parties.ts';
import { openSimulatedBank, type SimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { secret, startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const good = '4242424242424242';

/** Only with another bank than the simulated one every number counts for the limits. */
const environment = {
  CARD_TESTING_LIMITS: 'on',
  BANK_URL: 'https://bank.example',
  BANK_SECRET: 'a secret that no bank knows at all',
  SANDBOX_REAL_CARDS: 'on',
};

let world: PaymentWorld;
let bank: FaultyBank;
let unable: SimulatedBank;
beforeAll(async () => {
  world = await startPaymentWorld(environment);
  bank = waylay(world.service.banks);
  const { clock, banks, database, learnAbilities } = world.service;
  const abilities = { kinds: ['authorise', 'reverse'], authentication: [] };
  unable = await openSimulatedBank({ clock, secret, log: { warn: () => {} }, abilities });
  await banks.putBank({ id: 'UNABLE', url: unable.url, secret });
  await learnAbilities();
  const { partyId: party_id } = world.merchant;
  await database.run(setThreeDSecure, { party_id, shop_id: 'TEST_USD', three_d_secure: 'always' });
  await database.run(setThreeDSecure, { party_id, shop_id: 'TEST_EUR', three_d_secure: 'never' });
});
afterAll(async () => {
  await world.close();
  await unable.stop();
});

const shopThatWants = {
  whenTheBankSays: {},
  always: { shopID: 'TEST_USD', currency: 'USD' },
  never: { shopID: 'TEST_EUR', currency: 'EUR' },
} as const;

async function told(more: Record<string, unknown> = {}, invoice: Record<string, unknown> = {}) {
  const paid = await world.pay(good, more, invoice);
  await world.service.jobs.whenIdle();
  expect(paid.created, paid.created.text).toMatchObject({ status: 201 });
  const sent = bank.sent.findLast(({ kind }) => kind === 'authorise') as any;
  return [sent.authentication, (await world.payment(paid)).threeDSecure];
}

test.each([
  ['whenTheBankSays', undefined, 'preferred', undefined],
  ['always', undefined, 'required', 'always'],
  ['never', undefined, 'none', 'never'],
  ['always', 'never', 'none', 'never'],
  ['never', 'always', 'required', 'always'],
  ['never', 'whenTheBankSays', 'preferred', undefined],
] as const)(
  'the shop wants %s and the request %s: the bank is asked for %s',
  async (shop, request, tells, shows) => {
    expect(await told(request && { threeDSecure: request }, shopThatWants[shop])).toEqual([tells, shows]);
  },
);

test('a card to be saved is authenticated, whatever the shop wants', async () => {
  expect(await told({ makeRecurrent: true }, shopThatWants.never)).toEqual(['required', 'never']);
  const { created } = await world.pay(good, { makeRecurrent: true, threeDSecure: 'never' });
  expect(created).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
});

async function putTerminal(bankId: string, priority: number, { partyId } = world.merchant): Promise<void> {
  const name = { id: bankId === 'BANK' ? 'T1' : bankId, merchantId: 'TEST', descriptor: 'TEST SHOP' };
  await world.service.banks.putTerminal({ ...name, partyId, shopId: 'TEST', bankId, priority });
}

test('always goes to a bank that declares it', async () => {
  await putTerminal('UNABLE', 0);
  await told({ threeDSecure: 'always' });
  expect(bank.sent.at(-1)?.terminal.bankId).toBe('BANK');
  await told();
  expect(bank.sent.at(-1)?.terminal.bankId).toBe('UNABLE');
  await putTerminal('UNABLE', 2);
});

test('always is refused before anything is written if no bank of the shop declares it', async () => {
  const { service } = world;
  const merchant = await service.createMerchant();
  await putTerminal('UNABLE', 1, merchant);
  const invoice = await makeInvoice(service, merchant);
  const card = await world.tokenize(good, invoice.token);
  const contactInfo = { email: 'payer@example.com' };
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: card.token, contactInfo };
  const url = `${invoicesUrl}/${invoice.id}/payments`;
  const pay = (more: object) =>
    service.call('POST', url, { token: merchant.apiKey, body: { payer, ...more } });
  const refused = await pay({ threeDSecure: 'always' });
  expect(refused).toMatchObject({ status: 400, body: { code: 'threeDSecureNotOffered' } });
  expect(await pay({})).toMatchObject({ status: 201, body: { id: '1' } });
});

test('a payment that wants it always passes over a bank that cannot when it moves', async () => {
  await world.service.banks.putBank({ id: 'DOWN', url: 'http://127.0.0.1:9', secret });
  await putTerminal('BANK', 5);
  await putTerminal('UNABLE', 4);
  await putTerminal('DOWN', 3);
  const moved = await world.paid(good, { threeDSecure: 'always' });
  expect(bank.sent.slice(-2).map(({ terminal }) => terminal.bankId)).toEqual(['DOWN', 'BANK']);
  expect(await world.payment(moved)).toMatchObject({ status: 'captured' });
  await putTerminal('BANK', 1);
});

/** Until then every payer of the shop has to authenticate. */
async function guard(until: string): Promise<void> {
  await world.service.database.withClient((client) =>
    client.query(
      `insert into shop_guard (party_id, shop_id, bin, mode, since, until, approved, declined)
       values ($1, 'TEST', '', 'challenge', now(), $2, 0, 30) on conflict (party_id, shop_id, bin) do update set until = excluded.until`,
      [world.merchant.partyId, until],
    ),
  );
  world.service.forgetGuards();
}

test.each([
  ['wants no more', 'whenTheBankSays', false, 'A', 201],
  ['wants every payer authenticated', 'always', false, 'A', 400],
  ['wants every payer authenticated', 'always', false, 'Y', 201],
  ['is guarded against card testing', 'whenTheBankSays', true, 'A', 400],
  ['is guarded against card testing', 'whenTheBankSays', true, 'Y', 201],
] as const)('a shop that %s (%s, %s) answers a result with status %s with %i', async (...given) => {
  const [, shop, isGuarded, status, answer] = given;
  await guard(isGuarded ? '2999-01-01T00:00:00Z' : '2000-01-01T00:00:00Z');
  const authenticated = {
    version: '2.2.0',
    status,
    eci: status === 'A' ? '06' : '05',
    value: Buffer.alloc(20, 1).toString('base64'),
    dsTransID: randomUUID(),
    at: world.service.clock.now(),
    amount: 6_000,
    currency: shop === 'always' ? 'USD' : 'RUB',
    card: { bin: '424242', lastDigits: '4242' },
  };
  const { created } = await world.pay(good, { authenticated }, shopThatWants[shop]);
  await world.service.jobs.whenIdle();
  await guard('2000-01-01T00:00:00Z');
  expect(created, created.text).toMatchObject({
    status: answer,
    ...(answer === 400 ? { body: { code: 'authenticationMismatch' } } : {}),
  });
});

test('what holds while cards are tested is fixed when the payment is created', async () => {
  const { clock } = world.service;
  await guard('2999-01-01T00:00:00Z');
  bank.happens('authorise', 'message lost');
  const paid = await world.paid(good, { threeDSecure: 'never' });
  await guard('2000-01-01T00:00:00Z');
  clock.advance(60_000);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
  const sent = bank.sent.filter(
    ({ kind, operationId }) => kind === 'authorise' && operationId.startsWith(paid.id),
  );
  expect(sent.map((operation: any) => operation.authentication)).toEqual(['required', 'required']);
  expect(await world.payment(paid)).toMatchObject({ status: 'captured', threeDSecure: 'always' });
});

test('a shop that is guarded against card testing asks for 3-D Secure, and for no exemption', async () => {
  const claim = async () => {
    const asked = await told({ exemption: 'lowValue' });
    return [...asked, (bank.sent.findLast(({ kind }) => kind === 'authorise') as any).authenticated];
  };
  await guard('2000-01-01T00:00:00Z');
  expect(await claim()).toEqual(['given', undefined, { exemption: 'lowValue' }]);
  await guard('2999-01-01T00:00:00Z');
  expect(await claim()).toEqual(['required', 'always', undefined]);
});
