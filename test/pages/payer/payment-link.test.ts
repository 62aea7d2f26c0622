// The page of a payment link in a real browser, from the link to the receipt.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { obstacles } from '../accessibility/obstacles.ts';
import {
  desktop,
  phone,
  startCheckoutWorld,
  startShopSite,
  type CheckoutWorld,
  type ShopSite,
} from '../../support/worlds/checkout-world.ts';
import {
  fixedPrice,
  invoicesUrl,
  makeTemplate,
  rangePrice,
  singleLine,
  templatesUrl,
  unlimitedPrice,
} from '../../support/worlds/invoices.ts';

const soon = { timeout: 30_000, interval: 100 };
const challenged = '4012888888881881';
const ranged = { details: singleLine(rangePrice) };

/** A page that submits a form before it has loaded is replaced in the history, and one that does so later is kept. */
const leaveAfterLoading = `
  const submit = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function () {
    addEventListener('load', () => setTimeout(() => submit.call(this)));
  };
`;

describeInBrowser('the page of a payment link', () => {
  let world: CheckoutWorld;
  let shop: ShopSite;
  let page: Page;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    shop = await startShopSite();
    await world.service.database.withClient((client) =>
      client.query('update shop set origins = $1 where party_id = $2', [shop.origin, world.merchant.partyId]),
    );
  });
  afterAll(async () => {
    await world?.close();
    await shop?.stop();
  });
  afterEach(() => world.leave());

  const onward = () => page.locator('#onward');
  const codeAtBank = () => page.frameLocator('iframe.challenge').locator('[name=otp]');
  const plain = async (selector: string) =>
    (await page.locator(selector).innerText()).replaceAll(/[\u00a0\u202f]/g, ' ');
  async function expectText(selector: string, text: string): Promise<void> {
    await expect.poll(() => plain(selector), soon).toBe(text);
  }

  async function open(more: Record<string, unknown>, wishes: Record<string, string> = {}, size = desktop) {
    const template = await makeTemplate(world.service, world.merchant, more);
    const query = new URLSearchParams({ invoiceTemplateID: template.id, locale: 'en', ...wishes });
    const hidden = new URLSearchParams({ invoiceTemplateAccessToken: template.token });
    page = await world.open(`${world.address}/checkout?${query.toString()}#${hidden.toString()}`, size);
    await page.locator('#form:visible, #dead:visible').waitFor();
    return template;
  }
  async function invoicesOf({ id }: { id: string }): Promise<{ amount: number; status: string }[]> {
    const { rows } = await world.service.database.withClient((client) =>
      client.query(
        'select amount_minor as amount, status from invoice where invoice_template_id = $1 order by created_at',
        [id],
      ),
    );
    return rows.map(({ amount, status }) => ({ amount: Number(amount), status }));
  }
  async function pay(where: { locator: Page['locator'] }, card = '4242424242424242'): Promise<void> {
    await where.locator('#number').fill(card);
    await where.locator('#expiry').fill('12/30');
    await where.locator('#code').fill('123');
    await where.locator('#pay').click();
  }

  test('takes an amount within its bounds, makes one invoice by two clicks, and that is paid', async () => {
    const template = await open(ranged, {}, phone);
    expect(await plain('#product')).toBe('Ticket');
    expect(await plain('#bounds')).toBe('From RUB 10.00 to RUB 50.00');
    for (const [amount, problem] of [
      ['', 'Enter an amount'],
      ['1,000', 'Enter an amount such as RUB 10.00'],
      ['9.99', 'Enter RUB 10.00 or more'],
      ['50.01', 'Enter RUB 50.00 or less'],
    ] as const) {
      await page.locator('#sum').fill(amount);
      await onward().click();
      expect([amount, await plain('#sum-problem')]).toEqual([amount, problem]);
      expect(await page.locator('#sum').evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
    }
    expect(await obstacles(page)).toEqual([]);
    expect(await invoicesOf(template)).toEqual([]);

    await page.locator('#sum').fill('25.50');
    await onward().dblclick();
    await page.waitForURL(/invoiceID=/);
    await expectText('#amount', 'RUB 25.50');
    expect(page.url()).not.toMatch(/Token|invoiceTemplate/);
    expect(await invoicesOf(template)).toEqual([{ amount: 2_550, status: 'unpaid' }]);
    await page.reload();
    await expectText('#amount', 'RUB 25.50');
    await pay(page);
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    expect(await invoicesOf(template)).toEqual([{ amount: 2_550, status: 'paid' }]);
  });

  test('keeps the invoice when the payer comes back, and makes another for another amount', async () => {
    const template = await open(ranged);
    await page.locator('#sum').fill('20');
    await page.locator('#sum').press('Enter');
    await expectText('#amount', 'RUB 20.00');
    await page.goBack();
    await expect.poll(() => page.locator('#sum').inputValue(), soon).toBe('20.00');
    await onward().click();
    await page.waitForURL(/invoiceID=/);
    await expectText('#amount', 'RUB 20.00');
    expect(await invoicesOf(template)).toHaveLength(1);
    await page.goBack();
    await expect.poll(() => page.locator('#sum').inputValue(), soon).toBe('20.00');
    await page.locator('#sum').fill('30');
    await onward().click();
    await expectText('#amount', 'RUB 30.00');
    expect((await invoicesOf(template)).map(({ amount }) => amount)).toEqual([2_000, 3_000]);
  });

  test('leads back to a payment in progress, and makes no second invoice', async () => {
    const template = await open(ranged);
    await page.addInitScript(leaveAfterLoading);
    await page.locator('#sum').fill('20');
    await onward().click();
    await page.waitForURL(/invoiceID=/);
    await pay(page, challenged);
    await codeAtBank().waitFor();
    await page.goBack({ waitUntil: 'commit' });
    await page.waitForURL(/invoiceID=/);
    await codeAtBank().waitFor();
    await expectText('#amount', 'RUB 20.00');
    expect(await invoicesOf(template)).toEqual([{ amount: 2_000, status: 'unpaid' }]);
  });

  test('makes no second invoice once the earlier is being paid in another page', async () => {
    const template = await open(ranged);
    await page.locator('#sum').fill('20');
    await onward().click();
    await page.waitForURL(/invoiceID=/);
    const id = new URL(page.url()).searchParams.get('invoiceID') ?? '';
    await page.goBack();
    await expect.poll(() => page.locator('#sum').inputValue(), soon).toBe('20.00');
    const { token: paymentToolToken, session: paymentSession } = await world.tokenize(challenged);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, paymentSession };
    const begun = await world.service.call('POST', `${invoicesUrl}/${id}/payments`, {
      token: world.merchant.apiKey,
      body: {
        flow: { type: 'PaymentFlowInstant' },
        payer: { ...payer, contactInfo: { email: 'a@b.example' } },
      },
    });
    expect(begun.status).toBe(201);
    await page.locator('#sum').fill('30');
    await onward().click();
    await page.waitForURL(/invoiceID=/);
    expect(new URL(page.url()).searchParams.get('invoiceID')).toBe(id);
    await expectText('#amount', 'RUB 20.00');
    expect(await invoicesOf(template)).toEqual([{ amount: 2_000, status: 'unpaid' }]);
  });

  test('shows a cart with its total, and asks for no amount', async () => {
    const cart = [
      { product: 'Chair', quantity: 4, price: 1_000 },
      { product: 'Table', price: 5_000 },
    ];
    const details = { templateType: 'InvoiceTemplateMultiLine', cart, currency: 'RUB' };
    const template = await open({ details, description: 'For the kitchen' });
    expect(await plain('#amount')).toBe('RUB 90.00');
    expect(await page.locator('#sum').isVisible()).toBe(false);
    expect(await plain('#details')).toContain('For the kitchen');
    expect(await plain('#cart')).toContain('Chair × 4');
    expect(await obstacles(page)).toEqual([]);
    await onward().click();
    await page.waitForURL(/invoiceID=/);
    await expectText('#amount', 'RUB 90.00');
    expect(await invoicesOf(template)).toEqual([{ amount: 9_000, status: 'unpaid' }]);
  });

  test('takes the amount that the link names, unless the template does not allow it', async () => {
    const details = singleLine(unlimitedPrice);
    await open({ details }, { amount: '123456' });
    expect(await page.locator('#sum').inputValue()).toBe('1234.56');
    expect(await page.locator('#sum').isEditable()).toBe(false);
    expect(await plain('#bounds')).toBe('');
    await open(ranged, { amount: '999' });
    expect(await page.locator('#sum').inputValue()).toBe('');
    expect(await page.locator('#sum').isEditable()).toBe(true);
  });

  test('says in Russian what it says in English, and breaks no accessibility rule', async () => {
    await open(ranged, { locale: 'ru', name: 'Театр' }, phone);
    await page.locator('#sum').fill('5');
    await onward().click();
    expect(await plain('#sum-problem')).toBe('Введите сумму не меньше 10,00 ₽');
    expect(await plain('#bounds')).toBe('От 10,00 ₽ до 50,00 ₽');
    expect(await obstacles(page, { themes: ['coral'] })).toEqual([]);
  });

  test('has a link to the other language, also in a frame that keeps nothing', async () => {
    await open(ranged);
    await page.evaluate('sessionStorage.clear()');
    await page.locator('#sum').fill('12.50');
    await page.getByRole('link', { name: 'Русский' }).click();
    await expectText('#bounds', 'От 10,00 ₽ до 50,00 ₽');
    expect(await page.locator('#sum').inputValue()).toBe('12,50');
    await page.locator('#sum').fill('about 20');
    await page.getByRole('link', { name: 'English' }).press('Enter');
    await expectText('#bounds', 'From RUB 10.00 to RUB 50.00');
    expect(await page.locator('#sum').inputValue()).toBe('about 20');
    await page.getByRole('link', { name: 'Русский' }).press('Enter');
    await expectText('#bounds', 'От 10,00 ₽ до 50,00 ₽');
    expect(await plain('label[for=sum]')).toBe('Сумма, ₽');
    expect(page.url()).not.toMatch(/Token/);
  });

  test('says that a deleted template or an incomplete link no longer works', async () => {
    const template = await open({});
    const token = world.merchant.apiKey;
    await world.service.call('DELETE', `${templatesUrl}/${template.id}`, { token });
    await onward().click();
    const dead = page.getByRole('heading', { name: 'This link no longer works' });
    await dead.waitFor();
    expect(await obstacles(page)).toEqual([]);
    for (const query of [`invoiceTemplateID=${template.id}`, 'invoiceTemplateID=unknown']) {
      page = await world.open(`${world.address}/checkout?${query}`);
      await page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    }
  });

  test('says what went wrong, and the next click works', async () => {
    const template = await open({});
    const banner = () => page.locator('#message').textContent();
    const invoices = '**/invoices';
    await page.route(invoices, (route) => route.abort());
    await onward().click();
    await expect.poll(banner, soon).toContain('could not be reached');
    await page.unroute(invoices);
    await page.route(invoices, (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '600' }, body: '{}' }),
    );
    await onward().click();
    await expect
      .poll(banner, soon)
      .toContain('Too many attempts. Nothing was charged. Try again in 10 minutes.');
    await page.unroute(invoices);

    const token = world.merchant.apiKey;
    const body = { details: singleLine({ ...fixedPrice, amount: 7_000 }) };
    await world.service.call('PUT', `${templatesUrl}/${template.id}`, { token, body });
    await onward().click();
    await expect.poll(banner, soon).toContain('has just changed what this costs');
    expect(await plain('#amount')).toBe('RUB 70.00');
    expect(await invoicesOf(template)).toEqual([]);
    await onward().click();
    await page.waitForURL(/invoiceID=/);
    expect(await invoicesOf(template)).toEqual([{ amount: 7_000, status: 'unpaid' }]);
  });

  test.each(['frame', 'window'])(
    'in a %s of a shop reports once that it is open, and that it is paid',
    async (kind) => {
      const { id, token } = await makeTemplate(world.service, world.merchant, ranged);
      const options = {
        invoiceTemplateID: id,
        invoiceTemplateAccessToken: token,
        amount: 1_500,
        email: 'payer@example.com',
        locale: 'en',
        popupMode: kind === 'window',
      };
      shop.pages['/'] = `<!doctype html><title>Shop</title><h1>Shop</h1>
      <button id="buy" onclick="checkout.open()">Buy</button><script src="${world.address}/checkout.js"></script>
      <script>
        window.reported = [];
        window.checkout = MandateCheckout.configure({
          ...${JSON.stringify(options)},
          opened: () => reported.push('opened'), finished: () => reported.push('finished'),
        });
      </script>`;
      const site = await world.open(`${shop.origin}/`);
      const popup = kind === 'window' ? site.waitForEvent('popup') : undefined;
      await site.locator('#buy').click();
      const where = (await popup) ?? site.frameLocator('dialog iframe');
      await where.locator('#onward').click();
      await where.locator('#amount').getByText('RUB 15.00').waitFor();
      expect(await where.locator('#email').inputValue()).toBe('payer@example.com');
      await pay(where);
      await where.getByRole('heading', { name: 'Paid' }).waitFor();
      await expect
        .poll(() => site.evaluate<string[]>('window.reported'), soon)
        .toEqual(['opened', 'finished']);
    },
  );
});
