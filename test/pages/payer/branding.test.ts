// The checkout and the other pages for payers of a shop with a logo, a colour and links, in a browser.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { storeBranding } from '../../../src/merchants/store/branding.ts';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { desktop, startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { consentLinkWorld } from '../../support/worlds/consent-links.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';
import { narrowPhone, obstacles } from '../accessibility/obstacles.ts';

/** One pixel. */
const logo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const accent = '#8a1f6b';
const links = { termsUrl: 'https://shop.example/terms?a=1&b=2', privacyUrl: 'https://shop.example/privacy' };
const sizes = [narrowPhone, desktop];

describeInBrowser('a shop with a look of its own', () => {
  let world: CheckoutWorld;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    const shop = { partyId: world.merchant.partyId, shopId: 'TEST' };
    await storeBranding(world.service.database, shop, { accent, logo, ...links });
    await storeSettings(world.service.database, shop, { contact: 'help@shop.example' });
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  async function expectLook(page: Page): Promise<void> {
    const image = page.locator('.shop img');
    expect(await image.evaluate('document.querySelector(".shop img").naturalWidth')).toBe(1);
    expect(await image.getAttribute('alt')).toBe('');
    const hrefs = await page
      .locator('.small-print a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    expect(hrefs).toEqual(['mailto:help@shop.example', links.termsUrl, links.privacyUrl]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const look =
        "(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.querySelector('.main')))";
      expect(await page.evaluate(look)).toEqual(['rgb(138, 31, 107)', 'rgb(255, 255, 255)']);
    }
    expect(await obstacles(page, { sizes })).toEqual([]);
  }

  test('has it on the checkout', async () => {
    await expectLook(await world.open(world.link(await world.invoice(), { theme: 'coral' })));
  });

  test('has it on the page of a consent link', async () => {
    const parent = await recurringWorld(world).parent();
    const url = `${invoicesUrl}/${parent.invoiceID}/payments/1/recurring`;
    const { body } = await world.service.call('GET', url, { token: world.merchant.apiKey });
    const { path } = await consentLinkWorld(world).made(body.seriesID);
    await expectLook(await world.open(world.address + path));
  });

  test('has it on the page that ends recurring charges', async () => {
    const { invoiceID } = await recurringWorld(world).parent();
    const { body } = await world.service.call('GET', `${invoicesUrl}/${invoiceID}/payments/1/receipt`, {
      token: world.merchant.apiKey,
    });
    await expectLook(await world.open(/open (\S+)/.exec(body.text)?.[1] ?? ''));
  });
});
