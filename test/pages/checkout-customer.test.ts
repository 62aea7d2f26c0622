// Binding a card at the checkout, in a real browser, with the real service and the page of the simulated issuer.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../support/browser.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../support/checkout-world.ts';
import { invoicesUrl } from '../support/invoices.ts';

const customersUrl = '/v2/processing/customers';

describeInBrowser('a customer at the checkout', () => {
  let world: CheckoutWorld;
  let token: string;
  beforeAll(async () => {
    world = await startCheckoutWorld();
    token = world.merchant.apiKey;
  }, 60_000);
  afterAll(() => world.close());
  afterEach(() => world.requireNoComplaints());

  async function newCustomer(): Promise<{ id: string; token: string }> {
    const body = { shopID: 'TEST', contactInfo: { email: 'payer@example.com' } };
    const { body: made } = await world.service.call('POST', customersUrl, { token, body });
    return { id: made.customer.id, token: made.customerAccessToken.payload };
  }

  const link = (customer: { id: string; token: string }) =>
    `${world.address}/checkout?customerID=${customer.id}#customerAccessToken=${customer.token}`;
  const open = (customer: { id: string; token: string }) => {
    const query = new URLSearchParams({ customerID: customer.id, customerAccessToken: customer.token });
    return world.open(`${world.address}/checkout?${query.toString()}`);
  };
  const statusOf = async ({ id }: { id: string }) =>
    (await world.service.call('GET', `${customersUrl}/${id}`, { token })).body.status;

  async function enter(page: Page, number: string): Promise<void> {
    await page.locator('#number').fill(number);
    await page.locator('#expiry').fill('12/30');
    await page.locator('#code').fill('123');
    const box = page.getByRole('checkbox');
    if ((await box.count()) > 0) await box.first().check();
    await page.locator('#pay').click();
  }

  test(
    'binds a card that asks for nothing, is ready, and is charged without being there',
    { timeout: 60_000 },
    async () => {
      const customer = await newCustomer();
      const page = await open(customer);
      await enter(page, '4242 4242 4242 4242');
      await page.getByRole('heading', { name: 'The card is saved' }).waitFor({ timeout: 20_000 });
      expect(await statusOf(customer)).toBe('ready');

      const invoice = await world.invoice();
      const body = { payer: { payerType: 'CustomerPayer', customerID: customer.id } };
      const url = `${invoicesUrl.replace('v2', 'v1')}/${invoice.id}/payments`;
      expect((await world.service.call('POST', url, { token: invoice.token, body })).status).toBe(201);
      await world.service.engine.settled();
      expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
    },
  );

  test.each(['4012888888881881', '4556724110260093'])(
    'binds the card %s on the page of its issuer',
    { timeout: 90_000 },
    async (card) => {
      const customer = await newCustomer();
      const page = await open(customer);
      await enter(page, card);
      const issuer = await issuerOf(page, world.bank.url);
      await issuer.locator('input[name="otp"]').fill('1234', { timeout: 20_000 });
      await issuer.locator('button[value="confirm"]').click();
      await page.getByRole('heading', { name: 'The card is saved' }).waitFor({ timeout: 30_000 });
      expect(await statusOf(customer)).toBe('ready');
    },
  );

  test('is nobody’s page without his token, and none at all for somebody who is not there', async () => {
    const customer = await newCustomer();
    const { status } = await fetch(`${world.address}/checkout?customerID=nobody&customerAccessToken=x`).then(
      (answer) => ({ status: answer.status }),
    );
    expect(status).toBe(404);
    expect((await fetch(link(customer))).status).toBe(200);
    const wrong = `${world.address}/checkout?customerID=${customer.id}&customerAccessToken=x`;
    expect((await fetch(wrong)).status).toBe(404);
  });

  test('in the end the bank’s book agrees: no test charge was kept', async () => {
    expect(await world.differences()).toEqual([]);
  });
});

/** The frame the issuer's page is in, or the page itself where it went there. */
async function issuerOf(page: Page, bankUrl: string) {
  await expect
    .poll(() => page.frames().some((frame) => frame.url().startsWith(bankUrl)), { timeout: 20_000 })
    .toBe(true);
  const frame = page.frames().find((each) => each.url().startsWith(bankUrl));
  if (!frame) throw new Error('the page of the issuer is gone');
  return frame;
}
