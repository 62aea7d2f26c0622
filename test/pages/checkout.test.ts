// The checkout that takes payments, in a real browser, against a whole service and a simulated bank.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../support/processes/browser.ts';
import { obstacles } from './accessibility/obstacles.ts';
import { storeSettings } from '../../src/recurring/store/settings.ts';
import { withoutDatabase } from '../support/database/database-away.ts';
import {
  desktop,
  holdTimer,
  phone,
  startCheckoutWorld,
  tickBeforeScripts,
  type CheckoutWorld,
} from '../support/worlds/checkout-world.ts';

const good = '4242424242424242';
const tokenLifeMs = 3 * 24 * 60 * 60_000;
const shopOrigin = 'http://localhost:1';
/** How long a page, a bank and a busy machine may take together. */
const soon = { timeout: 30_000, interval: 100 };

describeInBrowser('the checkout', () => {
  let world: CheckoutWorld;
  let page: Page;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    await world.service.database.withClient((client) =>
      client.query('update shop set origins = $1 where party_id = $2', [shopOrigin, world.merchant.partyId]),
    );
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  const banner = () => page.locator('#message');
  const heading = () => page.locator('h2:visible');
  const payButton = () => page.locator('#pay');
  const bank = () => page.frameLocator('iframe.challenge');

  async function enter(card: string): Promise<void> {
    await page.locator('#number').fill(card);
    await page.locator('#expiry').fill('12/30');
    await page.locator('#code').fill('123');
  }
  async function pay(card: string): Promise<void> {
    await enter(card);
    await payButton().click();
  }
  async function openNew(
    more: Record<string, string> = {},
    terms: Record<string, unknown> = {},
    size = desktop,
  ) {
    const invoice = await world.invoice(terms);
    page = await world.open(world.link(invoice, more), size);
    return invoice;
  }
  async function confirm(decision = 'Confirm'): Promise<void> {
    await bank().getByLabel('Code from your bank').fill('1234');
    await bank().getByRole('button', { name: decision }).click();
  }
  async function expectBanner(text: string): Promise<void> {
    await expect.poll(() => banner().textContent(), soon).toContain(text);
  }
  async function expectNoBanner(): Promise<void> {
    await expect.poll(() => banner().textContent(), soon).toBe('');
  }
  async function expectHeading(text: string): Promise<void> {
    await expect.poll(() => heading().textContent(), soon).toBe(text);
  }

  test.each([
    ['Visa', good, desktop],
    ['МИР', '2201382000000013', phone],
  ])('a %s card pays, and the page shows a receipt', async (network, card, size) => {
    const invoice = await openNew({ email: 'payer@example.com' }, { amount: 1234500 }, size);
    expect(await page.locator('#amount').textContent()).toBe('RUB\u00a012,345.00');
    await pay(card);
    await expectHeading('Paid');
    const receipt = await page.locator('#receipt').innerText();
    for (const part of ['RUB\u00a012,345.00', 'TEST', 'Order 1', `${network} •••• ${card.slice(-4)}`]) {
      expect(receipt).toContain(part);
    }
    // No page of the shop is open, and its server learns of it in its own time.
    expect(await page.locator('#done-lead').textContent()).toBe('Thank you. Your payment is complete.');
    const { status, payer, makeRecurrent } = await world.payment(invoice);
    expect([status, payer.contactInfo, makeRecurrent]).toEqual([
      'captured',
      { email: 'payer@example.com' },
      false,
    ]);
  });

  test.each([
    ['by POST, 3-D Secure 1', '4012888888881881', desktop],
    ['by GET, 3-D Secure 2', '4556724110260093', phone],
  ])('shows a challenge %s in a frame, then the receipt', async (_, card, size) => {
    await openNew({}, {}, size);
    await pay(card);
    await expectHeading('Confirm with your bank');
    expect(await page.locator('iframe.challenge').getAttribute('title')).toBe('Your bank’s page');
    await confirm();
    await expectHeading('Paid');
  });

  test('explains each decline, and accepts another card', async () => {
    await openNew();
    for (const [card, said] of [
      ['4000000000000002', 'There is not enough money on this card.'],
      ['4222222222222220', 'The bank does not accept this card.'],
      ['4111110000000112', 'Your bank did not approve the payment.'],
      ['4987654321098769', 'The payment was not confirmed with your bank.'],
    ] as const) {
      await pay(card);
      await expectBanner(said);
      expect(await banner().textContent()).toContain('Nothing was charged');
      expect(await banner().evaluate((element) => element === element.ownerDocument.activeElement)).toBe(
        true,
      );
      // The number may have been right; a security code is used once.
      expect(await page.locator('#number').inputValue()).not.toBe('');
      expect(await page.locator('#code').inputValue()).toBe('');
    }
    await pay(good);
    await expectHeading('Paid');
  });

  test.each([
    ['refused', 'Refuse'],
    ['cancelled', 'Cancel'],
  ])('a challenge that is %s charges nothing', async (_, decision) => {
    await openNew();
    await pay('4012888888881881');
    await confirm(decision);
    await expectBanner('not confirmed with your bank');
  });

  test('a postponed challenge can be resumed, and expires after ten minutes', async () => {
    const invoice = await openNew();
    await pay('4012888888881881');
    await bank().getByLabel('Code from your bank').waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await expectHeading('Your payment is waiting');
    await page.getByRole('button', { name: 'Confirm now' }).click();
    await bank().getByLabel('Code from your bank').waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    world.service.clock.advance(10 * 60_000);
    world.service.jobs.wake();
    await expectBanner('not confirmed with your bank');
    expect((await world.payment(invoice)).status).toBe('failed');
  });

  test('resumes a challenge after a reload, with no token in the address', async () => {
    const invoice = await openNew();
    await pay('4012888888881881');
    await bank().getByLabel('Code from your bank').waitFor();
    await page.reload();
    await confirm();
    await expectHeading('Paid');
    expect(page.url()).toBe(`${world.address}/checkout?invoiceID=${invoice.id}`);
    await page.reload();
    await expectHeading('This is already paid');
  });

  test('opens a challenge in the whole window, and returns', async () => {
    await openNew({ theme: 'coral', locale: 'ru' }, {}, phone);
    await pay('4929172190150505');
    await bank().getByLabel('Code from your bank').waitFor();
    await page.locator('#elsewhere').click();
    await page.getByLabel('Code from your bank').fill('1234');
    expect(await page.evaluate('window.name')).toBe('');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expectHeading('Оплачено');
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('coral');
  });

  test('two clicks pay once', async () => {
    const invoice = await openNew();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(request.url().split('/').at(-1) ?? '');
    });
    await enter(good);
    // Both in one task: the first click changes the view.
    await page.evaluate(`{
      const form = document.querySelector('#card-form');
      form.requestSubmit();
      form.requestSubmit();
    }`);
    await expectHeading('Paid');
    expect(asked).toEqual(['payment-resources', 'payments']);
    expect(
      (await world.changes(invoice)).filter(({ changeType }) => changeType === 'PaymentStarted'),
    ).toHaveLength(1);
  });

  test('two windows pay once, and both show it', async () => {
    const invoice = await openNew();
    const other = await page.context().newPage();
    // Without the first payment it shows a form, and with it the challenge.
    const heard = other.waitForResponse('**/events*');
    await other.goto(world.link(invoice));
    await heard;
    await pay('4012888888881881');
    await bank().getByLabel('Code from your bank').waitFor();
    await other.locator('#number').fill(good);
    await other.locator('#expiry').fill('12/30');
    await other.locator('#code').fill('123');
    await other.locator('#pay').click();
    // The first payment is still in progress: the second window shows it.
    await other.frameLocator('iframe.challenge').getByLabel('Code from your bank').fill('1234');
    await other.frameLocator('iframe.challenge').getByRole('button', { name: 'Confirm' }).click();
    await other.getByRole('heading', { name: 'Paid' }).waitFor();
    await expectHeading('Paid');
    expect(
      (await world.changes(invoice)).filter(({ changeType }) => changeType === 'PaymentStarted'),
    ).toHaveLength(1);
  });

  test('shows that another window has paid, when the payer comes back to it', async () => {
    const invoice = await openNew();
    const other = await page.context().newPage();
    await other.goto(world.link(invoice));
    await pay(good);
    await expectHeading('Paid');
    // The windows of these tests all have the focus, so no event says that it moves.
    await other.evaluate('dispatchEvent(new Event("focus"))');
    await other.getByRole('heading', { name: 'This is already paid' }).waitFor();
  });

  test('names the accepted networks, and where the security code of a card is', async () => {
    await openNew();
    expect(await page.getByRole('img', { name: 'Visa, Mastercard, Maestro, МИР' }).isVisible()).toBe(true);
    const help = () => page.locator('#code-hint').innerText();
    expect(await help()).toBe('3 digits on the back');
    await page.locator('#number').fill('3782');
    expect(await help()).toBe('4 digits on the front');
    expect(await page.locator('#code').getAttribute('placeholder')).toBe('0000');
  });

  test('reads 130 as January 2030, and takes no year that no card has', async () => {
    await openNew();
    await page.locator('#expiry').pressSequentially('130');
    expect(await page.locator('#expiry').inputValue()).toBe('01 / 30');
    await page.locator('#expiry').fill('01/99');
    await payButton().click();
    await page.getByText('Check the year.').waitFor();
  });

  test('sends no card before it knows of earlier payments', async () => {
    const invoice = await world.invoice();
    page = await world.open('about:blank');
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/events*', (route) => answered.then(() => route.continue()));
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await world.open(world.link(invoice));
    await pay(good);
    await page.locator('#waiting').waitFor();
    expect(sent).toEqual([]);
    answer();
    await expectHeading('Paid');
  });

  test('shows no form to a payer who goes back after paying', async () => {
    await openNew();
    await pay(good);
    await expectHeading('Paid');
    await page.goto(`${world.address}/health/live`);
    await page.goBack();
    await expectHeading('This is already paid');
    expect(await page.locator('#number').isVisible()).toBe(false);
  });

  test('charges once although the response is lost', async () => {
    const invoice = await openNew();
    const keys: (string | undefined)[] = [];
    await page.route('**/payments', async (route) => {
      if (keys.push(route.request().headers()['idempotency-key']) > 1) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await pay(good);
    await expectHeading('Paid');
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
    expect(
      (await world.changes(invoice)).filter(({ changeType }) => changeType === 'PaymentStarted'),
    ).toHaveLength(1);
  });

  test.each([
    ['en', 'Try again in 50 minutes.'],
    ['ru', 'Попробуйте ещё раз через 50 минут.'],
  ])('says in words how long to wait, in %s', async (locale, said) => {
    await openNew({ locale });
    await page.route('**/payment-resources', (route) =>
      route.fulfill({ status: 429, headers: { 'Retry-After': '2990' } }),
    );
    await enter(good);
    await page.locator('#pay').click();
    await expectBanner(said);
  });

  test('charges nothing and loses nothing without a network', async () => {
    await openNew();
    await page.context().setOffline(true);
    await pay(good);
    await expectBanner('could not be reached');
    await page.context().setOffline(false);
    await pay('4012888888881881');
    await bank().getByLabel('Code from your bank').waitFor();
    await page.context().setOffline(true);
    await expectBanner('No connection');
    await page.context().setOffline(false);
    await expect.poll(() => banner().textContent(), soon).toBe('');
    await confirm();
    await expectHeading('Paid');
  });

  test.each<[string, (id: string, token: string) => Promise<string> | string]>([
    ['that was tampered with', (id, token) => world.link({ id, token: `${token.slice(0, -2)}xx` })],
    ['of another invoice', async (id) => world.link({ id, token: (await world.invoice()).token })],
    ['that is missing', (id) => `${world.address}/checkout?invoiceID=${id}`],
    [
      'behind the #, tampered with',
      (id) => `${world.address}/checkout?invoiceID=${id}#invoiceAccessToken=a.b.c`,
    ],
    ['for no invoice at all', () => `${world.address}/checkout?invoiceID=nothing&invoiceAccessToken=a.b.c`],
  ])('a token %s opens nothing', async (_, addressOf) => {
    const { id, token } = await world.invoice();
    page = await world.open(await addressOf(id, token));
    await expectHeading('This link no longer works');
    expect(await page.locator('body').innerText()).not.toContain('60.00');
  });

  test('an expired token opens nothing, also when it expires on an open page', async () => {
    const invoice = await world.invoice({ dueDate: '2040-01-01T00:00:00Z' });
    page = await world.open(world.link(invoice));
    await enter(good);
    world.service.clock.advance(tokenLifeMs);
    // The button shows it, unless a poll did before.
    await payButton().dispatchEvent('click');
    await expectHeading('This link no longer works');
    await page.goto(world.link(invoice));
    await expectHeading('This link no longer works');
    expect(await page.locator('body').innerText()).not.toContain('60.00');
    expect(await world.changes(invoice)).toHaveLength(1);
  });

  test('asks the payer to keep the page open until the payment is sent', async () => {
    await openNew();
    let isAway = true;
    await page.route('**/payments', (route) =>
      isAway ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
    );
    const said = () => page.locator('#waiting-lead').textContent();
    await pay('4012888888881881');
    await expect.poll(said, soon).toBe('We are still trying to send your payment. Keep this page open.');
    await page.context().setOffline(true);
    await page.evaluate('dispatchEvent(new Event("online"))');
    await expectBanner('No connection.');
    expect(await said()).toBe('We are still trying to send your payment. Keep this page open.');
    await page.context().setOffline(false);
    await page.evaluate('dispatchEvent(new Event("online"))');
    await expectNoBanner();
    expect(await said()).toBe('We are still trying to send your payment. Keep this page open.');
    isAway = false;
    await confirm();
    await expectHeading('Paid');
  });

  test('explains that the database is unavailable, and loads once it is back', async () => {
    const invoice = await world.invoice();
    const address = `${world.address}/checkout?invoiceID=${invoice.id}#invoiceAccessToken=${invoice.token}`;
    await withoutDatabase(world.service, async () => {
      // The page reloads after five seconds, and must not while it is judged.
      page = await world.open(address, desktop, holdTimer(5_000));
      await page.getByRole('heading', { name: 'One moment, please' }).waitFor();
      expect(await obstacles(page)).toEqual([]);
    });
    await page.evaluate('setTimeout(again)');
    await page.getByRole('button', { name: 'Pay RUB 60.00' }).waitFor();
    await pay(good);
    await expectHeading('Paid');
  });

  test('an invoice that was cancelled cannot be paid', async () => {
    const invoice = await world.invoice();
    await world.service.call('POST', `/v2/processing/invoices/${invoice.id}/rescind`, {
      token: world.merchant.apiKey,
      body: { reason: 'sold out' },
    });
    page = await world.open(world.link(invoice));
    await expectHeading('This can no longer be paid');
  });

  test('reserves a hold, and says so', async () => {
    const invoice = await openNew({ paymentFlowHold: 'true', holdExpiration: 'capture' });
    expect(await payButton().textContent()).toBe('Reserve RUB\u00a060.00');
    await pay(good);
    await expectHeading('Reserved');
    const { status, flow } = await world.payment(invoice);
    expect([status, flow.onHoldExpiration]).toEqual(['processed', 'capture']);
  });

  test('saves a card only if the payer ticks the box, not a script', async () => {
    const terms = {
      recurringSchedule: 'P1M',
      recurringUntil: '2030-12-31',
      recurringAmountRule: 'upTo:100000',
    };
    const invoice = await openNew({ recurring: 'true', name: 'Bean & Leaf', ...terms });
    const sent = page.waitForRequest('**/payments');
    const box = page.getByRole('checkbox', { name: 'I agree that Bean & Leaf keeps this card on file' });
    expect(await box.isChecked()).toBe(false);
    await page.locator('#email').fill('payer@example.com');
    await pay(good);
    await page.getByText('Tick the box if you agree').waitFor();
    expect(await box.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await box.evaluate((element) => (element as unknown as { click(): void }).click());
    expect(await box.isChecked()).toBe(false);
    const before = Date.now();
    await box.check();
    const after = Date.now();
    await payButton().click();
    await expectHeading('Paid');
    const agreed = 'up to RUB\u00a01,000.00 every month, until December 31, 2030';
    expect(await page.locator('#receipt').innerText()).toContain(`Recurring transaction: ${agreed}`);
    const { consent, ...rest } = (await sent).postDataJSON().recurrentTerms;
    const amountRule = { kind: 'upTo', amount: 100_000 };
    expect(rest).toEqual({ schedule: 'P1M', validUntil: '2030-12-31', amountRule });
    expect(consent).toMatchObject({ ticked: true, locale: 'en' });
    expect(consent.text).toMatch(
      /^I agree that Bean & Leaf .*: up to RUB\s1,000.00 every month, until .*\.\nYou can end this/,
    );
    const tickedAt = Date.parse(consent.tickedAt);
    expect(tickedAt).toBeGreaterThanOrEqual(before);
    // A browser may round up to the next millisecond.
    expect(tickedAt).toBeLessThanOrEqual(after + 1);
    expect((await world.payment(invoice)).makeRecurrent).toBe(true);
  });

  test.each([
    [
      'en',
      'RUB\u00a0299.00 every month, further charges: 6. This payment is RUB\u00a060.00. The trial or first price ends on February 28, 2030. Next charge: March 1, 2030, RUB\u00a0499.00.',
      'Recurring transaction: RUB\u00a0299.00 every month, further charges: 6',
    ],
    [
      'ru',
      '299,00\u00a0₽ каждый месяц, следующих списаний: 6. Этот платёж: 60,00\u00a0₽. Пробный период или первая цена: до 28 февраля 2030 г. Следующее списание: 1 марта 2030 г., 499,00\u00a0₽.',
      'Регулярный платёж: 299,00\u00a0₽ каждый месяц, следующих списаний: 6',
    ],
  ])('asks in %s what the invoice says, whatever the link says', async (locale, agreed, kept) => {
    const recurrentTerms = {
      schedule: 'P1M',
      amountRule: { kind: 'fixed', amount: 29_900 },
      trialEnd: '2030-02-28',
      amountAfterTrial: 49_900,
      firstChargeOn: '2030-03-01',
      charges: 6,
    };
    const other = { recurring: 'false', recurringSchedule: 'P1Y', recurringAmountRule: 'upTo:100' };
    const invoice = await openNew({ locale, ...other }, { makeRecurrent: true, recurrentTerms });
    const sentence = await page.locator('.consent label').innerText();
    expect(sentence).toContain(`: ${agreed}`);
    expect(await obstacles(page, { sizes: [{ width: 360, height: 780 }] })).toEqual([]);
    await page.locator('#email').fill('payer@example.com');
    await pay(good);
    await expect.poll(() => page.locator('#consent-problem').textContent()).not.toBe('');
    expect(await world.changes(invoice)).toHaveLength(1);
    await page.locator('#consent').check();
    await payButton().click();
    await page.locator('#receipt').getByText(kept).waitFor();
    const stop = await page.locator('#consent-stop').textContent();
    const { body } = await world.service.call(
      'GET',
      `/v2/processing/invoices/${invoice.id}/payments/1/recurring/consent`,
      { token: world.merchant.apiKey },
    );
    const { mandate } = body.entries[0].facts[0].terms;
    expect(mandate).toMatchObject({
      schedule: 'P1M',
      amountRule: { kind: 'fixed', amountMinor: 29_900 },
      trialEnd: '2030-02-28',
      amountAfterTrialMinor: 49_900,
      firstChargeOn: '2030-03-01',
      charges: 6,
      consent: { text: `${sentence}\n${stop}`, locale },
    });
  });

  test('asks what the invoice says once it has the token, and shows nothing of it before', async () => {
    const wish = { makeRecurrent: true, recurrentTerms: { amountRule: { kind: 'upTo', amount: 100_000 } } };
    const invoice = await world.invoice(wish);
    const address = `${world.address}/checkout?invoiceID=${invoice.id}`;
    const { text } = await world.service.call('GET', new URL(address).pathname + new URL(address).search);
    expect(text).toContain('id="consent-field" hidden');
    expect(text).not.toMatch(/1,000|100000|"kind":"upTo"/);
    page = await world.open(`${address}#invoiceAccessToken=${invoice.token}`);
    await page.getByText(': up to RUB\u00a01,000.00, as agreed with the shop, until I cancel.').waitFor();
    await page.getByText('open the link in the receipt, or tell TEST').waitFor();
    await pay(good);
    await page.getByText('Enter your e-mail address').waitFor();
    expect(await page.locator('label[for=email]').textContent()).toBe('E-mail for the receipt');
    await page.locator('#email').fill('payer@example.com');
    await payButton().click();
    await page.getByText('Tick the box if you agree').waitFor();
    await page.locator('#consent').check();
    await payButton().click();
    await expectHeading('Paid');
    const { makeRecurrent } = await world.payment(invoice);
    expect(makeRecurrent).toBe(true);
  });

  test('asks nothing about a single payment once it has the token', async () => {
    const invoice = await world.invoice();
    page = await world.open(
      `${world.address}/checkout?invoiceID=${invoice.id}#invoiceAccessToken=${invoice.token}`,
    );
    await page.getByRole('button', { name: 'Pay RUB 60.00' }).waitFor();
    expect(await page.locator('#consent').isVisible()).toBe(false);
    await pay(good);
    await expectHeading('Paid');
    expect((await world.payment(invoice)).makeRecurrent).toBe(false);
  });

  test('says what is paid now if the terms name no amount', async () => {
    await openNew({ recurring: 'true', recurringSchedule: 'P1M' });
    expect(await page.locator('.consent label').innerText()).toMatch(
      /: every month, until I cancel\. This payment is RUB\s60\.00\. Later amounts are as agreed with the shop\.$/,
    );
  });

  test('takes a tick back that is older than its script', async () => {
    const link = world.link(await world.invoice(), { recurring: 'true' });
    page = await world.open(link, desktop, tickBeforeScripts);
    const box = page.locator('#consent');
    expect(await page.evaluate('document.querySelector("#consent").wasTicked')).toBe(true);
    expect(await box.isChecked()).toBe(false);
    await page.locator('#email').fill('payer@example.com');
    await box.check();
    await pay(good);
    await expectHeading('Paid');
  });

  test('ticks a pressed box although the form grows by an explanation of the address', async () => {
    await openNew({ recurring: 'true' });
    await page.locator('#email').fill('a..b@example.com');
    const box = page.locator('#consent');
    await box.scrollIntoViewIfNeeded();
    const before = await box.boundingBox();
    await page.mouse.move(before!.x + before!.width / 2, before!.y + before!.height / 2);
    await page.mouse.down();
    await page.mouse.up();
    await page.getByText('An e-mail address looks like name@example.com').waitFor();
    expect(await box.isChecked()).toBe(true);
    expect((await box.boundingBox())!.y).toBeGreaterThan(before!.y);
    // A keyboard presses nothing that could move: the explanation appears immediately.
    await page.locator('#code').focus();
    await page.keyboard.type('1');
    await page.keyboard.press('Tab');
    expect(await page.locator('#code-problem').textContent()).not.toBe('');
  });

  test('explains a wrong field after a press without a mouseup', async () => {
    await openNew();
    const [code, said] = [page.locator('#code'), page.locator('#code-problem')];
    await code.pressSequentially('1');
    const text = page.locator('h1');
    // A drag ends without a mouseup.
    await text.evaluate((element) =>
      element.ownerDocument.defaultView!.getSelection()!.selectAllChildren(element),
    );
    const at = (await text.boundingBox())!;
    const dropped = text.evaluate((element) => {
      const { defaultView } = element.ownerDocument;
      return new Promise((done) => defaultView!.addEventListener('dragend', () => done(true)));
    });
    await page.mouse.move(at.x + 5, at.y + at.height / 2);
    await page.mouse.down();
    await page.mouse.move(at.x + 60, at.y + 60);
    await page.mouse.move(at.x + 90, at.y + 90);
    await page.mouse.up();
    await dropped;
    await expect.poll(() => said.textContent()).not.toBe('');

    await code.fill('123');
    expect(await said.textContent()).toBe('');
    // A press that a menu takes has none either.
    await page.mouse.down();
    await code.press('Delete');
    await page.keyboard.press('Tab');
    expect(await said.textContent()).not.toBe('');
  });

  test('shows and stores the shop’s standard terms for a link without terms', async () => {
    const shop = { partyId: world.merchant.partyId, shopId: 'TEST' };
    await storeSettings(world.service.database, shop, {
      terms: { schedule: 'P4W', validUntil: '2027-12-31' },
    });
    const invoice = await openNew({ recurring: 'true' });
    await storeSettings(world.service.database, shop, {});
    const read = await page.locator('.consent label').innerText();
    expect(read).toContain(': every 4 weeks, until December 31, 2027.');
    await page.locator('#email').fill('payer@example.com');
    await page.locator('#consent').check();
    await pay(good);
    await expectHeading('Paid');
    const { body } = await world.service.call(
      'GET',
      `/v2/processing/invoices/${invoice.id}/payments/1/receipt`,
      { token: world.merchant.apiKey },
    );
    expect(body.text).toContain('Schedule: every 4 weeks\nValid: until 2027-12-31\n');
  });

  test('does not blame the card for a parameter of the shop that is refused', async () => {
    await openNew({ recurring: 'true', recurringSchedule: '4242 4242 4242 4242' });
    await page.locator('#consent').check();
    await page.locator('#email').fill('a..b@example.com');
    await pay(good);
    await page.getByText('An e-mail address looks like name@example.com').waitFor();
    await page.locator('#email').fill('payer@example.com');
    await payButton().click();
    await expectBanner('The shop cannot take this payment at the moment.');
  });

  test('sends a payer who has tried too often to the shop, and does not blame it', async () => {
    await openNew();
    // What the API answers after ten attempts.
    const json = { code: 'invoiceAttemptsExceeded', message: 'Too many payments have been tried' };
    await page.route('**/payments', (route) => route.fulfill({ status: 400, json }));
    await pay(good);
    await expectBanner(
      'This order takes no more attempts. Nothing was charged. Ask the shop for a new order.',
    );
  });

  test('explains every red border, and nothing else', async () => {
    await openNew({ recurring: 'true', requireCardHolder: 'true' });
    await page.locator('#expiry').fill('13/30');
    await page.locator('#holder').fill('Ivan Ivanov');
    await payButton().click();
    const red = await page.evaluate('getComputedStyle(document.querySelector("#number")).borderColor');
    const fields = await page.evaluate<[string, boolean, boolean][]>(`
      [...document.querySelectorAll('#card-form .field')].map((field) => {
        const framed = field.classList.contains('consent') ? field : field.querySelector('input');
        const isRed = getComputedStyle(framed).borderColor === '${String(red)}';
        return [field.id, isRed, field.querySelector('.problem').textContent !== ''];
      })`);
    expect(fields).toEqual([
      ['number-field', true, true],
      ['expiry-field', true, true],
      ['code-field', true, true],
      ['holder-field', false, false],
      ['email-field', true, true],
      ['consent-field', true, true],
    ]);
  });

  test('an address that does not exist is a page in a browser, in its language', async () => {
    for (const [locale, said] of [
      ['en-GB', 'Page not found'],
      ['ru-RU', 'Страница не найдена'],
    ] as const) {
      page = await world.openAlone(`${world.address}/nothing`, { locale });
      await page.getByRole('heading', { level: 1, name: said }).waitFor();
      expect(await page.title()).toBe(said);
      expect(await obstacles(page)).toEqual([]);
    }
    const { status, body } = await world.service.call('GET', '/nothing');
    expect([status, body]).toMatchObject([404, { message: 'Not found' }]);
  });

  test('can be paid with the keyboard alone, in reading order', async () => {
    await openNew({ requireCardHolder: 'true', recurring: 'true' });
    await page.keyboard.press('Tab');
    await page.keyboard.type('4242 4242 4242 4242');
    // A complete field passes the focus on.
    await page.keyboard.type('1230');
    await page.keyboard.type('123');
    await page.keyboard.press('Tab');
    await page.keyboard.type('ANNA PAYER');
    await page.keyboard.press('Tab');
    await page.keyboard.type('anna@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await expectHeading('Paid');
    expect(await heading().evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  });

  test('a number can be corrected in the middle, deleted and pasted', async () => {
    await openNew();
    const number = page.locator('#number');
    await number.pressSequentially('42424242');
    for (let times = 0; times < 4; times++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Backspace');
    expect(await number.inputValue()).toBe('4242 4242');
    await page.keyboard.press('Backspace');
    expect(await number.inputValue()).toBe('4244 242');
    await page.keyboard.type('2');
    expect(await number.inputValue()).toBe('4242 4242');
    const expiry = page.locator('#expiry');
    await expiry.pressSequentially('9');
    expect(await expiry.inputValue()).toBe('09 / ');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    expect(await expiry.inputValue()).toBe('0');
    await number.fill('4242-4242-4242-4242');
    expect(await number.inputValue()).toBe('4242 4242 4242 4242');
  });

  test('shows the shop’s name as text, next to the recipient of the money', async () => {
    const name = '<img src=x onerror=alert(1)>';
    await openNew({ name, description: '</script><b>x', payButtonLabel: '"><i>', locale: 'en' });
    expect(await page.locator('.shop').textContent()).toBe(name);
    expect(await page.locator('.payee').textContent()).toBe('To TEST');
    expect(await page.locator('#product').textContent()).toBe('</script><b>x');
    expect(await payButton().textContent()).toBe('"><i>');
    expect(await page.locator('img, b, i').count()).toBe(0);
  });

  test('clears the card when the payer leaves the page', async () => {
    await openNew();
    await page.evaluate('sessionStorage.clear(); localStorage.clear()');
    await enter(good);
    await page.evaluate('dispatchEvent(new Event("pagehide"))');
    expect(await page.locator('#number').inputValue()).toBe('');
    expect(
      await page.evaluate('JSON.stringify(sessionStorage) + localStorage.length + document.cookie'),
    ).not.toMatch(/4242/);
  });

  test('returns only to an address on the shop’s list', async () => {
    // The page returns after five seconds, and must not before it is read.
    const link = world.link(await world.invoice(), { redirectUrl: `${shopOrigin}/thanks` });
    page = await world.open(link, desktop, holdTimer(5_000));
    await pay(good);
    await expectHeading('Paid');
    expect(await page.getByRole('link', { name: 'Back to the shop' }).getAttribute('href')).toBe(
      `${shopOrigin}/thanks`,
    );
    await openNew({ redirectUrl: 'http://evil.example/thanks' });
    await pay(good);
    await expectHeading('Paid');
    expect(await page.getByRole('link', { name: 'Back to the shop' }).isVisible()).toBe(false);
  });
});
