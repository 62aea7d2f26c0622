// The saved card of a known customer on the checkout, in a real browser.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import {
  desktop,
  phone,
  startCheckoutWorld,
  type CheckoutWorld,
} from '../../support/worlds/checkout-world.ts';
import { narrowPhone, obstacles } from '../accessibility/obstacles.ts';

const frictionless = '4242424242424242';
const challenged = '4012888888881881';
const soon = { timeout: 30_000, interval: 100 };
type Known = { readonly id: string; readonly token: string };

describeInBrowser('the saved card of a customer', () => {
  let world: CheckoutWorld;
  let page: Page;
  beforeAll(async () => {
    world = await startCheckoutWorld();
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  async function ready(card = frictionless): Promise<Known> {
    const customer = await world.customer();
    const url = `/v2/processing/customers/${customer.id}`;
    const { token: paymentToolToken, session } = await world.tokenize(card, customer.token);
    const paymentResource = { paymentToolToken, paymentSession: session };
    await world.service.call('POST', `${url}/bindings`, { token: customer.token, body: { paymentResource } });
    await world.service.jobs.whenIdle();
    return customer;
  }

  async function open(customer: Known, more: Record<string, string> = {}, size = desktop, of?: Known) {
    const invoice = of ?? (await world.invoice());
    const wishes = { customerID: customer.id, locale: 'en', ...more };
    const hidden = new URLSearchParams({ customerAccessToken: customer.token }).toString();
    page = await world.open(`${world.link(invoice, wishes)}#${hidden}`, size);
    await page.locator('#pay:visible').waitFor();
    return invoice;
  }
  async function heading(text: string): Promise<void> {
    await expect.poll(() => page.locator('h2:visible').textContent(), soon).toBe(text);
  }
  const payments = async ({ id }: Known) =>
    (
      await world.service.call('GET', `${invoicesUrl}/${id}/payments`, { token: world.merchant.apiKey })
    ).body.map(({ status, payer }: any) => [
      status,
      payer.payerType,
      payer.customerID,
      payer.paymentToolDetails.lastDigits,
    ]);
  const offered = () => page.locator('#saved-text:visible');

  test('is named and pays, without its details', async () => {
    const customer = await ready();
    const invoice = await open(customer);
    await offered().waitFor();
    expect(await offered().textContent()).toBe('You pay with your saved card: Visa\u00a0••••\u00a04242');
    expect(await page.locator('#number').isVisible()).toBe(false);
    expect(page.url()).not.toMatch(/Token/);
    await page.locator('#pay').click();
    await heading('Paid');
    expect(await page.locator('#receipt').innerText()).toContain('Visa •••• 4242');
    expect(await payments(invoice)).toEqual([['captured', 'CustomerPayer', customer.id, '4242']]);
  });

  test('does not move the focus of a payer who is about to type to the button that pays', async () => {
    const customer = await ready();
    const invoice = await open(customer);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const ofCustomers = '**/v2/processing/customers/**';
    await page.route(ofCustomers, async (route) => {
      await held;
      await route.continue();
    });
    await open(customer, {}, desktop, invoice);
    await page.locator('#number').focus();
    release();
    await offered().waitFor();
    expect(await page.locator('#saved-switch').evaluate('document.activeElement.id')).toBe('saved-switch');
    await page.unroute(ofCustomers);
  });

  test('gives way to another card, and is offered again, in both languages', async () => {
    const customer = await ready();
    const invoice = await open(customer, {}, phone);
    await page.getByRole('button', { name: 'Use another card' }).click();
    expect(await page.locator('#number').evaluate('document.activeElement.id')).toBe('number');
    await page.getByRole('link', { name: 'Русский' }).click();
    await page.getByRole('button', { name: 'Оплатить картой Visa •••• 4242' }).click();
    expect(await offered().textContent()).toBe('Оплата сохранённой картой: Visa\u00a0••••\u00a04242');
    expect(await obstacles(page, { sizes: [narrowPhone] })).toEqual([]);
    await page.getByRole('button', { name: 'Другая карта' }).click();
    await page.locator('#number').fill('5555555555554444');
    await page.locator('#expiry').fill('1230');
    await page.locator('#code').fill('123');
    await page.locator('#pay').click();
    await heading('Оплачено');
    expect(await payments(invoice)).toMatchObject([['captured', 'PaymentResourcePayer', undefined, '4444']]);
  });

  test('is confirmed with the bank if that asks', async () => {
    const customer = await ready(challenged);
    const token = world.merchant.apiKey;
    const events = `/v2/processing/customers/${customer.id}/events?limit=100`;
    const changes = (await world.service.call('GET', events, { token })).body.flatMap(
      (one: any) => one.changes,
    );
    const asked = changes.find((one: any) => one.changeType === 'CustomerBindingInteractionRequested');
    await world.decideAtIssuer(asked.userInteraction.request, 'confirm');
    await world.service.call('GET', `/payer/return/customers/${customer.id}/${asked.customerBindingID}`);
    await world.service.jobs.whenIdle();

    const invoice = await open(customer);
    await offered().waitFor();
    await page.locator('#pay').click();
    await heading('Confirm with your bank');
    const bank = page.frameLocator('iframe.challenge');
    await bank.getByLabel('Code from your bank').fill('1234');
    await bank.getByRole('button', { name: 'Confirm' }).click();
    await heading('Paid');
    expect(await payments(invoice)).toMatchObject([['captured', 'CustomerPayer', customer.id, '1881']]);
  });

  test('that was removed meanwhile gives way to a card that is entered', async () => {
    const customer = await ready();
    await open(customer);
    await offered().waitFor();
    await world.service.call('DELETE', `/v2/processing/customers/${customer.id}`, {
      token: world.merchant.apiKey,
    });
    await page.locator('#pay').click();
    await page.getByText('The saved card cannot be used at the moment').waitFor();
    expect(await page.locator('#saved').isVisible()).toBe(false);
    expect(await page.locator('#number').isVisible()).toBe(true);
  });

  test('is shown to no other payer, and for no other shop or payment', async () => {
    const customer = await ready();
    const unready = await world.customer();
    const stranger = await world.service.createMerchant();
    const foreign = await makeInvoice(world.service, stranger);
    const notShown: readonly [string, Known, Record<string, string>, Known?][] = [
      ['another customer’s token', { ...customer, token: unready.token }, {}],
      ['no saved card', unready, {}],
      ['an unknown token', { ...customer, token: 'x.e30.x' }, {}],
      ['another party’s shop of the same name', customer, {}, foreign],
      ['a payment that saves a card', customer, { recurring: 'true' }],
    ];
    for (const [what, known, more, of] of notShown) {
      await open(known, more, desktop, of);
      await expect.poll(() => page.locator('#saved').count(), soon).toBe(0);
      expect(await page.locator('#number').isVisible(), what).toBe(true);
    }
  });
});
