// The checkout on shops' sites: over the page, in a form, in a window and on a phone.
// A site that is not on the shop's list can neither show nor steer it.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openBrowser } from '../support/processes/browser.ts';
import {
  desktop,
  holdTimer,
  phone,
  startCheckoutWorld,
  startShopSite,
  type CheckoutWorld,
  type ShopSite,
} from '../support/worlds/checkout-world.ts';
import type { CreatedInvoice } from '../support/worlds/invoices.ts';

const soon = { timeout: 30_000, interval: 100 };

describeInBrowser('the checkout on a site', () => {
  let world: CheckoutWorld;
  let shop: ShopSite;
  let stranger: ShopSite;
  let page: Page;
  let whole: Browser | undefined;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    shop = await startShopSite();
    stranger = await startShopSite();
    await world.service.database.withClient((client) =>
      client.query('update shop set origins = $1 where party_id = $2', [shop.origin, world.merchant.partyId]),
    );
  });
  afterAll(async () => {
    await shop?.stop();
    await stranger?.stop();
    await world?.close();
    await whole?.close();
  });
  afterEach(() => world.leave());

  const frame = () => page.frameLocator('dialog iframe');
  /** The events that the shop's page received, in order. */
  const reported = () => page.evaluate<string[]>('window.reported');

  const opener = (invoice: CreatedInvoice, more: Record<string, unknown> = {}) => `
    <!doctype html><title>Shop</title><h1>Shop</h1><button id="buy">Buy</button>
    <script src="${world.address}/checkout.js"></script>
    <script>
      window.reported = [];
      window.checkout = MandateCheckout.configure({
        ...${JSON.stringify({ invoiceID: invoice.id, invoiceAccessToken: invoice.token, locale: 'en', ...more })},
        opened: () => reported.push('opened'), closed: () => reported.push('closed'), finished: () => reported.push('finished'),
      });
      document.getElementById('buy').addEventListener('click', () => checkout.open());
    </script>`;

  async function visit(html: string, site = shop, viewport = desktop): Promise<void> {
    site.pages['/'] = html;
    page = await world.open(`${site.origin}/`, viewport);
  }
  async function pay(where: { locator: Page['locator'] }, card = '4242424242424242'): Promise<void> {
    await where.locator('#number').fill(card);
    await where.locator('#expiry').fill('12/30');
    await where.locator('#code').fill('123');
    await where.locator('#pay').click();
  }

  test('opens over the page, pays, reports and closes, by each of its names', async () => {
    const invoice = await world.invoice({ product: 'Coffee' });
    await visit(opener(invoice, { name: 'Bean & Leaf', email: 'payer@example.com' }));
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.locator('#buy').click();
    await frame().getByText('RUB 60.00', { exact: true }).waitFor();
    expect(await frame().locator('#product').textContent()).toBe('Coffee');
    expect(await frame().locator('#email').inputValue()).toBe('payer@example.com');
    expect(await frame().locator('#pay').textContent()).toBe('Pay RUB\u00a060.00');
    await pay(frame());
    await frame().getByRole('heading', { name: 'Paid' }).waitFor();
    await expect.poll(reported, soon).toEqual(['opened', 'finished']);
    expect(await frame().locator('#done-lead').textContent()).toBe('Thank you. Your payment is complete.');
    await frame().getByRole('link', { name: 'Back to the shop' }).click();
    await expect.poll(reported, soon).toEqual(['opened', 'finished', 'closed']);
    expect(await page.locator('dialog').count()).toBe(0);
    // The part behind the # is never sent.
    expect(requested.filter((url) => new URL(url).search.includes(invoice.token))).toEqual([]);
    expect(requested.filter((url) => new URL(url).search.includes('payer%40example'))).toEqual([]);
    // Pages with an earlier name work unchanged.
    expect(
      await page.evaluate('[RbkmoneyCheckout, ValityCheckout].every((it) => it === MandateCheckout)'),
    ).toBe(true);
  });

  test('shows a challenge in a frame within the frame', async () => {
    await visit(opener(await world.invoice()));
    await page.locator('#buy').click();
    await pay(frame(), '4929172190150505');
    const bank = frame().frameLocator('iframe.challenge');
    await bank.getByLabel('Code from your bank').fill('1234');
    await bank.getByRole('button', { name: 'Confirm' }).click();
    await frame().getByRole('heading', { name: 'Paid' }).waitFor();
    await expect.poll(reported, soon).toEqual(['opened', 'finished']);
  });

  test('keeps the focus out of the page behind, and closes on Escape from both', async () => {
    await visit(opener(await world.invoice()));
    for (const press of [
      () => frame().locator('#number').press('Escape'),
      () => page.keyboard.press('Escape'),
    ]) {
      await page.locator('#buy').click();
      await frame().getByText('RUB 60.00', { exact: true }).waitFor();
      const isReachable = await page.evaluate(`(() => {
        document.querySelector('#buy').focus();
        return document.activeElement === document.querySelector('#buy');
      })()`);
      expect(isReachable).toBe(false);
      await press();
      await expect.poll(() => page.locator('dialog').count(), soon).toBe(0);
    }
    expect(await reported()).toEqual(['opened', 'closed', 'opened', 'closed']);
    expect(await page.locator('#buy').evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
  });

  test.each(['en', 'ru'])(
    'has its button in a small window with the box, in two columns, in %s',
    async (locale) => {
      const options = { requireCardHolder: true, recurring: 'true', recurringSchedule: 'P1M', locale };
      await visit(opener(await world.invoice(), options), shop, { width: 1280, height: 800 });
      await page.locator('#buy').click();
      await frame().locator('#consent-field').waitFor();
      // The frame follows the height of its page, in whose own coordinates the button does not move.
      await expect.poll(async () => (await frame().locator('#pay').boundingBox())!.y, soon).toBeLessThan(748);
      const [summary, form] = [
        await frame().locator('.summary').boundingBox(),
        await frame().locator('#form').boundingBox(),
      ];
      expect(summary!.x + summary!.width).toBeLessThanOrEqual(form!.x);
      await page.setViewportSize({ width: 768, height: 1024 });
      await expect
        .poll(async () => (await frame().locator('#form').boundingBox())!.width, soon)
        .toBeLessThan(440);
    },
  );

  test('is as high as its content', async () => {
    await visit(opener(await world.invoice(), { requireCardHolder: true, recurring: 'true' }));
    await page.locator('#buy').click();
    await frame().getByText('RUB 60.00', { exact: true }).waitFor();
    const heights = () =>
      page.evaluate(`(() => {
        const frame = document.querySelector('dialog iframe');
        return frame.getBoundingClientRect().height;
      })()`);
    const wanted = await frame()
      .locator('.sheet')
      .evaluate((sheet) => (sheet as unknown as { scrollHeight: number }).scrollHeight);
    await expect.poll(heights, soon).toBe(wanted);
  });

  test('adds a button to a form, and submits it after payment', async () => {
    const invoice = await world.invoice();
    shop.pages['/thanks'] = '<!doctype html><title>Thanks</title><h1>Thanks</h1>';
    // It submits itself after five seconds: here the payer has to close the receipt.
    await visit(`<!doctype html><title>Shop</title><script>${holdTimer(5_000)}</script><form action="/thanks" method="GET">
      <input type="hidden" name="order" value="17">
      <script src="${world.address}/checkout.js" class="rbkmoney-checkout" data-invoice-id="${invoice.id}"
        data-invoice-access-token="${invoice.token}" data-name="Shop" data-label="Buy it" data-pay-button-label="Go"
        data-obscure-card-cvv="true" data-apple-pay="false" data-locale="en"></script></form>`);
    await page.getByRole('button', { name: 'Buy it' }).click();
    expect(await frame().locator('#code').getAttribute('type')).toBe('password');
    await frame().getByText('RUB 60.00', { exact: true }).waitFor();
    expect(await frame().locator('#pay').textContent()).toBe('Go');
    await pay(frame());
    await frame().getByRole('link', { name: 'Back to the shop' }).click();
    await page.waitForURL(`${shop.origin}/thanks?order=17`);
  });

  test('adds a button for each of its classes outside of a form', async () => {
    const { id, token } = await world.invoice();
    const scripts = ['mandate', 'rbkmoney', 'vality'].map(
      (name) => `<script src="${world.address}/checkout.js" class="${name}-checkout" data-invoice-id="${id}"
        data-invoice-access-token="${token}" data-label="Buy by ${name}" data-locale="en"></script>`,
    );
    await visit(`<!doctype html><title>Shop</title><h1>Shop</h1>${scripts.join('')}`);
    expect(await page.getByRole('button').allInnerTexts()).toEqual([
      'Buy by mandate',
      'Buy by rbkmoney',
      'Buy by vality',
    ]);
    await page.getByRole('button', { name: 'Buy by rbkmoney' }).click();
    await expect.poll(() => frame().locator('#amount').textContent(), soon).toMatch(/60\.00/);
  });

  test.each([
    ['a window of its own where that is wanted', desktop, { popupMode: true }],
    ['a whole page on a phone', phone, {}],
  ])('opens in %s', async (_, size, more) => {
    await visit(opener(await world.invoice(), more), shop, size);
    const opening = page.waitForEvent('popup');
    await page.locator('#buy').click();
    const window = await opening;
    await window.getByText('RUB 60.00', { exact: true }).waitFor();
    await pay(window);
    await window.getByRole('heading', { name: 'Paid' }).waitFor();
    await expect.poll(reported, soon).toEqual(['opened', 'finished']);
    const closed = window.waitForEvent('close');
    // The click closes its own window, which may be gone before it is acknowledged.
    await window
      .getByRole('link', { name: 'Back to the shop' })
      .click()
      .catch(() => undefined);
    await closed;
    await expect.poll(reported, soon).toEqual(['opened', 'finished', 'closed']);
  });

  test('keeps the shop’s metadata with the payment, and returns to the shop automatically', async () => {
    const invoice = await world.invoice();
    shop.pages['/thanks'] = '<!doctype html><title>Thanks</title><h1>Thanks</h1>';
    const redirectUrl = `${shop.origin}/thanks`;
    shop.pages['/'] = opener(invoice, { mail: 'anna@example.com', metadata: { order: 17 }, redirectUrl });
    page = await world.open(`${shop.origin}/`, desktop, holdTimer(5_000));
    await page.locator('#buy').click();
    await frame().getByText('RUB 60.00', { exact: true }).waitFor();
    expect(await frame().locator('#email').inputValue()).toBe('anna@example.com');
    await pay(frame());
    await frame().getByText('You will be taken back to the shop in a few seconds.').waitFor();
    await frame().locator('body').evaluate('setTimeout(again)');
    await page.waitForURL(redirectUrl);
    expect((await world.payment(invoice)).metadata).toEqual({ order: 17 });
  });

  test('two checkouts on one page do not receive each other’s events', async () => {
    const [first, second] = [await world.invoice(), await world.invoice({ amount: 7000 })];
    const other = `<script>
      const options = { invoiceID: '${second.id}', invoiceAccessToken: '${second.token}' };
      MandateCheckout.configure({ ...options, opened: () => reported.push('other'), finished: () => reported.push('other') });
    </script>`;
    await visit(opener(first) + other);
    await page.locator('#buy').click();
    await frame().getByText('RUB 60.00', { exact: true }).waitFor();
    await pay(frame());
    await expect.poll(reported, soon).toEqual(['opened', 'finished']);
  });

  test('reports a mistake to a shop that names neither invoice nor customer', async () => {
    await visit(opener(await world.invoice(), { invoiceID: '' }));
    expect(world.complaints.splice(0).join()).toContain('Unrecognized integration type');
  });

  test('a site that is not on the list cannot show it', async () => {
    await visit(opener(await world.invoice()), stranger);
    await page.locator('#buy').click();
    await expect.poll(() => world.complaints.splice(0).join(), soon).toContain('frame-ancestors');
    expect(await frame().locator('body').innerText()).not.toContain('Card number');
    expect(await reported()).toEqual([]);
  });

  // It may claim to be a site on the list, or lead through the page that comes back from the bank.
  const claims = {
    'as itself': 'address',
    'as another': 'address.replace(encodeURIComponent(origin), listed)',
    'as another who comes back': `address.replace(encodeURIComponent(origin), listed).replace('#', '&returned=true#')`,
  };
  test.each(Object.entries(claims))(
    'a site that is not on the list opens a window %s, and can neither watch nor steer it',
    async (_, claim) => {
      const invoice = await world.invoice();
      await visit(opener(invoice, { popupMode: true }), stranger);
      await page.evaluate(`{
      addEventListener('message', ({ data }) => reported.push(JSON.stringify(data)));
      const open = window.open;
      const listed = ${JSON.stringify(encodeURIComponent(shop.origin))};
      window.open = (address, ...more) => (window.opened = open.call(window, ${claim}, ...more));
    }`);
      const opening = page.waitForEvent('popup');
      await page.locator('#buy').click();
      const window = await opening;
      await window.getByText('RUB 60.00', { exact: true }).waitFor();
      await window.locator('#number').fill('4242424242424242');
      const address = window.url();
      const attempts = await page.evaluate<Record<string, string>>(`(() => {
      const results = {};
      const attempt = (name, act) => {
        try { results[name] = String(act()); } catch (error) { results[name] = error.name; }
      };
      attempt('looks closed', () => opened.closed);
      attempt('read the document', () => opened.document.body.innerHTML);
      attempt('read the address', () => opened.location.href);
      attempt('count its frames', () => opened.length);
      attempt('lead it away', () => { opened.location.href = 'about:blank'; });
      attempt('close it', () => opened.close());
      for (const message of ['challenge-finished', { source: 'mandate-checkout', type: 'closed' }]) {
        attempt('talk to it', () => opened.postMessage(message, '*'));
      }
      return results;
    })()`);
      expect(attempts['looks closed']).toBe('true');
      expect(attempts['read the document']).toMatch(/^(SecurityError|TypeError)$/);
      // The window has lost its opener, and is still open.
      expect(await window.evaluate('opener')).toBe(null);
      await pay(window);
      await window.getByRole('heading', { name: 'Paid' }).waitFor();
      expect([window.url(), await window.locator('#close').isVisible()]).toEqual([address, false]);
      expect(await reported()).toEqual([]);
    },
  );

  test('a site that is not on the list keeps no handle by way of the page that comes back from the bank', async () => {
    const { id } = await world.invoice();
    await visit(opener(await world.invoice()), stranger);
    const address = `${world.address}/checkout/return?invoiceID=${id}&shopOrigin=${encodeURIComponent(shop.origin)}`;
    const opening = page.waitForEvent('popup');
    await page.evaluate(`void (window.opened = open(${JSON.stringify(address)}))`);
    const window = await opening;
    await window.waitForURL(/returned=true/);
    await expect.poll(() => page.evaluate('opened.closed'), soon).toBe(true);
    expect(await window.evaluate('opener')).toBe(null);
  });

  test('a window of a site on the list comes back from the bank to its opener', async () => {
    await visit(opener(await world.invoice(), { popupMode: true }));
    const opening = page.waitForEvent('popup');
    await page.locator('#buy').click();
    const window = await opening;
    await pay(window, '4012888888881881');
    await window.frameLocator('iframe.challenge').locator('[name=otp]').waitFor();
    await window.locator('#elsewhere').click();
    await window.locator('[name=otp]').fill('1234');
    await window.locator('[value=confirm]').click();
    await window.getByRole('heading', { name: 'Paid' }).waitFor();
    await expect.poll(reported, soon).toContain('finished');
  });

  test('a hostile page around the checkout can neither read nor steer it', async () => {
    const invoice = await world.invoice();
    // Even a page on the list may only show the frame.
    await visit(opener(invoice));
    await page.locator('#buy').click();
    await frame().getByText('RUB 60.00', { exact: true }).waitFor();
    await frame().locator('#number').fill('4242424242424242');
    const attempts = await page.evaluate<Record<string, string>>(`(async () => {
      const inner = document.querySelector('dialog iframe').contentWindow;
      const results = {};
      const attempt = (name, act) => {
        try { act(); results[name] = 'done'; } catch (error) { results[name] = error.name; }
      };
      attempt('read the document', () => inner.document.body);
      attempt('read the address', () => inner.location.href);
      attempt('read storage', () => inner.sessionStorage);
      attempt('call in', () => inner.eval('1'));
      for (const message of ['challenge-finished', { source: 'mandate-checkout', type: 'closed' },
        { source: 'mandate-checkout', type: 'finished', status: 'captured' }, { type: 'pay' }]) {
        inner.postMessage(message, '*');
      }
      // The page pretends to be the checkout. Once its last message arrives, the others have.
      const heard = new Promise((resolve) => addEventListener('message', ({ data }) => data === 'last' && resolve()));
      for (const type of ['opened', 'finished', 'closed']) {
        window.postMessage({ source: 'mandate-checkout', type, status: 'captured' }, '*');
      }
      window.postMessage('last', '*');
      await heard;
      return results;
    })()`);
    expect(new Set(Object.values(attempts))).toEqual(new Set(['SecurityError']));
    expect(await reported()).toEqual(['opened']);
    await pay(frame());
    await frame().getByRole('heading', { name: 'Paid' }).waitFor();
    // One event of each kind: the forged ones were ignored.
    await expect.poll(reported, soon).toEqual(['opened', 'finished']);
  });

  test('ends the bank’s page in its own window', async () => {
    whole ??= await openBrowser('whole');
    shop.pages['/'] = opener(await world.invoice());
    page = await world.openAlone(`${shop.origin}/`, {}, whole);
    await page.locator('#buy').click();
    await frame().locator('#amount:not(:empty)').waitFor();
    await pay(frame(), '4012888888881881');
    await frame().frameLocator('iframe.challenge').locator('[name=otp]').waitFor();
    const opening = page.waitForEvent('popup');
    await frame().locator('#elsewhere').click();
    const window = await opening;
    await window.locator('[name=otp]').fill('1234');
    await window.locator('[value=confirm]').click();
    await window.getByRole('heading', { name: 'Your bank has replied' }).waitFor();
    await window.reload();
    await window.getByRole('heading', { name: 'Your bank has replied' }).waitFor();
    await frame().getByRole('heading', { name: 'Paid' }).waitFor();
    await expect.poll(reported, soon).toEqual(['opened', 'finished']);
  });

  test('says in Russian in a window of its own that the bank has replied', async () => {
    const { id } = await world.invoice();
    page = await world.open(`${world.address}/checkout?invoiceID=${id}&returned=true&locale=ru`);
    await expect.poll(() => page.locator('h2:visible').textContent(), soon).toBe('Ответ банка получен');
  });

  test('ignores messages that the bank’s page sends to the shop', async () => {
    await visit(opener(await world.invoice()));
    await page.locator('#buy').click();
    await frame().getByText('RUB 60.00', { exact: true }).waitFor();
    await page.evaluate(
      `window.messages = []; addEventListener('message', ({ data }) => messages.push(data))`,
    );
    await pay(frame(), '4012888888881881');
    const bank = frame().frameLocator('iframe.challenge');
    await bank.getByLabel('Code from your bank').waitFor();
    const [, inner] = page.frames().filter((one) => one.url().includes('/issuer/'));
    const issuer = inner ?? page.frames().find((one) => one.url().includes('/issuer/'));
    await issuer?.evaluate(`top.postMessage({ source: 'mandate-checkout', type: 'finished' }, '*')`);
    await expect
      .poll(() => page.evaluate('messages.some(({ type }) => type === "finished")'), soon)
      .toBe(true);
    expect(await reported()).toEqual(['opened']);
    // The shop's page cannot report the end of the challenge either.
    const checkout = page.frames().find((one) => one.url().includes('/checkout?'));
    await checkout?.evaluate(`{
      window.heard = new Promise((resolve) => addEventListener('message', ({ data }) => data === 'last' && resolve(data)));
      undefined;
    }`);
    await page.evaluate(`{
      const inner = document.querySelector('dialog iframe').contentWindow;
      for (const message of ['challenge-finished', 'last']) inner.postMessage(message, '*');
    }`);
    expect(await checkout?.evaluate('heard')).toBe('last');
    expect(await bank.getByLabel('Code from your bank').isVisible()).toBe(true);
    // The bank's page cannot navigate the shop's page, even just after a click in it.
    await bank.getByLabel('Code from your bank').click();
    const escape = await issuer?.evaluate<string>(
      `(() => { try { top.location.href = 'about:blank'; return 'gone'; } catch (error) { return error.name; } })()`,
    );
    expect(escape).toBe('SecurityError');
    world.complaints.length = 0;
  });
});
