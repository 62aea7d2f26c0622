// The demo shop and its mailbox: each kind of order, from the payer's side and the shop's.
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { epochMsOf } from '../../src/clock.ts';
import { addDemoShop } from '../../src/sandbox/demo/demo-shop.ts';
import { describeInBrowser } from '../support/processes/browser.ts';
import { desktop, startCheckoutWorld, type CheckoutWorld } from '../support/worlds/checkout-world.ts';
import { recurringWorld } from '../support/worlds/recurring.ts';
import { startTestService } from '../support/service/test-service.ts';
import { obstacles } from './accessibility/obstacles.ts';

const shopSizes = [{ width: 360, height: 780 }, { width: 768, height: 1024 }, desktop];
const soon = { timeout: 30_000, interval: 100 };

describeInBrowser('the demo shop', () => {
  let world: CheckoutWorld;
  let page: Page;

  beforeAll(async () => {
    world = await startCheckoutWorld(({ app }) =>
      addDemoShop(app, {
        apiKey: () => world.merchant.apiKey,
        shopId: 'TEST',
        url: () => world.address,
        nowMs: () => epochMsOf(world.service.clock.now()),
      }),
    );
    world.service.webhooks.start();
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  /** A tab keeps its story, and a browser its orders, so each test begins without. */
  async function visit(): Promise<void> {
    page = await world.open(`${world.address}/health/live`);
    await page.evaluate('sessionStorage.clear(); localStorage.clear()');
    await page.goto(`${world.address}/demo`);
  }
  const checkout = () => page.frameLocator('dialog iframe');
  const log = () => page.locator('#log').innerText();

  const paidTimes = async () => (await log()).split('Paid. Now the shop delivers.').length - 1;
  /** With what is folded. */
  const requestsShown = async () => (await page.locator('#log .request pre').allTextContents()).join('\n');

  async function enterCard(card: string, place: Page | FrameLocator = checkout()): Promise<void> {
    await place.locator('#number').fill(card);
    await place.locator('#expiry').fill('12/30');
    await place.locator('#code').fill('123');
  }
  async function buy(what: string, card = '4242424242424242'): Promise<void> {
    await page.getByRole('button', { name: what, exact: true }).click();
    // The first request of a page bundles it.
    await checkout().locator('.amount:not(:empty)').waitFor({ timeout: 30_000 });
    if (/subscribe/i.test(what)) {
      await checkout().locator('#email').fill('payer@example.com');
      await checkout().getByRole('checkbox').check();
    }
    await enterCard(card);
    await checkout().locator('#pay').click();
  }
  const colourOf = (entry: Locator) =>
    entry.evaluate((element) => {
      const { backgroundColor } = element.ownerDocument.defaultView!.getComputedStyle(element);
      return backgroundColor;
    });
  /** Without what is folded or can be clicked. */
  const entries = () => page.locator('#log > li > p:not(.actions), #log > .empty').allInnerTexts();
  const leave = () => checkout().getByRole('link', { name: 'Back to the shop' }).click();

  test('sells a product, and shows the requests and webhook events of its server in whole lines', async () => {
    await visit();
    await buy('Pay');
    await leave();
    await expect.poll(log, soon).toContain('Paid. Now the shop delivers.');
    const told = await log();
    for (const part of [
      'POST /v2/processing/invoices 201',
      'POST /v2/processing/webhooks 201',
      'webhook /demo/notices/InvoicesTopic PaymentStarted',
      'webhook /demo/notices/InvoicesTopic PaymentCaptured',
    ]) {
      expect(told).toContain(part);
    }
    expect(await page.content()).not.toContain(world.merchant.apiKey);

    // With everything unfolded no line is clipped.
    const clipped = await page.evaluate(`{
      for (const fold of document.querySelectorAll('details')) fold.open = true;
      [...document.querySelectorAll('main *')]
        .filter((element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 && getComputedStyle(element).display !== 'inline')
        .map(({ tagName, textContent }) => tagName + ' ' + textContent.slice(0, 60));
    }`);
    expect(clipped).toEqual([]);
  });

  test('sells a subscription, charges it again without the payer, and shows the receipts in the mailbox', async () => {
    await visit();
    await page.getByText('RUB\u00a0990.00 now, and again each month').waitFor();
    await buy('Pay and subscribe');
    expect(await checkout().locator('.amount').textContent()).toBe('RUB\u00a0990.00');
    await leave();
    await page.getByRole('button', { name: 'A month later: charge again' }).waitFor();
    await page.locator('#log summary', { hasText: 'Event' }).nth(1).click();
    await expect.poll(log, soon).toContain('"payerType": "PaymentResourcePayer"');

    const timeOf = async () =>
      Date.parse(
        (await world.service.call('GET', '/sandbox/clock', { token: world.merchant.apiKey })).body.now,
      );
    const before = await timeOf();
    await page.getByRole('button', { name: 'A month later: charge again' }).click();
    await expect.poll(paidTimes, soon).toBe(2);
    expect((await timeOf()) - before).toBeGreaterThanOrEqual(31 * 24 * 3_600_000);
    const told = await log();
    for (const part of [
      'A month passes: the shop moves the test clock of the sandbox.',
      'POST /sandbox/clock 200',
      '/payments 201',
      'The card of the subscription is charged. The payer is not asked.',
    ]) {
      expect(told).toContain(part);
    }
    expect(await requestsShown()).toContain('"payerType": "RecurrentPayer"');

    // The next poll of the jobs writes the emails; tests trigger it.
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    const besides = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'The payer’s mailbox' }).click();
    const mailbox = await besides;
    expect(await log(), 'the shop stays open').toContain('Paid. Now the shop delivers.');
    const emails = mailbox.getByRole('list', { name: 'Emails' }).getByRole('button');
    await expect.poll(() => emails.count(), soon).toBe(2);
    expect(await emails.first().innerText()).toContain('payer@example.com');
    await emails.last().click();
    expect(await mailbox.locator('#about').innerText()).toContain('kept here');
    // No script runs in the frame, so the test reads the email over HTTP and judges it in a page of its own.
    const frame = mailbox.locator('#email');
    await frame.waitFor();
    const email = await world.service.call('GET', `/${await frame.getAttribute('src')}`);
    expect(email.headers['content-security-policy']).not.toContain('allow-scripts');
    expect(await frame.getAttribute('sandbox')).not.toContain('allow-scripts');
    expect(email.text).toContain('recurring transaction');
    // As in the shop and in the checkout.
    expect(email.text).toContain('RUB 990.00');
    expect(await obstacles(mailbox, { frames: 'elsewhere' })).toEqual([]);
    const alone = await page.context().newPage();
    await alone.setContent(email.text);
    expect(await obstacles(alone)).toEqual([]);
    const { width, height } = (await frame.boundingBox())!;
    await alone.setViewportSize({ width: Math.floor(width) - 2, height: 100 });
    expect(await alone.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(height - 2);
    await alone.close();

    // An empty frame would pass the focus on.
    await (await (await frame.elementHandle())?.contentFrame())?.waitForURL('**/demo/letters/**');
    const opened = mailbox.context().waitForEvent('page');
    await frame.focus();
    await mailbox.keyboard.press('Tab');
    await mailbox.keyboard.press('Enter');
    const ending = await opened;
    await ending.getByRole('button', { name: 'End recurring charges' }).click();
    await ending.getByRole('heading', { name: 'Ended' }).waitFor();
    expect(await obstacles(ending, { sizes: [desktop] })).toEqual([]);
    const { pathname } = new URL(ending.url());
    const russian = { 'accept-language': 'ru-RU' };
    expect((await world.service.app.inject({ url: pathname, headers: russian })).body).toContain(
      'Списания прекращены',
    );
    await ending.close();

    await expect.poll(log, soon).toContain('The payer has ended the recurring charges.');
    await page.getByRole('button', { name: 'A month later: charge again' }).click();
    const refused = page.locator('#log .refused');
    await expect.poll(() => refused.count(), soon).toBe(1);
    expect(await refused.innerText()).toMatch(/Refused\. .*payments 400/s);
    expect(await refused.innerText()).toContain('consent');
    expect(await colourOf(refused), 'unlike a 201').not.toBe(
      await colourOf(page.locator('#log .request').first()),
    );

    // The link back loads the shop's tab again, and opens no other.
    const shown = await entries();
    const loaded = page.waitForEvent('load');
    await mailbox.getByRole('link', { name: 'demo shop' }).click();
    await loaded;
    expect(await entries()).toEqual(shown);
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await entries()).toEqual(['Nothing yet. Buy something.']);
    await page.reload();
    expect(await entries()).toEqual(['Nothing yet. Buy something.']);
  });

  test('sells a subscription that the service charges, and whose payer replaces the card that fails', async () => {
    const settle = async () => {
      for (let turn = 0; turn < 4; turn++) {
        world.service.jobs.wake();
        await world.service.jobs.whenIdle();
      }
    };
    const state = () => page.locator('#state').innerText();
    const months = () => page.locator('#months li').allInnerTexts();
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await visit();
    await buy('Subscribe');
    await leave();
    await expect.poll(state, soon).toBe('Active');
    expect(await months()).toHaveLength(2);

    await press('A year passes');
    await expect.poll(log, soon).toContain('Month 13: Paid.');
    expect((await log()).match(/Month \d+: Paid\./g)).toHaveLength(12);
    await expect
      .poll(async () => (await months()).join(), soon)
      .toMatch(/^(\w{3} \d{4}\s*paid,){11}\w{3} \d{4}\s*next$/);

    await press('A charge fails');
    await expect.poll(state, soon).toBe('Charge failed');
    await expect.poll(log, soon).toContain('Month 14: The bank has declined the charge.');
    expect((await months()).at(-1)).toMatch(/declined$/);
    expect(await obstacles(page, { sizes: shopSizes })).toEqual([]);

    await settle();
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'their mailbox' }).click();
    const mailbox = await opened;
    await mailbox.getByRole('button', { name: 'could not be charged' }).click();
    const email = mailbox.frameLocator('#email');
    const offered = page.context().waitForEvent('page');
    await email.getByRole('link', { name: 'My subscription' }).click();
    const payer = await offered;
    await payer.getByRole('heading', { name: 'Charge failed' }).waitFor();
    await payer.getByRole('button', { name: 'Pay' }).click();
    await enterCard('4012888888881881', payer);
    await payer.locator('#email').fill('payer@example.com');
    await payer.getByRole('checkbox').check();
    await payer.locator('#pay').click();
    const bank = payer.frameLocator('iframe.challenge');
    await bank.getByLabel('Code from your bank').fill('1234');
    await bank.getByRole('button', { name: 'Confirm' }).click();
    await payer.locator('#back').click();
    await payer.getByRole('heading', { name: 'Active' }).waitFor();
    await payer.close();
    await mailbox.close();

    await expect.poll(log, soon).toContain('Month 14: The payer has paid.');
    await expect.poll(state, soon).toBe('Active');
    await press('A month passes');
    await expect.poll(log, soon).toContain('Month 15: Paid.');

    // Clearing leaves the subscription, also over a reload.
    await press('Clear');
    await page.reload();
    await page.getByRole('button', { name: 'End the subscription' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(state, soon).toMatch(/^Ends on /);
    expect(await page.evaluate('document.activeElement.id'), 'its button is gone').toBe(
      'subscription-heading',
    );
    await press('A month passes');
    await expect.poll(state, soon).toBe('Ended');
    await expect.poll(log, soon).toContain('The subscription has ended. Nothing is charged any more.');
    expect(await log()).not.toContain('Paid.');
  });

  test('shows the test cards next to the open checkout, below it in a narrow window, and nothing in the way', async () => {
    await visit();
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await checkout().locator('.amount:not(:empty)').waitFor();
    expect(await obstacles(page, { sizes: [desktop] })).toEqual([]);
    const card = page.getByRole('button', { name: '4000 0000 0000 0002' });
    /** Read at once: the frame grows with its page. */
    const placed = () =>
      page.evaluate(`{
        const [cards, frame] = ['dialog #cards', 'dialog iframe'].map((one) => document.querySelector(one).getBoundingClientRect());
        ({ isAtItsSide: cards.right <= frame.left, isBelow: cards.top >= frame.bottom });
      }`);
    await card.click();
    await page.locator('#copied:not(:empty)').waitFor();
    expect(await placed()).toMatchObject({ isAtItsSide: true });
    await page.setViewportSize({ width: 768, height: 1024 });
    expect(await placed()).toMatchObject({ isBelow: true });
    await checkout().getByRole('button', { name: 'Close' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('main #cards').count()).toBe(1);
    // The frame goes when its message has arrived. An event may be in the log before that.
    await page.locator('iframe').waitFor({ state: 'detached' });
    await page.locator('#log .event').first().waitFor();
    // The embed reports it after its frame is gone; a frame that goes during the judging fails it.
    await expect.poll(log, soon).toContain('The payer has closed the checkout.');
    expect(await obstacles(page)).toEqual([]);
  });

  test('shows an email only to a browser with its order, and none of another merchant', async () => {
    page = await world.openAlone(`${world.address}/mailbox`);
    await page.getByText('No email yet.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    const { invoiceID } = await recurringWorld(world).parent();
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    const call = (url: string) => world.service.call('GET', url);
    expect((await call('/demo/letters')).body).toEqual([]);
    for (const order of [invoiceID, 'nothing', '../../health/live', 'a&b=c']) {
      expect((await call(`/demo/letters?orders=${encodeURIComponent(order)}`)).body).toEqual([]);
      expect((await call(`/demo/letters/${encodeURIComponent(order)}/1`)).status).toBe(404);
    }
  });

  test('saves a card, and charges it for the next purchases', async () => {
    await visit();
    await page.getByRole('button', { name: 'Save a card', exact: true }).click();
    // The checkout's script shows it; a box that is ticked earlier does not count.
    await checkout().getByRole('button', { name: 'Close' }).waitFor();
    await enterCard('4012888888881881');
    await checkout().getByRole('checkbox').check();
    await checkout().locator('#pay').click();
    const bank = checkout().frameLocator('iframe.challenge');
    await bank.getByLabel('Code from your bank').fill('1234');
    await bank.getByRole('button', { name: 'Confirm' }).click();
    await leave();
    const chargeAgain = page.getByRole('button', { name: 'Next purchase: charge the card' });
    await chargeAgain.click();
    await expect.poll(paidTimes, soon).toBe(1);
    const told = await log();
    for (const part of [
      'POST /v2/processing/customers 201',
      'webhook /demo/notices/CustomersTopic CustomerBindingSucceeded',
      'webhook /demo/notices/CustomersTopic CustomerReady',
      '/payments 201',
      'The saved card is charged. The payer is not asked.',
    ]) {
      expect(told).toContain(part);
    }
    expect(await requestsShown()).toContain('"payerType": "CustomerPayer"');
    await chargeAgain.click();
    await expect.poll(paidTimes, soon).toBe(2);
  });

  test('reserves the money, and captures it when the machine is built, also after a reload', async () => {
    await visit();
    await buy('Reserve');
    await leave();
    const capture = page.getByRole('button', { name: 'It is built: capture the money' });
    await capture.waitFor();
    await page.reload();
    await capture.click();
    // On a busy machine the job may be left to the next poll, which tests trigger.
    world.service.jobs.wake();
    await expect.poll(log, soon).toContain('Paid. Now the shop delivers.');
    expect(await page.locator('#log .event', { hasText: 'The invoice can be paid.' }).count()).toBe(1);
    expect(await capture.isDisabled()).toBe(true);
  });

  test('refuses unsigned webhook events, and registers its webhooks once', async () => {
    const unsigned = { payload: '{"eventType":"InvoicePaid","invoice":{"id":"1"}}' };
    for (const topic of ['InvoicesTopic', 'constructor']) {
      const url = `/demo/notices/${topic}`;
      const { statusCode } = await world.service.app.inject({ method: 'POST', url, ...unsigned });
      expect(statusCode).toBe(401);
    }
    const call = () => world.service.call('POST', '/demo/webhooks');
    await call();
    expect((await call()).body).toEqual([]);
    const { body } = await world.service.call('GET', '/v2/processing/webhooks', {
      token: world.merchant.apiKey,
    });
    expect(body.map(({ url }: any) => url).sort()).toEqual([
      `${world.address}/demo/notices/CustomersTopic`,
      `${world.address}/demo/notices/InvoicesTopic`,
      `${world.address}/demo/notices/RecurringTopic`,
      `${world.address}/demo/notices/SubscriptionsTopic`,
    ]);
  });

  test('serves only its own orders', async () => {
    const { id } = await world.invoice();
    const call = (method: 'GET' | 'POST', url: string) => world.service.call(method, url);
    const stranger = await world.customer();
    for (const url of [
      `/demo/orders/${id}/notices`,
      '/demo/orders/nothing/notices',
      `/demo/customers/${stranger.id}/notices`,
    ]) {
      expect((await call('GET', url)).status).toBe(404);
    }
    expect((await call('POST', `/demo/customers/${stranger.id}/charges`)).status).toBe(404);
    expect((await call('POST', `/demo/orders/${id}/payments/1/charges`)).status).toBe(404);
    expect((await call('GET', '/demo/subscriptions/nothing')).status).toBe(404);
    for (const kind of ['constructor', 'nothing']) {
      expect((await call('POST', `/demo/orders/${kind}`)).status).toBe(404);
    }
    const { invoice } = (await call('POST', '/demo/orders/once')).body.answer;
    expect((await call('POST', `/demo/orders/${invoice.id}/payments/1/refund`)).status).toBe(404);
    const told = async () => (await call('GET', `/demo/orders/${invoice.id}/notices`)).body;
    await expect
      .poll(async () => (await told()).map(({ body }: any) => body.eventType), soon)
      .toEqual(['InvoiceCreated']);
    expect((await call('GET', `/demo/orders/${invoice.id}/notices?after=1`)).body).toEqual([]);
  });
});

test('live mode has no demo', async () => {
  const live = await startTestService({ MANDATE_MODE: 'live' });
  try {
    for (const url of ['/demo', '/mailbox', '/demo/letters'])
      expect((await live.call('GET', url)).status).toBe(404);
    expect((await live.call('GET', '/checkout.js')).status).toBe(200);
  } finally {
    await live.close();
  }
});
