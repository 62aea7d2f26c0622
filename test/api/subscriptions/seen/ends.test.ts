// Why a subscription has ended, as the API, a webhook receiver, the payer's page and the payer's email say it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLinkSecrets } from '../../../../src/platform/keys/link-secrets.ts';
import { openConsents } from '../../../../src/recurring/consents.ts';
import { storeSettings } from '../../../../src/recurring/store/settings.ts';
import { payerPage } from '../../../support/subscriptions/payer-page.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../../support/subscriptions/subscription-world.ts';
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.ts';
import { webhooksUrl } from '../../../support/receivers/webhooks.ts';
import type { Merchant } from '../../../support/service/test-service.ts';
import {
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
} from '../../../support/worlds/customer-world.ts';
import { insufficientFunds } from '../../../support/worlds/recurring.ts';

const good = '4242424242424242';
/** Its bank stops all charges of the merchant. */
const stoppedByBank = 99_909;
const dayMs = 86_400_000;
const agreed = { schedule: 'P1M', amountRule: { kind: 'variable', text: 'as ordered' } };

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let receiver: Receiver;

beforeAll(async () => {
  world = await startCustomerWorld({ WEBHOOK_ALLOW_HTTP: 'true' });
  subscriptions = subscriptionWorld(world);
  receiver = await startReceiver();
});
afterAll(async () => {
  await world.close();
  await receiver.stop();
});

type Started = { by: Merchant; id: string; binding: MadeBinding; invoiceId: string };
type Start = { of: 'customer' | 'parent'; more?: Record<string, unknown>; terms?: Record<string, unknown> };

async function started({ of, more = {}, terms = agreed }: Start, language: 'en' | 'ru'): Promise<Started> {
  const by = await world.createMerchant();
  await storeSettings(world.service.database, { partyId: by.partyId, shopId: 'TEST' }, { language });
  await subscriptions.call(by, 'POST', webhooksUrl, {
    scope: { topic: 'SubscriptionsTopic', shopID: 'TEST', eventTypes: ['SubscriptionEnded'] },
    url: receiver.url,
  });
  const customer = await world.createCustomer({}, by);
  const binding = await world.bind(customer, good, { recurrentTerms: terms });
  await world.service.jobs.whenIdle();
  const made =
    of === 'customer'
      ? await subscriptions.create(by, customer.id, more)
      : await subscriptions.createUnpaid(by, more);
  expect(made.status, made.text).toBe(201);
  const { id, firstInvoiceID: invoiceId } = made.body;
  if (of === 'parent') await subscriptions.pay(by, invoiceId);
  await subscriptions.settle();
  return { by, id, binding, invoiceId };
}

