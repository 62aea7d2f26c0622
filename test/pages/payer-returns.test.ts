// The way back from the bank to the shop, in a real browser. The simulated issuer lets its form lead to the service alone, as real ones do.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setShopOrigins } from '../../src/merchants/store/parties.ts';
import { describeInBrowser } from '../support/processes/browser.ts';
import { pageToIssuer, type BrowserRequest } from '../support/bank/issuer-page.ts';
import {
  holdTimer,
  startCheckoutWorld,
  startShopSite,
  type CheckoutWorld,
  type ShopSite,
} from '../support/worlds/checkout-world.ts';

const byPost = '4012888888881881';
const byGet = '4556724110260093';

describeInBrowser('the way back from the bank', () => {
  // Two, as a node keeps what it has read about a shop for up to a second.
  let listed: CheckoutWorld;
  let unlisted: CheckoutWorld;
  let world: CheckoutWorld;
  let shop: ShopSite;

  beforeAll(async () => {
    world = listed = await startCheckoutWorld();
    unlisted = await startCheckoutWorld();
    shop = await startShopSite();
    shop.pages['/done'] = '<!doctype html><title>Done</title><h1>Thank you for your order</h1>';
    await listed.service.testDatabase.database.run(setShopOrigins, {
      party_id: listed.merchant.partyId,
      shop_id: 'TEST',
      origins: shop.origin,
    });
  });
  afterAll(async () => {
    await listed?.close();
    await unlisted?.close();
    await shop?.stop();
  });
  afterEach(() => world.leave());

  const token = () => world.merchant.apiKey;

  async function challengedBinding(card: string, redirectUrl: string): Promise<BrowserRequest> {
    const customer = await world.customer();
    const { token: paymentToolToken, session: paymentSession } = await world.tokenize(card);
    const url = `/v2/processing/customers/${customer.id}`;
    const body = { paymentResource: { paymentToolToken, paymentSession }, sessionInfo: { redirectUrl } };
    expect((await world.service.call('POST', `${url}/bindings`, { token: token(), body })).status).toBe(201);
    await world.service.jobs.whenIdle();
    const events = await world.service.call('GET', `${url}/events?limit=100`, { token: token() });
    const changes = events.body.flatMap((event: any) => event.changes);
    return changes.find(({ userInteraction }: any) => userInteraction).userInteraction.request;
  }

  /** As a shop of its own sends them there. */
  async function goToIssuer(
    request: BrowserRequest,
    open: (url: string) => Promise<Page> = world.open,
  ): Promise<Page> {
    shop.pages['/pay'] = pageToIssuer(request);
    const page = await open(`${shop.origin}/pay`);
    await page.locator('#to-bank').click();
    return page;
  }

  async function confirm(page: Page): Promise<void> {
    await page.getByLabel('Code from your bank').fill('1234');
    await page.getByRole('button', { name: 'Confirm' }).click();
  }

  test.each([
    ['payment', 'POST', byPost],
    ['payment', 'GET', byGet],
    ['binding', 'POST', byPost],
    ['binding', 'GET', byGet],
  ])('leads a payer whose %s was challenged by %s to a site of the shop', async (what, _, card) => {
    world = listed;
    const challenged = what === 'payment' ? world.challenged : challengedBinding;
    const page = await goToIssuer(await challenged(card, `${shop.origin}/done`));
    await confirm(page);
    await page.waitForURL(`${shop.origin}/done`);
    expect(await page.title()).toBe('Done');
    await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor();
  });

  test('leads to a page of the service', async () => {
    world = unlisted;
    const page = await goToIssuer(await world.challenged(byPost, `${world.address}/health/live`));
    await confirm(page);
    await page.waitForURL(`${world.address}/health/live`);
    expect(await page.locator('body').innerText()).toContain('ok');
  });

  test('leads to a site of the shop without scripts, too', async () => {
    world = listed;
    const { uriTemplate } = await world.challenged(byGet, `${shop.origin}/done`);
    const page = await world.openAlone(uriTemplate, { javaScriptEnabled: false });
    await confirm(page);
    await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor();
    expect(page.url()).toBe(`${shop.origin}/done`);
  });

  test('names a site that the shop has not listed, and leads there with a click', async () => {
    world = unlisted;
    // In a sandbox the page also continues automatically, after four seconds.
    const openHeld = async (url: string): Promise<Page> => {
      const held = await world.openAlone('about:blank');
      await held.addInitScript(holdTimer(4_000));
      await held.goto(url);
      return held;
    };
    const page = await goToIssuer(await world.challenged(byPost, `${shop.origin}/done`), openHeld);
    await confirm(page);
    await page.getByText(new URL(shop.origin).host).waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.waitForURL(`${shop.origin}/done`);
    expect(await page.title()).toBe('Done');
  });

  test('is a card of its width also in a wide window, where there is no shop to go to', async () => {
    world = listed;
    const { id } = await world.paid('4242424242424242');
    const page = await world.open(`${world.address}/payer/return/${id}/1`, { width: 1280, height: 800 });
    await page.getByRole('heading', { name: 'Your bank has replied' }).waitFor();
    const sheet = await page.locator('.sheet').boundingBox();
    const heading = await page.locator('h1').boundingBox();
    expect(sheet?.width).toBe(440);
    const middleOf = (box: typeof sheet) => Math.round((box?.x ?? 0) + (box?.width ?? 0) / 2);
    expect(middleOf(heading)).toBe(middleOf(sheet));
  });
});
