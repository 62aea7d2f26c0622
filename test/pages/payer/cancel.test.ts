// Where a payer goes who does not pay.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import {
  startCheckoutWorld,
  startShopSite,
  type CheckoutWorld,
  type ShopSite,
} from '../../support/worlds/checkout-world.ts';
import { obstacles } from '../accessibility/obstacles.ts';

const soon = { timeout: 30_000, interval: 100 };

async function pay(frame: { locator: Page['locator'] }, card: string): Promise<void> {
  await frame.locator('#amount:not(:empty)').waitFor();
  await frame.locator('#number').fill(card);
  await frame.locator('#expiry').fill('12/30');
  await frame.locator('#code').fill('123');
  await frame.locator('#pay').click();
}

describeInBrowser('a payer who does not pay', () => {
  let world: CheckoutWorld;
  let shop: ShopSite;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    shop = await startShopSite();
    shop.pages['/cart'] = '<!doctype html><title>Cart</title>';
    await world.service.database.withClient((client) =>
      client.query('update shop set origins = $1 where party_id = $2', [shop.origin, world.merchant.partyId]),
    );
  });
  afterAll(async () => {
    await world?.close();
    await shop?.stop();
  });
  afterEach(() => world.leave());

  test('goes back to the shop by a link, also after a reload', async () => {
    const cancelUrl = `${shop.origin}/cart`;
    const page = await world.open(world.link(await world.invoice(), { cancelUrl }));
    await page.reload();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('link', { name: 'Back to the shop' }).click();
    await page.waitForURL(cancelUrl);
  });

  /**
   * Opens the checkout in a frame of a page that keeps when it was closed and where it is led, and stays. The progress stands apart: a
   * message of it may arrive after a close.
   */
  async function openFrame(ofPage: object, ofOpen: object = {}) {
    const { id, token } = await world.invoice();
    const options = { invoiceID: id, invoiceAccessToken: token, locale: 'en', ...ofPage };
    shop.pages['/'] = `<!doctype html><title>Shop</title><h1>Shop</h1>
      <button id="buy" onclick='checkout.open(${JSON.stringify(ofOpen)})'>Buy</button><script src="${world.address}/checkout.js"></script>
      <script>
        window.heard = [];
        window.checkout = MandateCheckout.configure({ ...${JSON.stringify(options)}, closed: () => heard.push('closed') });
        addEventListener('message', ({ data }) => data.type === 'progressed' && (window.isPending = data.isPending));
        navigation.addEventListener('navigate', (event) => {
          heard.push(new URL(event.destination.url).pathname);
          event.preventDefault();
        });
      </script>`;
    const page = await world.open(`${shop.origin}/`);
    await page.locator('#buy').click();
    // The page's script works once the button is there.
    const frame = page.frameLocator('dialog iframe');
    await frame.getByRole('button', { name: 'Close' }).waitFor();
    return {
      page,
      frame,
      heard: () => page.evaluate<string[]>('heard'),
      isPending: () => page.evaluate<boolean>('window.isPending'),
    };
  }
  const cancelUrl = () => `${shop.origin}/cart`;

  test.each([
    ['link', 'Back to the shop'],
    ['button', 'Close'],
  ] as const)('goes back from a frame by its %s “%s”', async (role, name) => {
    const { frame, heard } = await openFrame({ cancelUrl: cancelUrl() });
    await frame.getByRole(role, { name }).click();
    await expect.poll(async () => (await heard()).at(-1), soon).toBe('/cart');
  });

  test('goes where the options of the last open lead', async () => {
    const { page, heard } = await openFrame(
      { cancelUrl: `${shop.origin}/other` },
      { cancelUrl: cancelUrl() },
    );
    await page.evaluate('checkout.close()');
    expect(await heard()).toEqual(['closed', '/cart']);
  });

  type Opened = Awaited<ReturnType<typeof openFrame>>;
  const ways: [string, (opened: Opened) => Promise<unknown>][] = [
    ['Close', ({ frame }) => frame.getByRole('button', { name: 'Close' }).click()],
    ['Escape in the frame', ({ frame }) => frame.locator('#close').press('Escape')],
    ['Escape on the page', ({ page }) => page.locator('dialog').press('Escape')],
    ['the shop', ({ page }) => page.evaluate('checkout.close()')],
  ];

  test.each(ways)('is not led away by %s while the payment is sent', async (_, close) => {
    const opened = await openFrame({ cancelUrl: cancelUrl(), redirectUrl: cancelUrl() });
    const { page, frame, heard, isPending } = opened;
    // The response never comes.
    await page.route('**/payment-resources', () => {});
    await pay(frame, '4242424242424242');
    await frame.locator('#waiting').waitFor();
    await expect.poll(isPending, soon).toBe(true);
    await close(opened);
    await expect.poll(heard, soon).toEqual(['closed']);
  });

  test('may leave without paying only after their bank has declined', async () => {
    const { page, frame, heard, isPending } = await openFrame({ cancelUrl: cancelUrl() });
    await pay(frame, '4012888888881881');
    const bank = frame.frameLocator('iframe.challenge');
    await bank.locator('[name=otp]').waitFor();
    await frame.getByRole('button', { name: 'Close' }).click();
    await expect.poll(heard, soon).toEqual(['closed']);
    // The payment is still pending when the shop's page opens the checkout once more.
    await page.locator('#buy').click();
    await page.evaluate('checkout.close()');
    expect(await heard()).toEqual(['closed', 'closed']);
    await page.locator('#buy').click();
    await bank.locator('[value=refuse]').click();
    await frame.locator('#form').waitFor();
    await expect.poll(isPending, soon).toBe(false);
    await frame.getByRole('button', { name: 'Close' }).click();
    await expect.poll(heard, soon).toEqual(['closed', 'closed', 'closed', '/cart']);
  });

  test('is shown no way back to a site that the shop has not listed', async () => {
    const page = await world.open(
      world.link(await world.invoice(), { cancelUrl: 'https://evil.example/cart' }),
    );
    expect(await page.getByRole('link', { name: 'Back to the shop' }).count()).toBe(0);
  });
});
