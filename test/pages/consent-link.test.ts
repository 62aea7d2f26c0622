// The page of a consent link in a real browser, against a whole service and a simulated bank.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../support/processes/browser.ts';
import {
  desktop,
  startCheckoutWorld,
  tickBeforeScripts,
  type CheckoutWorld,
} from '../support/worlds/checkout-world.ts';
import { consentLinkWorld, type MadeLink } from '../support/worlds/consent-links.ts';
import { recurringWorld, type RecurringWorld } from '../support/worlds/recurring.ts';
import { invoicesUrl } from '../support/worlds/invoices.ts';
import { narrowPhone, obstacles } from './accessibility/obstacles.ts';

const challenged = '4012888888881881';
const soon = { timeout: 30_000, interval: 100 };

describeInBrowser('the page of a consent link', () => {
  let world: CheckoutWorld;
  let recurring: RecurringWorld;
  let links: ReturnType<typeof consentLinkWorld>;
  let page: Page;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    recurring = recurringWorld(world);
    links = consentLinkWorld(world);
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  const bank = () => page.frameLocator('iframe.challenge');
  async function expectHeading(text: string): Promise<void> {
    await expect.poll(() => page.locator('h2:visible').textContent(), soon).toBe(text);
  }
  async function newSeries(): Promise<string> {
    const token = world.merchant.apiKey;
    const { invoiceID } = await recurring.parent(challenged);
    const paying = { id: invoiceID, token };
    const types = async () => (await world.changes(paying)).map(({ changeType }) => changeType);
    await expect.poll(types, soon).toContain('PaymentInteractionRequested');
    await world.authenticate(paying, 'confirm');
    const url = `${invoicesUrl}/${invoiceID}/payments/1/recurring`;
    let seriesID: string | undefined;
    // Another job can hold the payment for a moment, so the payment ends at some later time.
    const find = async () => (seriesID = (await world.service.call('GET', url, { token })).body.seriesID);
    await expect.poll(find, soon).toBeDefined();
    return seriesID ?? '';
  }
  const statusOf = async (link: MadeLink): Promise<string> => (await links.read(link)).status;
  async function answer(where: ReturnType<typeof bank> | Page, decision: string): Promise<void> {
    await where.getByLabel('Code from your bank').fill('1234');
    await where.getByRole('button', { name: decision }).click();
  }

  test('lets a payer compare, tick and confirm the new amount, and has nothing in their way', async () => {
    const link = await links.made(await newSeries());
    page = await world.open(world.address + link.path);
    const cells = await page.locator('.terms tbody tr').first().innerText();
    expect(cells.replaceAll('\u00a0', ' ')).toBe('Amount\tas agreed with the shop\tRUB 599.00');

    const box = page.getByRole('checkbox', { name: 'on the new terms' });
    expect(await box.isChecked()).toBe(false);
    await page.locator('#agree').click();
    await page.getByText('Tick the box if you agree').waitFor();
    expect(await obstacles(page, {})).toEqual([]);
    // A script cannot agree.
    await box.evaluate((element) => (element as unknown as { click(): void }).click());
    expect(await box.isChecked()).toBe(false);
    expect(await statusOf(link)).toBe('open');

    await box.check();
    await page.locator('#agree').click();
    await expectHeading('Confirm with your bank');
    expect((await bank().locator('main').innerText()).replaceAll('\u00a0', ' ')).toContain('RUB 599.00');
    await page.locator('#leave').click();
    await expectHeading('Not confirmed yet');
    await page.locator('#resume').click();
    await answer(bank(), 'Confirm');
    await expectHeading('You have agreed to the new terms');
    expect(await statusOf(link)).toBe('done');
    expect(await obstacles(page, {})).toEqual([]);
    await page.reload();
    await expectHeading('You have agreed to the new terms');
  });

  test('has a link to the other language, in which the payer can agree', async () => {
    const link = await links.made(await newSeries());
    page = await world.open(world.address + link.path);
    await page.locator('#consent').check();
    await page.getByRole('link', { name: 'Русский' }).click();
    await page.getByRole('heading', { name: 'Новые условия: TEST' }).waitFor();
    expect(await page.locator('#consent').isChecked(), 'of another text').toBe(false);
    await page.locator('#consent').check();
    await page.locator('#agree').click();
    await answer(bank(), 'Confirm');
    await expectHeading('Вы согласились на новые условия');
    await page.getByRole('link', { name: 'English' }).click();
    await expectHeading('You have agreed to the new terms');
  });

  test('says that nothing has changed when the bank does not confirm, and needs a new tick', async () => {
    const link = await links.made(await newSeries(), { language: 'ru' });
    page = await world.open(world.address + link.path, narrowPhone);
    await page.locator('#consent').check();
    await page.locator('#agree').click();
    await answer(bank(), 'Refuse');
    await expect.poll(() => page.locator('#message').textContent(), soon).toContain('Ничего не изменилось');
    expect(await page.locator('#consent').isChecked()).toBe(false);
    expect(await obstacles(page, { sizes: [narrowPhone] })).toEqual([]);
    expect(await statusOf(link)).toBe('open');
  });

  test('takes a tick back that is older than its script', async () => {
    const link = await links.made(await newSeries());
    page = await world.open(world.address + link.path, desktop, tickBeforeScripts);
    expect(await page.evaluate('document.querySelector("#consent").wasTicked')).toBe(true);
    expect(await page.locator('#consent').isChecked()).toBe(false);
    await page.locator('#agree').click();
    await page.getByText('Tick the box if you agree').waitFor();
    expect(await statusOf(link)).toBe('open');
  });

  test('returns from a bank’s page that took the window, and says that an old link has ended', async () => {
    const series = await newSeries();
    const link = await links.made(series);
    const cancelled = await links.made(series);
    await links.cancel(cancelled);
    page = await world.open(world.address + link.path);
    await page.locator('#consent').check();
    await page.locator('#agree').click();
    await bank().getByLabel('Code from your bank').waitFor();
    await page.locator('#elsewhere').click();
    await answer(page, 'Confirm');
    await page.waitForURL(world.address + link.path);
    await expectHeading('You have agreed to the new terms');

    await page.goto(world.address + cancelled.path);
    await expectHeading('There is nothing to agree to any more');
    await page.goto(`${world.address}${link.path}x`);
    await expectHeading('Link not found');
    await page.goto(`${world.address}/consent/heard`);
    await expectHeading('Your bank has replied');
  });
});
