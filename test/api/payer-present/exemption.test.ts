// A merchant claims an exemption from 3-D Secure for a payment: what the bank receives, and what follows when the issuer does not accept it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { listeningBank } from '../../support/bank/heard-messages.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { secret, startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const visa = '4242424242424242';
const mastercard = '5555555555554444';
const asksThePayer = '4012888888881881';
/** The simulated bank declines it until a challenge is demanded. */
const wantsChallenge = { amount: 199_935, cart: undefined };

const bank = listeningBank();
let world: PaymentWorld;
beforeAll(async () => void (world = await startPaymentWorld({}, { employ: bank.employ })));
afterAll(() => world.close());
beforeEach(() => void (bank.heard.length = 0));

const timelineOf = async ({ id }: { id: string }): Promise<string> => {
  const { apiKey: token } = world.merchant;
  return (await world.service.call('GET', `${invoicesUrl}/${id}/payments/1/timeline`, { token })).text;
};

test.each(['lowValue', 'secureCorporate', 'trustedBeneficiary', 'transactionRiskAnalysis'])(
  'the bank is asked for %s, and charges a card that it would challenge',
  async (exemption) => {
    const paid = await world.paid(asksThePayer, { exemption });
    expect(paid.created, paid.created.text).toMatchObject({ status: 201, body: { exemption } });
    expect(await world.payment(paid)).toMatchObject({ status: 'captured', exemption });
    const [message, ...others] = bank.ofKind('authorise');
    expect(message).toMatchObject({ authentication: 'given', exemption });
    expect(message).not.toHaveProperty('authenticated');
    expect(others).toEqual([]);
    expect(await timelineOf(paid)).toContain(`exemption from 3-D Secure: ${exemption}.`);
  },
);

test('a repeat has the exemption, and charges once', async () => {
  bank.refuseNext(1);
  const paid = await world.paid(visa, { exemption: 'lowValue' });
  world.service.clock.advance(20_000);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
  expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
  const [first, repeat, ...others] = bank.ofKind('authorise');
  // A security code is sent once.
  const { securityCode: _, ...card } = first!.card;
  expect(repeat).toEqual({ ...first, card });
  expect(others).toEqual([]);
});

test('a shop that wants every payer authenticated can claim one for a payment', async () => {
  await world.service.database.withClient((client) =>
    client.query(`update shop set three_d_secure = 'always' where party_id = $1 and shop_id = 'TEST_USD'`, [
      world.merchant.partyId,
    ]),
  );
  const invoice = { shopID: 'TEST_USD', currency: 'USD' };
  await world.pay(asksThePayer, { exemption: 'lowValue' }, invoice);
  await world.service.jobs.whenIdle();
  expect(bank.ofKind('authorise')).toMatchObject([{ authentication: 'given', exemption: 'lowValue' }]);
});

describe('an issuer that does not accept it', () => {
  test.each([visa, mastercard])('challenges the payer of card %s in the same payment', async (card) => {
    const paid = await world.pay(card, { exemption: 'transactionRiskAnalysis' }, wantsChallenge);
    await world.service.jobs.whenIdle();
    const { exemption, ...waiting } = await world.payment(paid);
    expect(waiting).toMatchObject({ id: '1', status: 'pending' });
    expect(exemption).toBeUndefined();
    const [first, second, ...others] = bank.ofKind('authorise');
    expect(first).toMatchObject({ authentication: 'given', exemption: 'transactionRiskAnalysis' });
    expect(second).toMatchObject({ authentication: 'required', demandsChallenge: true });
    expect(second).not.toHaveProperty('exemption');
    expect(others).toEqual([]);
    await world.authenticate(paid, 'confirm');
    expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
    expect(await timelineOf(paid)).toContain('The issuer demands 3-D Secure');
    expect((await world.book()).filter(({ operationId }) => operationId.startsWith(paid.id))).toMatchObject([
      { operationId: `${paid.id}.1.s`, amount: 199_935 },
    ]);
    expect(await world.differences()).toEqual([]);
  });

  test('is not asked a third time if the payer refuses', async () => {
    const paid = await world.pay(visa, { exemption: 'lowValue' }, wantsChallenge);
    await world.service.jobs.whenIdle();
    await world.authenticate(paid, 'refuse');
    expect(await world.payment(paid)).toMatchObject({ status: 'failed' });
    expect(bank.ofKind('authorise')).toHaveLength(2);
  });
});

describe('it is refused', () => {
  const authenticated = {
    version: '2.2.0',
    status: 'Y',
    eci: '05',
    value: Buffer.alloc(20, 1).toString('base64'),
    dsTransID: 'd7c1ee99-9478-44a6-b1f2-391e29c6b340',
    at: '2026-01-19T10:00:00Z',
    amount: 6_000,
    currency: 'RUB',
    card: { bin: '424242', lastDigits: '4242' },
  };
  test.each([
    ['an unknown one', { exemption: 'because' }, {}, 'exemption'],
    ['with a wish', { exemption: 'lowValue', threeDSecure: 'never' }, {}, 'threeDSecure'],
    ['with a result from elsewhere', { exemption: 'lowValue', authenticated }, {}, 'authenticated'],
    ['with a card to be saved', { exemption: 'lowValue', makeRecurrent: true }, {}, 'makeRecurrent'],
    ['where the invoice saves the card', { exemption: 'lowValue' }, { makeRecurrent: true }, 'makeRecurrent'],
  ])('%s', async (_what, body, invoice, said) => {
    const { created } = await world.pay(visa, body, invoice);
    expect(created).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
    expect(created.body.message).toContain(said);
    expect(bank.heard).toEqual([]);
  });

  test('with the token of an invoice, and without the payer', async () => {
    const invoice = await makeInvoice(world.service, world.merchant);
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const { token: paymentToolToken } = await world.tokenize(visa, invoice.token);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const pay = (token: string, by: object) =>
      world.service.call('POST', url, { token, body: { payer: by, exemption: 'lowValue' } });
    expect(await pay(invoice.token, payer)).toMatchObject({
      status: 400,
      body: { code: 'operationNotPermitted', message: 'Only an API key can send exemption.' },
    });
    const absent = { payerType: 'CustomerPayer', customerID: 'C' };
    expect(await pay(world.merchant.apiKey, absent)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('requires a payer who is present') },
    });
  });

  test('where no bank of the shop takes them, before anything is written', async () => {
    const { clock, banks, learnAbilities, database } = world.service;
    const abilities = { authentication: ['hosted' as const] };
    const hosting = await openSimulatedBank({ clock, secret, log: { warn: () => {} }, abilities });
    await banks.putBank({ id: 'HOSTING', url: hosting.url, secret });
    await learnAbilities();
    const merchant = await world.service.createMerchant();
    const { partyId, apiKey: token } = merchant;
    const terminal = { id: 'H', merchantId: 'TEST', descriptor: 'TEST SHOP', priority: 1 };
    await banks.putTerminal({ ...terminal, partyId, shopId: 'TEST', bankId: 'HOSTING' });
    const invoice = await makeInvoice(world.service, merchant);
    const card = await world.tokenize(visa, invoice.token);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: card.token, contactInfo: {} };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const body = { payer, exemption: 'lowValue' };
    expect(await world.service.call('POST', url, { token, body })).toMatchObject({
      status: 400,
      body: { code: 'notOfferedByBank' },
    });
    const { rows } = await database.withClient((client) =>
      client.query('select payment_id from payment where party_id = $1', [partyId]),
    );
    expect(rows).toEqual([]);
    await hosting.stop();
  });
});
