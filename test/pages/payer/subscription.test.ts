// The page of a subscription in a browser: by keyboard alone, in both languages, and by the checkout and back.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { payerPage } from '../../support/subscriptions/payer-page.ts';
import { subscriptionsUrl } from '../../support/subscriptions/subscription-world.ts';
import { desktop, startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { narrowPhone, obstacles } from '../accessibility/obstacles.ts';

const good = '4242424242424242';
const challenged = '4012888888881881';
/** Approved for the payer, and declined as expired without them. */
const expired = '4000000000549990';
const sizes = [narrowPhone, { width: 360, height: 780 }, desktop];
/** Where the picture of the guide goes. Without it, it is drawn and thrown away. */
const folder = process.env['PICTURES'];

describeInBrowser('the page of a subscription', () => {
  let world: CheckoutWorld;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    world.service.clock.set(Date.parse('2026-11-27T14:20:00Z'));
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  async function settle(): Promise<void> {
    for (let turn = 0; turn < 4; turn++) {
      world.service.jobs.wake();
      await world.service.jobs.whenIdle();
    }
  }

  async function started(card: string, more: Record<string, unknown> = {}, recurrentTerms = {}) {
    const { service, merchant } = world;
    const { id: customerID, token } = await world.customer();
    const resource = await world.tokenize(card, token);
    const paymentResource = { paymentToolToken: resource.token, paymentSession: resource.session };
    const bindings = `/v2/processing/customers/${customerID}/bindings`;
    await service.call('POST', bindings, { token, body: { paymentResource, recurrentTerms } });
    await service.jobs.whenIdle();
    const items = [{ product: 'Tea <of the month>', price: 49_900 }];
    const body = { customerID, items, every: 'P1M', timeZone: 'Europe/Moscow', ...more };
    const { body: made } = await service.call('POST', subscriptionsUrl, { token: merchant.apiKey, body });
    await settle();
    const url = `${subscriptionsUrl}/${made.id}`;
    const get = async () => (await service.call('GET', url, { token: merchant.apiKey })).body;
    const change = (price: number) =>
      service.call('POST', `${url}/change`, {
        token: merchant.apiKey,
        body: { items: [{ product: 'Tea', price }] },
      });
    return { link: world.address + (await payerPage(service).linkTo(merchant, made.id)), get, change };
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
  /** Tabs until the button has the focus, as a payer without a mouse. */
  async function press(page: Page, name: string): Promise<void> {
    const focused = async () =>
      (await page.locator(':focus').allInnerTexts()).join().replaceAll('\u00a0', ' ');
    for (let tabs = 0; tabs < 12 && (await focused()) !== name; tabs++) await page.keyboard.press('Tab');
    expect(await focused()).toBe(name);
    await page.keyboard.press('Enter');
  }
  async function enter(page: Page, card: string): Promise<void> {
    await page.locator('#number').fill(card);
    await page.locator('#expiry').fill('12/30');
    await page.locator('#code').fill('123');
  }

  test('says what is charged and when, and is used without a mouse', async () => {
    const { link, get } = await started(good);
    const page = await world.open(link);
    await heading(page, 'Active');
    expect(await page.locator('.product').textContent()).toBe('Tea <of the month>');
    const text = (await page.locator('dl').innerText()).replaceAll('\u00a0', ' ');
    for (const part of ['RUB 499.00', 'every month', 'December 27, 2026: RUB 499.00', 'Visa •••• 4242'])
      expect(text).toContain(part);
    expect(await obstacles(page, { sizes })).toEqual([]);
    await press(page, 'Pause');
    await heading(page, 'Paused');
    expect(await obstacles(page, { sizes })).toEqual([]);
    await press(page, 'Resume');
    await heading(page, 'Active');
    await press(page, 'End subscription');
    await heading(page, 'Ends on December 27, 2026');
    expect(await obstacles(page, { sizes })).toEqual([]);
    await press(page, 'Keep the subscription');
    await heading(page, 'Active');
    expect(await get()).not.toHaveProperty('endsAfterPeriod');
  });

  test('leads to the receipt of a paid period, and back', async () => {
    const { link } = await started(good);
    const page = await world.open(link);
    await page.getByText('Last periods').click();
    expect(await obstacles(page, { sizes })).toEqual([]);
    await page.getByRole('button', { name: 'Receipt' }).click();
    await heading(page, 'This is already paid');
    const text = (await page.locator('#receipt').innerText()).replaceAll('\u00a0', ' ');
    for (const part of ['RUB 499.00', 'Visa •••• 4242']) expect(text).toContain(part);
    await page.locator('#back').click();
    await heading(page, 'Active');
  });

  test('takes a payment in Russian, and is there again afterwards', async () => {
    const { link, get } = await started(expired);
    const page = await world.openAlone(link, { locale: 'ru-RU', viewport: narrowPhone });
    await heading(page, 'Списание не прошло');
    expect(await obstacles(page, { sizes })).toEqual([]);
    await page.getByText('Последние периоды').click();
    await page.getByText('ещё не оплачен').waitFor();
    await press(page, 'Заплатить 499,00 ₽');
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await heading(page, 'Списание не прошло');
    await press(page, 'Заплатить 499,00 ₽');
    await enter(page, good);
    const sent = page.waitForRequest(
      (request) => request.method() === 'POST' && /payments$/.test(request.url()),
    );
    await page.locator('#pay').click();
    const { redirectUrl } = (await sent).postDataJSON().payer.sessionInfo;
    expect(decodeURIComponent(redirectUrl)).not.toContain('/subscription/');
    await page.locator('#back').waitFor();
    await settle();
    // As a bank whose page took the whole window.
    await page.goto(redirectUrl);
    await page.locator('#back').waitFor();
    await page.locator('#back').click();
    await heading(page, 'Действует');
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
  });

  test('changes the card, which the payer’s bank confirms, and tries it at once', async () => {
    const { link, get } = await started(expired);
    const page = await world.open(link);
    await page.getByText('What has failed is charged to the new card at once.').waitFor();
    await page.getByRole('button', { name: 'Use another card' }).click();
    await enter(page, challenged);
    expect((await page.locator('.consent label').innerText()).replaceAll('\u00a0', ' ')).toContain(
      'RUB 499.00 every month',
    );
    await page.locator('#consent').check();
    await page.locator('#pay').click();
    const bank = page.frameLocator('iframe.challenge');
    await bank.getByLabel('Code from your bank').fill('1234');
    await bank.getByRole('button', { name: 'Confirm' }).click();
    await page.locator('#back').waitFor();
    await settle();
    await page.locator('#back').click();
    await heading(page, 'Active');
    expect(await page.locator('dl').innerText()).toContain('1881');
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
  });

  test('leads to new terms and back, and asks why the payer leaves', async () => {
    const terms = { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 49_900 } };
    const { link, get, change } = await started(good, {}, terms);
    expect((await change(79_900)).status).toBe(200);
    const page = await world.openAlone(link, { locale: 'ru-RU', viewport: narrowPhone });
    await heading(page, 'Новые условия');
    const shown = (await page.locator('dl').nth(1).innerText()).replaceAll('\u00a0', ' ');
    for (const part of ['499,00 ₽', '799,00 ₽']) expect(shown).toContain(part);
    expect(await obstacles(page, { sizes })).toEqual([]);
    await press(page, 'Посмотреть новые условия');
    await page.locator('#consent').check();
    await page.locator('#agree').click();
    await heading(page, 'Вы согласились на новые условия');
    expect(await obstacles(page, { sizes: [narrowPhone] })).toEqual([]);
    await press(page, 'Вернуться к подписке');
    await heading(page, 'Действует');
    expect(await page.getByRole('heading', { name: 'Новые условия' }).count()).toBe(0);
    await press(page, 'Завершить подписку');
    await heading(page, 'Почему вы завершили подписку? Отвечать необязательно.');
    expect(await obstacles(page, { sizes })).toEqual([]);
    await press(page, 'Слишком дорого');
    await page.getByText('Спасибо за ответ.').waitFor();
    expect(await obstacles(page, { sizes })).toEqual([]);
    expect(await get()).toMatchObject({ payerReason: 'tooExpensive' });
  });

  test('says nothing of a link that is cut', async () => {
    const { link } = await started(good);
    const page = await world.open(link.slice(0, -2), narrowPhone);
    await heading(page, 'Link not found');
    expect(await obstacles(page, { sizes })).toEqual([]);
    await page.getByRole('link', { name: 'Русский' }).click();
    await heading(page, 'Ссылка не найдена');
  });

  test('is in the guide', async () => {
    const { link } = await started(expired, { items: [{ product: 'Tea of the month', price: 49_900 }] });
    const page = await world.open(link, { width: 1_000, height: 620 });
    await heading(page, 'A charge failed');
    const browser = await page.context().newCDPSession(page);
    const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
    await browser.detach();
    const picture = Buffer.from(data, 'base64');
    expect(picture.length).toBeGreaterThan(5_000);
    if (folder !== undefined) await writeFile(join(folder, 'subscription.webp'), picture);
  });
});
