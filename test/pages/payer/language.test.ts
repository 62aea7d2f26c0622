// The other language of the pages for payers: nothing that was entered is lost, and the choice survives the payer's bank.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';

describeInBrowser('the language of the checkout', () => {
  let world: CheckoutWorld;

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  test('changes with one click, keeps what was entered, and takes back a tick for the other text', async () => {
    const more = { recurring: 'true', recurringSchedule: 'P1M', recurringAmountRule: 'fixed:29900' };
    const page = await world.open(world.link(await world.invoice(), more));
    await page.locator('#number').pressSequentially('4242424242424242');
    await page.locator('#expiry').fill('12 / 30');
    await page.locator('#code').fill('12');
    await page.locator('#email').fill('payer@example.com');
    await page.locator('#consent').check();
    await page.locator('#pay').click();
    await page.locator('#code-problem:not(:empty)').waitFor();

    await page.getByRole('link', { name: 'Русский' }).click();
    await page.getByRole('button', { name: 'Оплатить' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('ru');
    expect(await page.locator('html').getAttribute('dir')).toBe('ltr');
    expect(await page.locator('#number').inputValue()).toBe('4242 4242 4242 4242');
    expect(await page.locator('#expiry').inputValue()).toBe('12 / 30');
    expect(await page.locator('#code').inputValue()).toBe('12');
    expect(await page.locator('#email').inputValue()).toBe('payer@example.com');
    expect(await page.locator('#consent').isChecked()).toBe(false);
    expect(await page.locator('#consent-text').textContent()).toContain('299,00\u00a0₽ каждый месяц');
    expect(await page.locator('#code-problem').textContent()).toBe('Введите код полностью: 3 цифры');
    expect(await page.locator('.sheet').innerText()).not.toMatch(/Card number|Security|agree|Pay |RUB/);
    expect(page.url()).toContain('locale=ru');

    await page.getByRole('link', { name: 'English' }).click();
    await page.getByRole('button', { name: 'Pay RUB' }).waitFor();
    expect(await page.locator('#number').inputValue()).toBe('4242 4242 4242 4242');
  });

  test('stays after the bank', async () => {
    const page = await world.open(world.link(await world.invoice()));
    await page.getByRole('link', { name: 'Русский' }).click();
    await page.getByRole('button', { name: 'Оплатить' }).waitFor();
    const sent = page.waitForRequest((request) => /\/payments$/.test(request.url()));
    await page.locator('#number').pressSequentially('4242424242424242');
    await page.locator('#expiry').fill('12 / 30');
    await page.locator('#code').fill('123');
    await page.locator('#pay').click();
    const { payer } = (await sent).postDataJSON() as { payer: { sessionInfo: { redirectUrl: string } } };
    expect(payer.sessionInfo.redirectUrl).toContain('locale=ru');
    await page.getByRole('heading', { name: 'Оплачено' }).waitFor();
  });

  test('changes on the page that saves a card', async () => {
    const page = await world.open(world.linkToBind(await world.customer()));
    await page.locator('#number').pressSequentially('4242');
    await page.getByRole('link', { name: 'Русский' }).click();
    await page.getByRole('button', { name: 'Привязать карту' }).waitFor();
    expect(await page.locator('#number').inputValue()).toBe('4242');
    expect(await page.locator('#consent-text').textContent()).toMatch(/^Даю согласие TEST/);
    expect(await page.locator('#product').textContent()).toMatch(/^Чтобы проверить карту/);
  });
});