async function daysLater(days: number, by: Merchant): Promise<void> {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + days * dayMs).toISOString());
}
const act = ({ by, id }: Started, verb: string, body: unknown) =>
  subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${verb}`, body);
const dear = (price: number) => ({ items: [{ product: 'Tea', price }], ifUnpaid: 'end' });

type Way = readonly [reason: string, start: Start, (started: Started) => Promise<unknown>];
const ways: Record<string, Way> = {
  'the payer ends it': ['payer', { of: 'customer' }, (it) => act(it, 'cancel', { when: 'now', by: 'payer' })],
  'the merchant ends it': ['merchant', { of: 'customer' }, (it) => act(it, 'cancel', { when: 'now' })],
  'the payer removes the last card': [
    'payer',
    { of: 'customer' },
    ({ binding }) => world.withdraw(binding, binding.token),
  ],
  'the merchant removes the last card': [
    'merchant',
    { of: 'customer' },
    ({ binding, by }) => world.withdraw(binding, by.apiKey),
  ],
  'the payer removes one card, and the merchant the last': [
    'merchant',
    { of: 'customer' },
    async ({ binding, by }) => {
      const other = await world.bound(binding, '5555555555554444');
      await world.withdraw(binding, binding.token);
      await world.withdraw(other, by.apiKey);
    },
  ],
  'the merchant deletes the customer': [
    'merchant',
    { of: 'customer' },
    ({ binding, by }) =>
      world.service.call('DELETE', `/v2/processing/customers/${binding.id}`, { token: by.apiKey }),
  ],
  'the payer revokes the consent of their payment': [
    'payer',
    { of: 'parent' },
    ({ invoiceId }) => {
      const secret = openLinkSecrets(world.service.keyring).secretOf('withdraw', `${invoiceId}.1`);
      return world.service.call('POST', `/recurring/withdraw/${invoiceId}.1/${secret}`);
    },
  ],
  'the merchant revokes the consent of the payment': [
    'merchant',
    { of: 'parent' },
    ({ invoiceId, by }) =>
      subscriptions.call(by, 'POST', `/v2/processing/invoices/${invoiceId}/payments/1/recurring/withdraw`, {
        reason: 'fraud',
      }),
  ],
  'the consent runs out': [
    'consentEnded',
    { of: 'customer', terms: { ...agreed, validUntil: '2026-02-20' } },
    ({ by }) => daysLater(90, by),
  ],
  'the bank stops the charges': [
    'stopped',
    { of: 'customer', more: dear(stoppedByBank) },
    ({ by }) => daysLater(30, by),
  ],
  'a period is not paid': [
    'unpaid',
    { of: 'customer', more: dear(insufficientFunds) },
    ({ by }) => daysLater(30, by),
  ],
  'all periods are over': [
    'finished',
    { of: 'customer', more: { periods: 1 } },
    ({ by }) => daysLater(32, by),
  ],
};

const words: Record<'en' | 'ru', Record<string, string>> = {
  en: {
    payer: 'You ended it, or took back your consent to the charges.',
    merchant: 'The merchant ended it.',
    consentEnded: 'The time that you had agreed to is over.',
    stopped: 'Your bank has stopped the charges.',
    unpaid: 'A payment could not be collected.',
    finished: 'All agreed periods are over.',
  },
  ru: {
    payer: 'Вы её завершили или отозвали согласие на списания.',
    merchant: 'Её завершил продавец.',
    consentEnded: 'Срок вашего согласия истёк.',
    stopped: 'Банк остановил списания.',
    unpaid: 'Платёж не удалось списать.',
    finished: 'Все согласованные периоды закончились.',
  },
};

const emailOf = async (id: string): Promise<string | undefined> => {
  const text = `select text_body from payer_email where invoice_id = $1 and content->>'kind' = 'ended'`;
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ text_body: string }>(text, [id]),
  );
  return rows[0]?.text_body;
};

async function eventOf(id: string): Promise<any> {
  await world.service.webhooks.whenIdle();
  return receiver.deliveries.find(({ body }) => body.subscription.id === id)?.body;
}

test.each(Object.entries(ways))('%s', async (name, [reason, start, ends]) => {
  const deletes = name === 'the merchant deletes the customer';
  for (const language of ['en', 'ru'] as const) {
    const it = await started(start, language);
    await ends(it);
    await subscriptions.settle();
    expect(await subscriptions.get(it.by, it.id)).toMatchObject({ status: 'ended', endReason: reason });
    const why = words[language][reason] ?? 'no words';
    // Without the customer there is no address.
    if (deletes) expect(await emailOf(it.id)).toBeUndefined();
    else expect(await emailOf(it.id)).toContain(why);
    const page = payerPage(world.service);
    const { html } = await page.open(`${await page.linkTo(it.by, it.id)}?locale=${language}`);
    expect(html).toContain(why);
    expect((await eventOf(it.id)).subscription).toMatchObject({ endReason: reason });
  }
});

test.each(['payer', 'merchant'] as const)(
  'a charge that finds the consent revoked by the %s ends it with that reason',
  async (by) => {
    const it = await started({ of: 'customer' }, 'en');
    const { database, clock } = world.service;
    const { rows } = await database.withClient((client) =>
      client.query<{ series_id: string }>('select series_id from binding where customer_id = $1', [
        it.binding.id,
      ]),
    );
    // The binding stays, so no look finds it.
    const { revoke } = openConsents({ cards: { expedite: async () => {} } } as never);
    await database.transaction((tx) => revoke(tx, rows[0]?.series_id ?? '', { by }, clock.now()));
    await daysLater(32, it.by);
    expect(await subscriptions.get(it.by, it.id)).toMatchObject({ status: 'ended', endReason: by });
  },
);

test('without the first payment, it says so on its page, and sends no email', async () => {
  const by = await world.createMerchant();
  const { body } = await subscriptions.createUnpaid(by);
  await daysLater(1.1, by);
  expect(await subscriptions.get(by, body.id)).toMatchObject({ endReason: 'firstPaymentMissing' });
  const page = payerPage(world.service);
  const link = await page.linkTo(by, body.id);
  expect((await page.open(link)).html).toContain('The first payment did not come in time.');
  expect((await page.open(`${link}?locale=ru`)).html).toContain('Первый платёж не поступил вовремя.');
  expect(await emailOf(body.id)).toBeUndefined();
});
