// Where a payer goes who does not pay.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import {
  startCheckoutWorld,
  startShopSite,
  type CheckoutWorld,
  type ShopSite,
} from '../../support/worlds/checkout-world.ts';
import { obstacles } from '../accessibility/obstacles.ts';

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

  test.each([
    ['link', 'Back to the shop'],
    ['button', 'Close'],
  ] as const)('goes back from a frame by its %s “%s”', async (role, name) => {
    const { id, token } = await world.invoice();
    const options = {
      invoiceID: id,
      invoiceAccessToken: token,
      locale: 'en',
      cancelUrl: `${shop.origin}/cart`,
    };
    shop.pages['/'] = `<!doctype html><title>Shop</title><h1>Shop</h1>
      <button id="buy" onclick="checkout.open()">Buy</button><script src="${world.address}/checkout.js"></script>
      <script>window.checkout = MandateCheckout.configure(${JSON.stringify(options)});</script>`;
    const page = await world.open(`${shop.origin}/`);
    await page.locator('#buy').click();
    // The page's script works once the button is there.
    const frame = page.frameLocator('dialog iframe');
    await frame.getByRole('button', { name: 'Close' }).waitFor();
    await frame.getByRole(role, { name }).click();
    await page.waitForURL(`${shop.origin}/cart`);
    expect(await page.title()).toBe('Cart');
  });

  test('is shown no way back to a site that the shop has not listed', async () => {
    const page = await world.open(
      world.link(await world.invoice(), { cancelUrl: 'https://evil.example/cart' }),
    );
    expect(await page.getByRole('link').count()).toBe(0);
  });
});
