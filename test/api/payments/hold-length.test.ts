// How long a hold lasts: by the terminal that made it, the card network, and whether the payer is present.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { commandLine } from '../../support/processes/command-line.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { mastercard, recurringWorld } from '../../support/worlds/recurring.ts';

const flow = { type: 'PaymentFlowHold' };
const visa = '4242424242424242';
let world: PaymentWorld;
let merchant: Merchant;
beforeAll(async () => {
  world = await startPaymentWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  merchant = await world.createMerchant();
});

const days = ({ body }: { body: any }) =>
  (Date.parse(body.flow.heldUntil) - Math.floor(Date.parse(body.createdAt) / 1_000) * 1_000) / 86_400_000;

async function held(cardNumber: string) {
  const invoice = await makeInvoice(world.service, merchant);
  const { token: paymentToolToken } = await world.tokenize(cardNumber, merchant.apiKey);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const path = `${invoicesUrl}/${invoice.id}/payments`;
  const made = await world.service.call('POST', path, { token: merchant.apiKey, body: { payer, flow } });
  await world.service.jobs.whenIdle();
  return made;
}

const terminal = async () => {
  const wanted = { by: 'payer', currency: 'RUB', isHold: true, savesCard: false } as const;
  const found = await world.service.banks.terminalFor({ ...merchant, id: 'TEST' }, wanted);
  if (!found.ok) throw new Error('The shop has no terminal.');
  return found.value;
};
async function addTerminal(id: string, more: readonly string[]) {
  const { bankId } = await terminal();
  const line = ['terminal', 'add', id, '--party', merchant.partyId, '--shop', 'TEST', '--bank', bankId];
  return commandLine([...line, '--merchant', 'M', '--descriptor', 'SHOP', ...more], {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
}

test('is three days, unless the terminal says another one', async () => {
  expect(days(await held(visa))).toBe(3);
  const { id } = await terminal();
  const lengths = ['--hold-days', 'visa.payerPresent=9', '--hold-days', 'visa.withoutPayer=4'];
  expect((await addTerminal(id, lengths)).code).toBe(0);
  await expect.poll(async () => days(await held(visa)), { timeout: 30_000 }).toBe(9);
  expect(days(await held(mastercard))).toBe(3);
  const recurring = recurringWorld(world);
  const parent = await recurring.parent(visa, {}, merchant);
  expect(days(await recurring.charge(parent, 100, { by: merchant, body: { flow } }))).toBe(4);
  await world.service.jobs.whenIdle();
});

test.each([
  ['visa.withoutPayer=5', 'Use 1 to 4 days'],
  ['visa.payerPresent=0', 'Use 1 to 9 days'],
  ['mastercard.payerPresent=7', 'Use 1 to 6 days'],
  ['visa=4', 'Write it as visa.withoutPayer=4'],
  ['plastic.payerPresent=4', 'Write it as visa.withoutPayer=4'],
])('%s is refused with its value', async (text, remedy) => {
  const { code, errors } = await addTerminal('T9', ['--hold-days', text]);
  expect([code, errors]).toEqual([1, expect.stringContaining(`--hold-days "${text}"`)]);
  expect(errors).toContain(remedy);
});

test('is kept when the bank is away: the hold moves only to a terminal with the same length', async () => {
  const { id, bankId, ...named } = await terminal();
  const { partyId } = merchant;
  const shop = { partyId, shopId: 'TEST' };
  await world.service.banks.putTerminal({ ...named, id: 'T2', bankId, ...shop, priority: 200 });
  const alternate = async () =>
    (await world.service.banks.alternateTerminal(shop, { heldAt: { id, bankId, ...named } }))?.id;
  const longer = { network: 'visa', initiation: 'payerPresent', days: 5 } as const;
  await world.service.banks.putHoldDays(shop, { terminalId: id, ...longer });
  expect(await alternate()).toBe(id);
  await world.service.banks.putHoldDays(shop, { terminalId: 'T2', ...longer, days: 4 });
  const other = { ...named, id: 'T2', bankId };
  expect((await world.service.banks.alternateTerminal(shop, { heldAt: other }))?.id).toBe('T2');
  expect((await world.service.banks.alternateTerminal(shop))?.id).toBe(id);
});
