// The page on which a payer ends recurring charges, in a browser.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import {
  desktop,
  phone,
  startCheckoutWorld,
  type CheckoutWorld,
} from '../../support/worlds/checkout-world.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';
import { narrowPhone, obstacles } from '../accessibility/obstacles.ts';

const terms = { schedule: 'P1M', validUntil: '2027-12-31', amountRule: { kind: 'fixed', amount: 29900 } };
const sizes = [narrowPhone, phone, desktop];

describeInBrowser('the page that ends recurring charges', () => {
  let world: CheckoutWorld;

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  const paymentUrl = (invoiceID: string) => `${invoicesUrl}/${invoiceID}/payments/1`;
  const read = async (path: string) =>
    (await world.service.call('GET', path, { token: world.merchant.apiKey })).body;

  async function started() {
    const more = { product: 'Coffee <club>', makeRecurrent: true, recurrentTerms: terms };
    const { invoiceID } = await recurringWorld(world).parent('4242424242424242', more);
    const { text } = await read(`${paymentUrl(invoiceID)}/receipt`);
    const state = async () => (await read(`${paymentUrl(invoiceID)}/recurring`)).status;
    return { link: /open (\S+)/.exec(text)?.[1] ?? '', state };
  }

  test('says what is charged, keeps it, and ends it', async () => {
    const { link, state } = await started();
    const page = await world.open(link);
    const head = page.locator('h1');
    expect(await page.locator('.shop').textContent()).toBe('TEST');
    expect(await head.textContent()).toBe('End the charges by TEST?');
    expect(await page.locator('dt').allInnerTexts()).toEqual(['For', 'Amount', 'How often', 'Valid', 'Card']);
    expect(await page.locator('dd').allInnerTexts()).toEqual([
      'Coffee <club>',
      'RUB\u00a0299.00',
      'every month',
      'until December 31, 2027',
      'Visa •••• 4242',
    ]);
    expect(await obstacles(page, { sizes })).toEqual([]);
    await page.getByRole('link', { name: 'Русский' }).click();
    await page.getByRole('button', { name: 'Прекратить списания' }).waitFor();
    await page.getByRole('link', { name: 'English' }).click();

    await page.getByRole('link', { name: 'Keep it' }).click();
    await page.getByRole('heading', { name: 'Nothing has changed' }).waitFor();
    await page.getByRole('link', { name: 'Русский' }).click();
    await page.getByRole('heading', { name: 'Ничего не изменилось' }).waitFor();
    await page.getByRole('link', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Nothing has changed' }).waitFor();
    expect(await obstacles(page, { sizes })).toEqual([]);
    expect(await state()).toBe('active');

    await page.getByRole('link', { name: 'after all' }).click();
    await page.getByRole('button', { name: 'End recurring charges' }).click();
    await page.getByRole('heading', { name: 'Ended' }).waitFor();
    expect(await obstacles(page, { sizes })).toEqual([]);
    expect(await state()).toBe('withdrawn');
    await page.goto(`${link}?kept=true`);
    await page.getByRole('heading', { name: 'Ended' }).waitFor();
  });

  test('fits the narrowest phone in Russian, also with a link that is cut', async () => {
    const { link } = await started();
    const page = await world.openAlone(link, { locale: 'ru-RU', viewport: narrowPhone });
    await page.getByRole('heading', { name: 'Прекратить списания в пользу TEST?' }).waitFor();
    expect(await obstacles(page, { sizes })).toEqual([]);
    await page.goto(link.slice(0, -2));
    await page.getByRole('heading', { name: 'Ссылка не найдена' }).waitFor();
    expect(await obstacles(page, { sizes })).toEqual([]);
    await page.getByRole('link', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Link not found' }).waitFor();
  });
});
