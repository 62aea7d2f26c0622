// What payers are sent about their subscriptions, and charges that wait until they were.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import type { RecurringSettings } from '../../../src/recurring/domain/settings.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../support/worlds/recurring.ts';
import { subscriptionWorld, type SubscriptionWorld } from '../../support/subscriptions/subscription-world.ts';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

type Email = { kind: string; status: string; recipient: string; subject: string; text_body: string };
const emailsOf = async (id: string): Promise<Email[]> => {
  const text = `select content->>'kind' as kind, status, recipient, subject, text_body from payer_email
                where invoice_id = $1 order by created_at, length(payment_id), payment_id`;
  return (await world.service.database.withClient((client) => client.query<Email>(text, [id]))).rows;
};
const kindsOf = async (id: string) => (await emailsOf(id)).map(({ kind, status }) => `${kind} ${status}`);
const set = (merchant: Merchant, settings: RecurringSettings) =>
  storeSettings(world.service.database, { partyId: merchant.partyId, shopId: 'TEST' }, settings);

async function started(more: Record<string, unknown>, merchant: Merchant): Promise<string> {
  const customerId = await subscriptions.readyCustomer(merchant);
  const created = await subscriptions.create(merchant, customerId, more);
  expect(created.status, created.text).toBe(201);
  await subscriptions.settle();
  return created.body.id;
}
async function daysLater(days: number, merchant: Merchant): Promise<void> {
  const { body } = await subscriptions.call(merchant, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(merchant, new Date(Date.parse(body.now) + days * 86_400_000).toISOString());
}
const outcomesOf = async (merchant: Merchant, id: string) =>
  (await subscriptions.periods(merchant, id)).map(({ kind, outcome }) => `${kind} ${outcome}`);

test('a trial is confirmed and announced, then charged', async () => {
  const merchant = await world.createMerchant();
  const id = await started({ trialDays: 30 }, merchant);
  const [confirmation] = await emailsOf(id);
  expect(confirmation).toMatchObject({ kind: 'started', status: 'kept', recipient: 'payer@example.com' });
  expect(confirmation?.text_body).toMatch(
    /Trial: until .*\nPrice: RUB 499\.00, every month\nValid: until cancelled/,
  );
  expect(confirmation?.text_body).toMatch(/To cancel: open http\S+\/subscription\/\w+\/\d+\./);
  await daysLater(24, merchant);
  expect(await kindsOf(id)).toEqual(['started kept', 'announced kept']);
  expect(await outcomesOf(merchant, id)).toEqual(['trial paid']);
  await daysLater(7, merchant);
  expect(await outcomesOf(merchant, id)).toEqual(['trial paid', 'regular paid']);
  expect(await kindsOf(id)).toEqual(['started kept', 'announced kept']);
});

test('the receipt of a charge names its period', async () => {
  const merchant = await world.createMerchant();
  const id = await started({}, merchant);
  const [{ invoiceID }] = await subscriptions.periods(merchant, id);
  const path = `/v2/processing/invoices/${invoiceID}/payments/1/receipt`;
  const { body } = await subscriptions.call(merchant, 'GET', path);
  expect(body.text).toMatch(/\nFor: Tea\nPeriod: .+ – .+\nAmount: RUB 499\.00\n/);
  expect(body.text).toMatch(/\nTo cancel: open http/);
});

test('a charge is not made while the payer cannot be reached, and its event says why', async () => {
  const merchant = await world.createMerchant();
  await set(merchant, { duties: { emailsBy: 'merchant' } });
  const id = await started({ trialDays: 30 }, merchant);
  await daysLater(40, merchant);
  expect(await kindsOf(id)).toEqual([]);
  expect(await outcomesOf(merchant, id)).toEqual(['trial paid', 'regular open']);
  const [, { invoiceID }] = await subscriptions.periods(merchant, id);
  expect(await subscriptions.payments(merchant, invoiceID)).toEqual([]);
  await set(merchant, { duties: { chargeUnannounced: true } });
  await daysLater(8, merchant);
  expect(await outcomesOf(merchant, id)).toEqual(['trial paid', 'regular paid']);
});

test('a charge waits until a receiver has accepted its own announcement', async () => {
  const merchant = await world.createMerchant();
  await set(merchant, { duties: { announceEachHours: 24, emailsBy: 'merchant' } });
  const path = '/v2/processing/shops/TEST/dunning-policies/club';
  const body = { tries: [1], windowDays: 30, stack: true, at: { from: '06:00', until: '10:00' } };
  const policy = await world.service.call('PUT', path, { token: merchant.apiKey, body });
  expect(policy.status, policy.text).toBe(200);
  const id = await started({ dunningPolicy: 'club', every: 'P1W' }, merchant);
  await daysLater(15, merchant);
  expect(await outcomesOf(merchant, id)).toEqual(['regular paid', 'regular open', 'regular open']);
  const query = (text: string, values: unknown[]) =>
    world.service.database.withClient((client) => client.query(text, values));
  const announced = await query(
    `select sequence from event where aggregate_id = $1 and facts::text like '%charge_announced%' order by sequence`,
    [id],
  );
  const sequences = announced.rows.map(({ sequence }) => Number(sequence));
  expect(sequences).toHaveLength(2);
  await query(
    `insert into webhook_queue (aggregate_id, webhook_id, next_position, last_position) values ($1, 'club', 8, 8)`,
    [id],
  );
  const accept = (sequence = 0) =>
    query(
      `insert into webhook_attempt (webhook_id, attempted_at, aggregate_id, position, attempt, event_type, duration_ms, status)
       values ('club', now(), $1, $2, 1, 'SubscriptionChargeComing', 1, 200)`,
      [id, 8 * sequence],
    );
  await accept(sequences[1]);
  await daysLater(3, merchant);
  expect(await outcomesOf(merchant, id)).toEqual(['regular paid', 'regular open', 'regular open']);
  await accept(sequences[0]);
  await daysLater(3, merchant);
  expect((await outcomesOf(merchant, id)).slice(0, 3)).toEqual(Array(3).fill('regular paid'));
});

test('a decline leads to emails on their days, in the language of the shop', async () => {
  const merchant = await world.createMerchant();
  await set(merchant, { language: 'ru' });
  const items = [{ product: 'Чай', price: insufficientFunds }];
  const id = await started({ items, ifUnpaid: 'end' }, merchant);
  await daysLater(30, merchant);
  expect(await kindsOf(id)).toEqual(
    ['started', 'declined', 'reminder', 'reminder', 'lastWarning', 'ended'].map((kind) => `${kind} kept`),
  );
  const [, declined] = await emailsOf(id);
  expect(declined?.subject).toBe('Платёж не прошёл: TEST');
  expect(declined?.text_body).toMatch(/Чтобы оплатить: откройте http\S+\/subscription\//);
});

test('the last email leads to the page that pays what is open, for 30 days', async () => {
  const merchant = await world.createMerchant();
  const items = [{ product: 'Tea', price: insufficientFunds }];
  const id = await started({ items, ifUnpaid: 'unpaid' }, merchant);
  await daysLater(27, merchant);
  const last = (await emailsOf(id)).at(-1);
  expect(last?.subject).toMatch('Your payment could not be collected');
  const [, path = ''] = /To pay: open http:\/\/[^/]+(\/subscription\/\S+)/.exec(last?.text_body ?? '') ?? [];
  await daysLater(28, merchant);
  expect((await world.service.call('GET', path)).text).toMatch(/name="act" value="pay"/);
  await daysLater(4, merchant);
  expect((await world.service.call('GET', path)).text).toContain('Link not found');
});

test('a year has few emails, and each is written once', async () => {
  const merchant = await world.createMerchant();
  await set(merchant, { duties: { announceEachHours: 24 } });
  const id = await started({}, merchant);
  await daysLater(365, merchant);
  const kinds = await kindsOf(id);
  const paid = (await outcomesOf(merchant, id)).filter((outcome) => outcome === 'regular paid').length;
  expect(paid).toBeGreaterThanOrEqual(12);
  expect(kinds.filter((kind) => kind === 'started kept')).toHaveLength(1);
  // The next charge may have been announced already.
  expect([paid - 1, paid]).toContain(kinds.filter((kind) => kind === 'announced kept').length);
});

test('the outbox of the sandbox shows them with the receipts, newest first', async () => {
  const merchant = await world.createMerchant();
  await set(merchant, { duties: { announceEachHours: 24 } });
  const id = await started({ trialDays: 5 }, merchant);
  await daysLater(38, merchant);
  const outbox = async (query = '', by = merchant): Promise<any[]> =>
    (await subscriptions.call(by, 'GET', `/sandbox/outbox${query}`)).body;
  const all = await outbox();
  expect(all.map(({ kind }) => kind)).toEqual(['receipt', 'announced', 'receipt', 'announced', 'started']);
  const [next] = all;
  expect(next).toMatchObject({ status: 'kept', text: expect.stringContaining('RUB 499.00') });
  expect(all.at(-1)).toMatchObject({
    id: expect.stringMatching(new RegExp(`^subscription\\.${id}\\.\\d+\\.started$`)),
    subscriptionID: id,
    to: 'payer@example.com',
    status: 'kept',
    endedAt: expect.any(String),
    text: expect.stringContaining('To cancel: open http'),
  });
  expect(await outbox('?limit=1')).toEqual([next]);
  expect(await outbox('', await world.createMerchant())).toEqual([]);
});

test('the outbox of an unpaid invoice has the emails that ask for its payment', async () => {
  const merchant = await world.createMerchant();
  const id = await started({ items: [{ product: 'Tea', price: insufficientFunds }] }, merchant);
  const [{ invoiceID }] = await subscriptions.periods(merchant, id);
  const { body } = await subscriptions.call(merchant, 'GET', `/sandbox/outbox?invoiceID=${invoiceID}`);
  expect(body).toMatchObject([{ kind: 'declined', subscriptionID: id, invoiceID, status: 'kept' }]);
});

test('the second charge of one that a payment or an import has started is announced in time', async () => {
  const merchant = await world.createMerchant();
  await set(merchant, { duties: { announceEachHours: 168 } });
  const unpaid = await subscriptions.createUnpaid(merchant);
  await subscriptions.pay(merchant, unpaid.body.firstInvoiceID);
  await subscriptions.settle();
  const { body: clock } = await subscriptions.call(merchant, 'GET', '/sandbox/clock');
  const startsOn = new Date(Date.parse(clock.now) + 10 * 86_400_000).toISOString().slice(0, 10);
  const imported = await started({ continuesWith: { number: 2, startsOn } }, merchant);
  await daysLater(5, merchant);
  expect(await kindsOf(imported)).toContain('announced kept');
  await daysLater(22, merchant);
  expect(await kindsOf(unpaid.body.id)).toContain('announced kept');
});
