// The way back from the bank to the shop, in a real browser. The simulated issuer lets its form lead to the service alone, as real ones do.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setShopOrigins } from '../../src/merchants/store/parties.ts';
import { describeInBrowser } from '../support/processes/browser.ts';
import { pageToIssuer, type BrowserRequest } from '../support/bank/issuer-page.ts';
import {
  desktop,
  holdTimer,
  startCheckoutWorld,
  startShopSite,
  type CheckoutWorld,
  type ShopSite,
} from '../support/worlds/checkout-world.ts';

const byPost = '4012888888881881';
const byGet = '4556724110260093';
/** An invoice of a shop without a list of sites. */
const unlisted = { shopID: 'TEST_EUR', currency: 'EUR' };

describeInBrowser('the way back from the bank', () => {
  let world: CheckoutWorld;
  let shop: ShopSite;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    shop = await startShopSite();
    shop.pages['/done'] = '<!doctype html><title>Done</title><h1>Thank you for your order</h1>';
    await world.service.testDatabase.database.run(setShopOrigins, {
      party_id: world.merchant.partyId,
      shop_id: 'TEST',
      origins: shop.origin,
    });
  });
  afterAll(async () => {
    await world?.close();
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
  async function goToIssuer(request: BrowserRequest, script?: string): Promise<Page> {
    shop.pages['/pay'] = pageToIssuer(request);
    const page = await world.open(`${shop.origin}/pay`, desktop, script);
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
    const challenged = what === 'payment' ? world.challenged : challengedBinding;
    const page = await goToIssuer(await challenged(card, `${shop.origin}/done`));
    await confirm(page);
    await page.waitForURL(`${shop.origin}/done`);
    expect(await page.title()).toBe('Done');
    await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor();
  });

  test('leads to a page of the service', async () => {
    const page = await goToIssuer(await world.challenged(byPost, `${world.address}/health/live`, unlisted));
    await confirm(page);
    await page.waitForURL(`${world.address}/health/live`);
    expect(await page.locator('body').innerText()).toContain('ok');
  });

  test('leads to a site of the shop without scripts, too', async () => {
    const { uriTemplate } = await world.challenged(byGet, `${shop.origin}/done`);
    const page = await world.openAlone(uriTemplate, { javaScriptEnabled: false });
    await confirm(page);
    await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor();
    expect(page.url()).toBe(`${shop.origin}/done`);
  });

  test('names a site that the shop has not listed, and leads there with a click', async () => {
    const request = await world.challenged(byPost, `${shop.origin}/done`, unlisted);
    // In a sandbox the page also continues automatically, after four seconds.
    const page = await goToIssuer(request, holdTimer(4_000));
    await confirm(page);
    await page.getByText(new URL(shop.origin).host).waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.waitForURL(`${shop.origin}/done`);
    expect(await page.title()).toBe('Done');
  });

  test('is a card of its width also in a wide window, where there is no shop to go to', async () => {
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
