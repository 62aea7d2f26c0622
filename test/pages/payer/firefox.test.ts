// The pages for payers in a second browser: what each browser does in a way of its own. That is typing, frames of other origins,
// what a window keeps, and pages that send a form automatically.
import type { Browser, Frame, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setShopOrigins } from '../../../src/merchants/store/parties.ts';
import { pageToIssuer } from '../../support/bank/issuer-page.ts';
import { describeInFirefox, openFirefox } from '../../support/processes/firefox.ts';
import { often } from '../../support/service/campaign.ts';
import {
  desktop,
  startPayersWorld,
  startShopSite,
  type PayersWorld,
  type ShopSite,
} from '../../support/worlds/checkout-world.ts';
import { makeTemplate, rangePrice, singleLine } from '../../support/worlds/invoices.ts';

const frictionless = '4242424242424242';
const byPost = '4012888888881881';
const byGet = '4556724110260093';

/** Firefox asks for this where a page names no icon, and a policy that allows no images refuses it. */
const ofNoPage = /favicon\.ico/;

describeInFirefox('in Firefox', () => {
  let world: PayersWorld;
  let shop: ShopSite;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    world = await startPayersWorld();
    shop = await startShopSite();
    shop.pages['/done'] = '<!doctype html><title>Done</title><h1>Thank you for your order</h1>';
    await world.service.testDatabase.database.run(setShopOrigins, {
      party_id: world.merchant.partyId,
      shop_id: 'TEST',
      origins: shop.origin,
    });
    browser = await openFirefox();
    page = await browser.newPage();
    await page.setViewport(desktop);
    // Breaches of a page's policy, too.
    page.on('pageerror', (error) => complaints.push(String(error)));
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
    await world?.close();
  });
  afterEach(() => {
    const found = complaints.splice(0).filter((text) => !ofNoPage.test(text));
    if (found.length > 0) throw new Error(`a page reported errors:\n${found.join('\n')}`);
  });

  async function open(url: string): Promise<Frame> {
    await page.goto(url);
    return page.mainFrame();
  }
  const openInvoice = async () => open(world.link(await world.invoice(), { locale: 'en' }));
  const read = (where: Frame, selector: string, property: string) =>
    where.evaluate(`document.querySelector('${selector}').${property}`);
  const see = (where: Frame, selector: string, text: string) =>
    where.waitForSelector(`${selector}::-p-text(${text})`, { visible: true });

  async function pay(where: Frame, card: string): Promise<void> {
    await where.locator('#number').fill(card);
    await where.locator('#expiry').fill('12/30');
    await where.locator('#code').fill('123');
    await where.locator('#pay').click();
  }
  async function confirm(issuer: Frame): Promise<void> {
    await issuer.locator('[name=otp]').fill('1234');
    await issuer.locator('[value=confirm]').click();
  }
  const frameAt = (path: string) => page.waitForFrame((frame) => frame.url().includes(path));

  test('a payment link takes an amount, and its checkout what is typed without a pause, from field to field', async () => {
    const { id, token } = await makeTemplate(world.service, world.merchant, {
      details: singleLine(rangePrice),
    });
    const checkout = await open(
      `${world.address}/checkout?invoiceTemplateID=${id}&locale=en#invoiceTemplateAccessToken=${token}`,
    );
    await checkout.locator('#sum').fill('25.50');
    await checkout.locator('#onward').click();
    await see(checkout, '#amount', '25.50');
    expect(await checkout.evaluate('location.href')).not.toMatch(/Token|Template/);
    await checkout.locator('#number').click();
    await page.keyboard.type(`${frictionless}130123`);
    expect(await read(checkout, '#number', 'value')).toBe('4242 4242 4242 4242');
    expect(await read(checkout, '#expiry', 'value')).toBe('01 / 30');
    expect(await read(checkout, '#code', 'value')).toBe('123');
    await page.keyboard.press('Enter');
    await see(checkout, 'h2', 'Paid');
  });

  test('the columns change sides where one reads from right to left', async () => {
    const checkout = await openInvoice();
    const summaryIsFirst = () =>
      checkout.evaluate(
        `document.querySelector('.summary').getBoundingClientRect().right <= document.querySelector('#form').getBoundingClientRect().left`,
      );
    expect(await summaryIsFirst()).toBe(true);
    await checkout.evaluate(`void (document.documentElement.dir = 'rtl')`);
    expect(await summaryIsFirst()).toBe(false);
    expect(await read(checkout, 'html', 'scrollWidth')).toBe(desktop.width);
  });

  test('the link to the other language keeps what was entered, and the bank asks in a frame of the checkout', async () => {
    const checkout = await openInvoice();
    await checkout.locator('#number').fill(frictionless);
    await checkout.locator('#expiry').fill('12/30');
    await checkout.locator('#code').fill('12');
    await checkout.locator('#language').click();
    await see(checkout, '#pay', 'Оплатить');
    expect(await read(checkout, 'html', 'lang')).toBe('ru');
    expect(await read(checkout, '#number', 'value')).toBe('4242 4242 4242 4242');
    expect(await read(checkout, '#expiry', 'value')).toBe('12 / 30');
    expect(await read(checkout, '#code', 'value')).toBe('12');
    await pay(checkout, byPost);
    await confirm(await frameAt('/issuer/'));
    await see(checkout, 'h2', 'Оплачено');
    expect(await checkout.evaluate('location.pathname')).toBe('/checkout');
  });

  test('a shop on another origin opens the checkout, with the bank in a frame within the frame', async () => {
    const { id, token } = await world.invoice();
    shop.pages['/'] =
      `<!doctype html><title>Shop</title><button id="buy" onclick="checkout.open()">Buy</button>
      <script src="${world.address}/checkout.js"></script>
      <script>
        window.reported = [];
        window.checkout = MandateCheckout.configure({
          ...${JSON.stringify({ invoiceID: id, invoiceAccessToken: token, locale: 'en' })},
          opened: () => reported.push('opened'), closed: () => reported.push('closed'), finished: () => reported.push('finished'),
        });
      </script>`;
    const site = await open(`${shop.origin}/`);
    await site.locator('#buy').click();
    const checkout = await frameAt('/checkout?');
    await pay(checkout, byPost);
    await confirm(await frameAt('/issuer/'));
    await see(checkout, 'h2', 'Paid');
    await checkout.locator('a::-p-text(Back to the shop)').click();
    await site.waitForFunction(`reported.includes('closed')`);
    expect(await site.evaluate('reported')).toEqual(['opened', 'finished', 'closed']);
    expect(await site.$('dialog')).toBe(null);
  });

  // By GET the bank’s page sends no form to the service: that way is left to the night.
  const ways = [
    ['POST', byPost],
    ['GET', byGet],
  ] as const;
  test.each(ways.slice(0, often(1, 2)))(
    'the way back from a bank that asks by %s leads to the shop without a click',
    async (_, card) => {
      shop.pages['/pay'] = pageToIssuer(await world.challenged(card, `${shop.origin}/done`));
      const site = await open(`${shop.origin}/pay`);
      await site.locator('#to-bank').click();
      await confirm(site);
      await see(site, 'h1', 'Thank you for your order');
      expect(await site.evaluate('location.href')).toBe(`${shop.origin}/done`);
    },
  );
});
