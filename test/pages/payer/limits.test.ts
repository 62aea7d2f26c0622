// What a payer reads whom a limit against card testing stops, with the limits on.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { consentLinkWorld } from '../../support/worlds/consent-links.ts';
import { invoicesUrl, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';

const good = '4242424242424242';
const declined = ['4000000000000002', '5100000000000412', '4222222222222220'] as const;
const soon = { timeout: 30_000, interval: 100 };

describeInBrowser('a payer at a limit', () => {
  let world: CheckoutWorld;
  let page: Page;

  beforeAll(async () => {
    world = await startCheckoutWorld(undefined, {
      CARD_TESTING_LIMITS: 'on',
      BINDINGS_PER_CARD_PER_DAY: '1',
    });
  });
  afterAll(() => world?.close());
  afterEach(async () => {
    await world.service.call('POST', '/sandbox/limits/reset', { token: world.merchant.apiKey });
    await world.leave();
  });

  async function enter(card: string): Promise<void> {
    await page.locator('#number').fill(card);
    await page.locator('#expiry').fill('12/30');
    await page.locator('#code').fill('123');
    await page.locator('#pay').click();
  }
  async function expectBanner(text: string): Promise<void> {
    await expect.poll(() => page.locator('#message').textContent(), soon).toBe(text);
  }

  /** Attempts on other pages. */
  async function decline({ id }: Pick<CreatedInvoice, 'id'>, card: string, times: number): Promise<void> {
    const token = world.merchant.apiKey;
    for (let time = 0; time < times; time++) {
      const made = await world.tokenize(card);
      const contactInfo = { email: 'payer@example.com' };
      const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: made.token, contactInfo };
      const body = { flow: { type: 'PaymentFlowInstant' }, payer };
      const { status } = await world.service.call('POST', `${invoicesUrl}/${id}/payments`, { token, body });
      expect(status).toBe(201);
      await world.service.jobs.whenIdle();
    }
  }

  test('reads that a card may be tried again within the hour', async () => {
    const invoice = await world.invoice();
    await decline(invoice, declined[0], 4);
    page = await world.open(world.link(invoice, { locale: 'en' }));
    await enter(declined[0]);
    await expectBanner('Too many attempts. Nothing was charged. Try again in 60 minutes.');
  });

  test('reads after the tenth decline that the order takes no more', async () => {
    const invoice = await world.invoice();
    for (const card of declined) await decline(invoice, card, 3);
    page = await world.open(world.link(invoice, { locale: 'en' }));
    await enter(declined[0]);
    await expectBanner('There is not enough money on this card. Nothing was charged. Try another card.');
    await enter(good);
    await expectBanner(
      'This order takes no more attempts. Nothing was charged. Ask the shop for a new order.',
    );
  });

  test.each([
    [
      'en',
      'The shop takes no cards like this one at the moment. Nothing was charged. Try again in 30 minutes, or try another card.',
    ],
    [
      'ru',
      'Магазин сейчас не принимает такие карты. Ничего не списано. Попробуйте ещё раз через 30 минут или возьмите другую карту.',
    ],
  ])('reads that the shop takes no such cards, in %s', async (locale, said) => {
    const until = new Date(Date.parse(world.service.clock.now()) + 30 * 60_000);
    await world.service.database.withClient((client) =>
      client.query(
        `insert into shop_guard (party_id, shop_id, bin, mode, since, until, approved, declined)
           values ($1, 'TEST', '', 'refuse', $2, $2, 0, 30)`,
        [world.merchant.partyId, until],
      ),
    );
    page = await world.open(world.link(await world.invoice(), { locale }));
    await enter(good);
    await expectBanner(said);
    await world.service.database.withClient((client) => client.query('delete from shop_guard'));
  });

  test('reads when a card may be saved or confirmed again', async () => {
    page = await world.open(world.linkToBind(await world.customer(), { locale: 'en' }));
    await page.locator('#consent').check();
    await enter(good);
    await expect.poll(() => page.locator('h2:visible').textContent(), soon).toBe('The card is saved');
    page = await world.open(world.linkToBind(await world.customer(), { locale: 'en' }));
    await page.locator('#consent').check();
    await enter(good);
    await expectBanner('Too many attempts. Nothing was charged. Try again in 24 hours.');

    const { invoiceID } = await recurringWorld(world).parent(good);
    const url = `${invoicesUrl}/${invoiceID}/payments/1/recurring`;
    const { body } = await world.service.call('GET', url, { token: world.merchant.apiKey });
    const link = await consentLinkWorld(world).made(body.seriesID);
    page = await world.open(world.address + link.path);
    await page.locator('#consent').check();
    await page.locator('#agree').click();
    await expectBanner('Too many attempts. Nothing has changed. Try again in 24 hours.');
  });
});
