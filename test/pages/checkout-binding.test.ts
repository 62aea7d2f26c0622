// The checkout that saves cards, in a real browser, against a whole service and a simulated bank.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../support/processes/browser.ts';
import {
  desktop,
  phone,
  startCheckoutWorld,
  type CheckoutWorld,
  type CreatedCustomer,
} from '../support/worlds/checkout-world.ts';

const frictionless = '4242424242424242';
const challenged = '4012888888881881';
const soon = { timeout: 30_000, interval: 100 };
const maxBindings = 3;

describeInBrowser('the checkout for customers', () => {
  let world: CheckoutWorld;
  let page: Page;

  beforeAll(async () => {
    world = await startCheckoutWorld(undefined, { BINDINGS_PER_CUSTOMER_PER_DAY: String(maxBindings) });
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  const box = () => page.getByRole('checkbox', { name: 'keeps this card on file' });
  const bank = () => page.frameLocator('iframe.challenge');
  const heading = () => page.locator('h2:visible');
  async function expectHeading(text: string): Promise<void> {
    await expect.poll(() => heading().textContent(), soon).toBe(text);
  }
  async function expectBanner(text: string): Promise<void> {
    await expect.poll(() => page.locator('#message').textContent(), soon).toContain(text);
  }

  async function openNew(more: Record<string, string> = {}, viewport = desktop): Promise<CreatedCustomer> {
    const customer = await world.customer();
    page = await world.open(world.linkToBind(customer, more), viewport);
    return customer;
  }
  async function enter(card: string): Promise<void> {
    await page.locator('#number').fill(card);
    await page.locator('#expiry').fill('12/30');
    await page.locator('#code').fill('123');
  }
  async function bind(card: string): Promise<void> {
    await enter(card);
    await page.locator('#consent').check();
    await page.locator('#pay').click();
  }
  async function answer(where: ReturnType<typeof bank> | Page, decision: string): Promise<void> {
    await where.getByLabel('Code from your bank').fill('1234');
    await where.getByRole('button', { name: decision }).click();
  }
  const ask = async (customer: CreatedCustomer, path = '') =>
    (
      await world.service.call('GET', `/v2/processing/customers/${customer.id}${path}`, {
        token: world.merchant.apiKey,
      })
    ).body;
  const bindingsOf = async (customer: CreatedCustomer): Promise<[string, string, boolean][]> =>
    (await ask(customer, '/bindings')).map(({ status, isActive, paymentResource }: any) => [
      paymentResource.paymentToolDetails.lastDigits,
      status,
      isActive,
    ]);

  test('saves a card once the payer ticks the box, and keeps the text they agreed to', async () => {
    const terms = { recurringSchedule: 'P1M', recurringUntil: '2030-12-31' };
    const customer = await openNew({ name: 'Bean & Leaf', ...terms });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(new URL(request.url()).pathname);
    });
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Save a card for later');
    const sum = 'RUB\u00a010.00';
    expect(await page.locator('#product').textContent()).toContain(
      `we charge ${sum} and refund it immediately`,
    );
    expect(await box().isChecked()).toBe(false);
    await enter(frictionless);
    await page.locator('#pay').click();
    await page.getByText('Tick the box if you agree').waitFor();
    await box().evaluate((element) => (element as unknown as { click(): void }).click());
    await page.locator('#pay').click();
    expect(await box().isChecked()).toBe(false);
    expect(asked).toEqual([]);
    expect(await bindingsOf(customer)).toEqual([]);

    await box().check();
    const sentence = await page.locator('.consent label').innerText();
    const howToStop = await page.locator('#consent-stop').innerText();
    await page.locator('#pay').click();
    await expectHeading('The card is saved');
    expect(await page.locator('#done-lead').textContent()).toBe(
      `Thank you. ${sum} is being refunded to your card.`,
    );
    const path = '/v2/processing';
    expect(asked).toEqual([`${path}/payment-resources`, `${path}/customers/${customer.id}/bindings`]);
    const receipt = await page.locator('#receipt').innerText();
    for (const part of ['Bean & Leaf', 'Visa •••• 4242']) expect(receipt).toContain(part);
    expect((await ask(customer)).status).toBe('ready');
    expect(await bindingsOf(customer)).toEqual([['4242', 'succeeded', true]]);
    expect(await agreementOf(customer)).toMatchObject({
      schedule: 'P1M',
      validUntil: '2030-12-31',
      consent: { ticked: true, locale: 'en', text: `${sentence}\n${howToStop}` },
    });
  });

  // The other tests are challenged by POST.
  test('shows a challenge by GET in a frame, then saves the card', async () => {
    const customer = await openNew();
    await bind('4556724110260093');
    await expectHeading('Confirm with your bank');
    await answer(bank(), 'Confirm');
    await expectHeading('The card is saved');
    expect(await bindingsOf(customer)).toEqual([['0093', 'succeeded', true]]);
  });

  test('saves no card after a refused challenge, and accepts another card', async () => {
    const customer = await openNew();
    await bind(challenged);
    await answer(bank(), 'Refuse');
    await expectBanner('not confirmed with your bank and is not saved');
    expect((await ask(customer)).status).toBe('unready');
    await bind('4000000000000002');
    await expectBanner('The card could not be saved');
    await page.locator('#number').fill(frictionless);
    await page.locator('#code').fill('123');
    await page.locator('#pay').click();
    await expectHeading('The card is saved');
    expect(await bindingsOf(customer)).toEqual([
      ['1881', 'failed', false],
      ['0002', 'failed', false],
      ['4242', 'succeeded', true],
    ]);
  });

  test('opens a challenge in the whole window, and returns', async () => {
    const customer = await openNew({ locale: 'ru', theme: 'coral' }, phone);
    await bind(challenged);
    await bank().getByLabel('Code from your bank').waitFor();
    await page.locator('#elsewhere').click();
    await answer(page, 'Confirm');
    await expectHeading('Карта привязана');
    expect(page.url()).toContain(`${world.address}/checkout?customerID=${customer.id}`);
    expect(page.url()).not.toContain('AccessToken');
  });

  test('still shows the saved card after a reload, and a form when opened for another', async () => {
    const customer = await openNew();
    await bind(frictionless);
    await expectHeading('The card is saved');
    await page.reload();
    await expectHeading('The card is saved');
    expect(await page.locator('#receipt').innerText()).toContain('Visa •••• 4242');
    page = await world.open(world.linkToBind(customer));
    await page.locator('#form').waitFor();
    expect(await bindingsOf(customer)).toHaveLength(1);
  });

  test('resumes a challenge after a reload, or after “Not now”', async () => {
    const customer = await openNew();
    await bind(challenged);
    await bank().getByLabel('Code from your bank').waitFor();
    expect(await (await page.request.get(world.linkToBind(customer))).text()).toContain(
      'data-view="loading"',
    );
    await page.reload();
    await bank().getByLabel('Code from your bank').waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await expectHeading('Your card is waiting');
    await page.getByRole('button', { name: 'Confirm now' }).click();
    await answer(bank(), 'Confirm');
    await expectHeading('The card is saved');
    expect(await bindingsOf(customer)).toHaveLength(1);
  });

  test('charges the second card once a customer saves another', async () => {
    const customer = await openNew();
    await bind(frictionless);
    await expectHeading('The card is saved');
    await page.goto(world.linkToBind(customer));
    await bind('5555555555554444');
    await expectHeading('The card is saved');
    expect(await bindingsOf(customer)).toEqual([
      ['4242', 'succeeded', false],
      ['4444', 'succeeded', true],
    ]);
    const invoice = await world.invoice();
    const { status } = await world.service.call('POST', `/v1/processing/invoices/${invoice.id}/payments`, {
      token: world.merchant.apiKey,
      body: { payer: { payerType: 'CustomerPayer', customerID: customer.id } },
    });
    expect(status).toBe(201);
    await world.service.jobs.whenIdle();
    expect((await world.payment(invoice)).status).toBe('captured');
  });

  test('a card saved in another window does not disturb a challenge in this one', async () => {
    const customer = await openNew();
    const first = page;
    const second = await world.openAlone('about:blank');
    // Without the first binding it shows a form, and with it the challenge.
    const heard = second.waitForResponse('**/events*');
    await second.goto(world.linkToBind(customer));
    await heard;
    await bind(challenged);
    await bank().getByLabel('Code from your bank').fill('1234');
    page = second;
    await bind(frictionless);
    await expectHeading('The card is saved');
    expect(await page.locator('#receipt').innerText()).toContain('Visa •••• 4242');
    page = first;
    // Wait for two polls of the events.
    for (let times = 0; times < 2; times++) await page.waitForResponse('**/events*');
    await bank().getByRole('button', { name: 'Confirm' }).click();
    await expectHeading('The card is saved');
    expect(await page.locator('#receipt').innerText()).toContain('Visa •••• 1881');
    expect((await bindingsOf(customer)).map(([digits, status]) => [digits, status])).toEqual([
      ['1881', 'succeeded'],
      ['4242', 'succeeded'],
    ]);
  });

  test('sends the card once although the response is lost', async () => {
    const customer = await openNew();
    let turns = 0;
    await page.route('**/bindings', async (route) => {
      if (++turns > 1) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await bind(frictionless);
    await expectHeading('The card is saved');
    expect(turns).toBe(2);
    expect(await bindingsOf(customer)).toHaveLength(1);
  });

  test('asks the payer to keep the page open until the card is sent', async () => {
    await openNew({ locale: 'ru' });
    let isAway = true;
    await page.route('**/bindings', (route) =>
      isAway ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
    );
    await bind(frictionless);
    await expect
      .poll(() => page.locator('#waiting-lead').textContent(), soon)
      .toBe('Мы всё ещё пытаемся отправить данные карты. Не закрывайте страницу.');
    isAway = false;
    await expectHeading('Карта привязана');
  });

  test('refuses a payer who tries too many cards', async () => {
    await openNew();
    for (let turn = 0; turn < maxBindings; turn++) {
      await bind('4000000000000002');
      await expectBanner('could not be saved');
    }
    await bind('4000000000000002');
    await expectBanner('Too many attempts. Nothing was charged.');
  });

  test('shows a dead link after the customer is deleted', async () => {
    const customer = await openNew();
    await enter(frictionless);
    await page.locator('#consent').check();
    await world.service.call('DELETE', `/v2/processing/customers/${customer.id}`, {
      token: world.merchant.apiKey,
    });
    // The button shows it, unless a poll did before.
    await page.locator('#pay').dispatchEvent('click');
    await expectHeading('This link no longer works');
  });

  test('the bank’s report agrees at the end: every verification charge is refunded', async () => {
    await world.service.jobs.whenIdle();
    expect(await world.differences()).toEqual([]);
  });

  /** The stored terms of the binding; no API returns them. */
  async function agreementOf({ id }: CreatedCustomer): Promise<unknown> {
    const { rows } = await world.service.database.withClient((client) =>
      client.query(`select terms -> 'recurrentTerms' as agreed from binding where customer_id = $1`, [id]),
    );
    return rows[0]?.agreed;
  }
});
