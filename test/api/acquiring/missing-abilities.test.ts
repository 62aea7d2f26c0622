// An operation that no bank of the shop declares it can do is refused before anything is written.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AbilitiesAnswer } from '../../../src/acquiring/adapters/http/capabilities.ts';
import { openSimulatedBank, type SimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { invoicesUrl, makeInvoice, makeTemplate, templatesUrl } from '../../support/worlds/invoices.ts';
import { customersUrl } from '../../support/worlds/customer-world.ts';
import { secret, startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import type { Answer, Merchant } from '../../support/service/test-service.ts';

const good = '4242424242424242';
const hold = { flow: { type: 'PaymentFlowHold' } };
const contactInfo = { email: 'payer@example.com' };

let world: PaymentWorld;
const opened: SimulatedBank[] = [];
beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(async () => {
  await world.close();
  for (const bank of opened) await bank.stop();
});

async function putBank(id: string, abilities?: AbilitiesAnswer): Promise<void> {
  const { clock, banks, learnAbilities } = world.service;
  const bank = await openSimulatedBank({
    clock,
    secret,
    log: { warn: () => {} },
    ...(abilities && { abilities }),
  });
  opened.push(bank);
  await banks.putBank({ id, url: bank.url, secret });
  await learnAbilities();
}

async function putTerminal({ partyId }: Merchant, bankId: string, priority: number): Promise<void> {
  const terminal = { id: `T-${bankId}`, merchantId: 'TEST', descriptor: 'TEST SHOP' };
  await world.service.banks.putTerminal({ ...terminal, partyId, shopId: 'TEST', bankId, priority });
}

let banks = 0;
/** A merchant whose shop has a terminal at one bank, with these abilities. */
async function merchantAt(abilities?: AbilitiesAnswer) {
  const bankId = `BANK${++banks}`;
  await putBank(bankId, abilities);
  const merchant = await world.service.createMerchant();
  await putTerminal(merchant, bankId, 1);
  return { merchant, bankId };
}

async function pay(merchant: Merchant, more: object = {}) {
  const invoice = await makeInvoice(world.service, merchant);
  const card = await world.tokenize(good, invoice.token);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: card.token, contactInfo };
  const url = `${invoicesUrl}/${invoice.id}/payments`;
  const answer = await world.service.call('POST', url, {
    token: merchant.apiKey,
    body: { payer, ...more },
  });
  await world.service.jobs.whenIdle();
  return { url, answer };
}

/** A charge of another invoice without the payer. It can be sent more than once. */
async function chargeOf(merchant: Merchant, parent: Answer) {
  const invoice = await makeInvoice(world.service, merchant);
  const recurrentParentPayment = { invoiceID: parent.body.invoiceID, paymentID: '1' };
  const payer = { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo };
  const url = `${invoicesUrl}/${invoice.id}/payments`;
  const charge = async () => {
    const answer = await world.service.call('POST', url, { token: merchant.apiKey, body: { payer } });
    await world.service.jobs.whenIdle();
    return answer;
  };
  return { url, charge };
}

async function paymentsAt(url: string, { apiKey }: Merchant): Promise<any[]> {
  return (await world.service.call('GET', url, { token: apiKey })).body;
}

function saidOf({ status, body }: Answer) {
  return [status, body.code, body.hint];
}

const refused = (missing: string) => [
  400,
  'notOfferedByBank',
  `No bank that could be used declares "${missing}".`,
];

describe('a payment', () => {
  test.each<[object, AbilitiesAnswer, string]>([
    [{}, { kinds: ['payout', 'verify'] }, 'kind authorise'],
    [{}, { currencies: ['EUR', 'USD'] }, 'currency RUB'],
    [{}, { networks: ['mir', 'mastercard'] }, 'network visa'],
    [{}, { initiations: ['recurring'] }, 'initiation payer'],
    [hold, { kinds: ['authorise', 'reverse', 'refund'] }, 'kind capture'],
    [{ makeRecurrent: true }, { initiations: ['payer'] }, 'initiation recurring'],
  ])('%j at a bank with %j is refused, and goes to one that can', async (more, abilities, missing) => {
    const { merchant } = await merchantAt(abilities);
    const { url, answer } = await pay(merchant, more);
    expect(saidOf(answer)).toEqual(refused(missing));
    expect(await paymentsAt(url, merchant)).toEqual([]);
    await putTerminal(merchant, 'BANK', 2);
    const { url: other, answer: taken } = await pay(merchant, more);
    expect(taken).toMatchObject({ status: 201 });
    const status = 'flow' in more ? 'processed' : 'captured';
    expect(await paymentsAt(other, merchant)).toMatchObject([{ status }]);
  });

  test.each([
    ['that saves its card', { makeRecurrent: true }],
    ['that wants 3-D Secure always', { threeDSecure: 'always' }],
  ])('%s is refused where no bank authenticates payers', async (_what, more) => {
    const { merchant } = await merchantAt({ authentication: ['given'] });
    const { answer } = await pay(merchant, more);
    expect(answer).toMatchObject({ status: 400, body: { code: 'threeDSecureNotOffered' } });
    expect((await pay(merchant)).answer).toMatchObject({ status: 201 });
  });

  test('is held a day less than its bank declares, where the operator has set nothing', async () => {
    const { merchant } = await merchantAt({ holdDays: { payer: 5 } });
    const { answer } = await pay(merchant, hold);
    const { createdAt, flow } = answer.body;
    expect(Math.round((Date.parse(flow.heldUntil) - Date.parse(createdAt)) / 86_400_000)).toBe(4);
  });

  test('is taken at a bank that declares nothing', async () => {
    const { merchant } = await merchantAt({});
    for (const more of [{}, hold, { makeRecurrent: true }])
      expect((await pay(merchant, more)).answer).toMatchObject({ status: 201 });
  });
});

test('the checkout shows the networks whose cards a bank of the shop takes for what is to be paid', async () => {
  const { merchant } = await merchantAt({ networks: ['Mir', 'visa'], initiations: ['payer'] });
  const { id, token } = await makeInvoice(world.service, merchant);
  const networks = async (more = '') => {
    const url = `/checkout?invoiceID=${id}&invoiceAccessToken=${token}${more}`;
    return /class="accepted" .*?aria-label="(.*?)"/.exec((await world.service.call('GET', url)).text)?.[1];
  };
  expect(await networks()).toBe('Visa, МИР');
  expect(await networks('&recurring=true')).toBeUndefined();
  await putBank('MAESTRO', { networks: ['maestro'] });
  await putTerminal(merchant, 'MAESTRO', 2);
  expect(await networks()).toBe('Visa, Maestro, МИР');
  expect(await networks('&recurring=true')).toBe('Maestro');
  await putBank('SILENT');
  await putTerminal(merchant, 'SILENT', 3);
  expect((await networks())?.split(', ')).toHaveLength(10);
});

test('the API lists the same networks as ways to pay, and for a card that is saved', async () => {
  const { merchant } = await merchantAt({ networks: ['Mir', 'visa'], initiations: ['payer'] });
  const methods = async (path: string) =>
    (await world.service.call('GET', `${path}/payment-methods`, { token: merchant.apiKey })).body;
  const listed = (...paymentSystems: string[]) =>
    paymentSystems.length === 0 ? [] : [{ method: 'BankCard', paymentSystems }];
  const once = await makeInvoice(world.service, merchant);
  const recurring = await makeInvoice(world.service, merchant, { makeRecurrent: true });
  const template = await makeTemplate(world.service, merchant);
  const body = { shopID: 'TEST', contactInfo, metadata: {} };
  const { body: made } = await world.service.call('POST', customersUrl, { token: merchant.apiKey, body });
  const all = async () => ({
    once: await methods(`${invoicesUrl}/${once.id}`),
    template: await methods(`${templatesUrl}/${template.id}`),
    recurring: await methods(`${invoicesUrl}/${recurring.id}`),
    binding: await methods(`${customersUrl}/${made.customer.id}`),
  });
  const [payable, saved] = [listed('visa', 'nspkmir'), listed()];
  expect(await all()).toEqual({ once: payable, template: payable, recurring: saved, binding: saved });
  await putBank('MAESTRO2', { networks: ['maestro'], currencies: ['RUB'] });
  await putTerminal(merchant, 'MAESTRO2', 2);
  const [more, savedThere] = [listed('visa', 'maestro', 'nspkmir'), listed('maestro')];
  expect(await all()).toEqual({ once: more, template: more, recurring: savedThere, binding: savedThere });
  await putBank('EURO', { networks: ['mastercard'], currencies: ['EUR'] });
  await putTerminal(merchant, 'EURO', 3);
  expect((await all()).once).toEqual(more);
});

describe('what follows a payment', () => {
  test('a capture of a part is refused where the bank takes all or nothing', async () => {
    const { merchant } = await merchantAt({ capture: { partial: false } });
    const { url } = await pay(merchant, hold);
    const capture = (more: object) =>
      world.service.call('POST', `${url}/1/capture`, {
        token: merchant.apiKey,
        body: { reason: 'shipped', ...more },
      });
    expect(saidOf(await capture({ amount: 5_999, currency: 'RUB' }))).toEqual(refused('capture of a part'));
    expect(await paymentsAt(url, merchant)).toMatchObject([{ status: 'processed' }]);
    expect((await capture({})).status).toBe(202);
    await world.service.jobs.whenIdle();
    expect(await paymentsAt(url, merchant)).toMatchObject([{ status: 'captured' }]);
  });

  test('a refund is refused where the bank does none, and reserves no money', async () => {
    const { merchant } = await merchantAt({ kinds: ['authorise', 'reverse'] });
    const { url } = await pay(merchant);
    const options = { token: merchant.apiKey, body: {} };
    const asked = await world.service.call('POST', `${url}/1/refunds`, options);
    expect(saidOf(asked)).toEqual(refused('kind refund'));
    expect(await paymentsAt(`${url}/1/refunds`, merchant)).toEqual([]);
    expect(await paymentsAt(url, merchant)).toMatchObject([{ status: 'captured' }]);
  });

  test.each<[string, AbilitiesAnswer, string]>([
    ['none', { initiations: ['payer'] }, 'initiation recurring'],
    ['other networks', { networks: ['Mir'] }, 'network visa'],
  ])('a charge without the payer is refused once the bank declares %s', async (_what, abilities, missing) => {
    const { merchant, bankId } = await merchantAt();
    const { answer: parent } = await pay(merchant, { makeRecurrent: true });
    await putBank(bankId, abilities);
    const { url, charge } = await chargeOf(merchant, parent);
    expect(saidOf(await charge())).toEqual(refused(missing));
    expect(await paymentsAt(url, merchant)).toEqual([]);
    await putBank(bankId);
    expect(await charge()).toMatchObject({ status: 201 });
  });

  test('a charge without the payer whose bank is away passes over one that does not take its network', async () => {
    const { merchant, bankId } = await merchantAt();
    const { answer: parent } = await pay(merchant, { makeRecurrent: true });
    const others = { OTHER: ['Mir'], THIRD: ['Visa'] };
    for (const [at, [name, networks]] of Object.entries(others).entries()) {
      await putBank(name, { networks, foreignNetworkIds: true });
      await putTerminal(merchant, name, at + 2);
    }
    // No server listens there.
    await world.service.banks.putBank({ id: bankId, url: 'http://127.0.0.1:9', secret });
    const answer = await (await chargeOf(merchant, parent)).charge();
    const { rows } = await world.service.database.withClient((client) =>
      client.query(`select terms -> 'terminal' ->> 'bankId' as bank from payment where invoice_id = $1`, [
        answer.body.invoiceID,
      ]),
    );
    expect(rows).toEqual([{ bank: 'THIRD' }]);
  });

  test('a charge without the payer goes to the bank where its card was taken, not to the first of the shop', async () => {
    const { merchant } = await merchantAt({ networks: ['Mir'] });
    await putTerminal(merchant, 'BANK', 2);
    const { answer: parent } = await pay(merchant, { makeRecurrent: true });
    const { url, charge } = await chargeOf(merchant, parent);
    expect(await charge()).toMatchObject({ status: 201 });
    expect(await paymentsAt(url, merchant)).toMatchObject([{ status: 'captured' }]);
  });
});

test.each<[AbilitiesAnswer, string]>([
  [{ initiations: ['payer'] }, 'initiation recurring'],
  [{ networks: ['Mir'] }, 'network visa'],
])('a card is not bound where no bank charges it later: %j', async (abilities, missing) => {
  const { merchant } = await merchantAt(abilities);
  const body = { shopID: 'TEST', contactInfo, metadata: {} };
  const { body: made } = await world.service.call('POST', customersUrl, { token: merchant.apiKey, body });
  const card = await world.tokenize(good, made.customerAccessToken.payload);
  const paymentResource = { paymentToolToken: card.token, paymentSession: card.session };
  const url = `${customersUrl}/${made.customer.id}/bindings`;
  const options = { token: merchant.apiKey, body: { paymentResource } };
  expect(saidOf(await world.service.call('POST', url, options))).toEqual(refused(missing));
  expect(await paymentsAt(url, merchant)).toEqual([]);
});

test.each<[AbilitiesAnswer, string]>([
  [{ kinds: ['authorise'] }, 'kind payout'],
  [{ currencies: ['EUR'] }, 'currency RUB'],
  [{ networks: ['Mir'] }, 'network visa'],
])('no payout is routed to a bank with %j', async (abilities, missing) => {
  const { merchant, bankId } = await merchantAt(abilities);
  const { partyId } = merchant;
  const terminal = { merchantId: 'PAYOUTS', descriptor: 'TEST PAYOUTS', partyId };
  const service = world.service.banks;
  await service.putPayoutTerminal({ ...terminal, id: 'P1', bankId, priority: 1 });
  const wanted = { currency: 'RUB', minor: 100n, network: 'visa' };
  expect(await service.payoutRouteOf(partyId, wanted)).toEqual({
    ok: false,
    refusal: { code: 'noPayoutTerminal', hint: refused(missing)[2] },
  });
  await service.putPayoutTerminal({ ...terminal, id: 'P2', bankId: 'BANK', priority: 2 });
  expect(await service.payoutRouteOf(partyId, wanted)).toMatchObject({
    value: { route: { bankId: 'BANK' } },
  });
});
