// Every state of the checkout, page of the console and operation of the reference, judged by night in every language, theme and size.
// `npm run check` judges each English state once, and a few operations (checkout-access.test.ts, docs.test.ts).
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { often } from '../../support/service/campaign.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { follow } from '../console/follow.ts';
import { walkThroughBinding, walkThroughPayment } from './checkout-walks.ts';
import { openReferencePage, phone, type ReferencePage } from './reference-page.ts';
import { faintTexts } from './contrast.ts';
import { narrowPhone, obstacles, type Looks } from './obstacles.ts';

const declinedCard = '4000000000000002';

/** Russian first: `npm run check` judges the English states. */
const locales = ['ru', 'en'].slice(0, often(1, 2));

describeInBrowser('the checkout', () => {
  let world: CheckoutWorld;

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  test.each(locales)('breaks no accessibility rule, in any look, in %s', async (locale) => {
    const looks: Looks = { judge: 'everySize', themes: ['coral'] };
    expect(await walkThroughPayment(world, locale, looks)).toEqual({});
    expect(await walkThroughBinding(world, locale, looks)).toEqual({});
  });
});

describeInBrowser('the console', () => {
  let world: CheckoutWorld;
  let payment: string;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    world.service.clock.set(Date.now());
    const { token, session } = await world.tokenize(declinedCard);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, paymentSession: session };
    const { id } = await world.pay(declinedCard, { payer: { ...payer, contactInfo: {} } });
    payment = `/payments/${id}/1`;
    await world.service.jobs.whenIdle();
    await world.service.search.whenIdle();
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  test.each(locales)('breaks no accessibility rule, in any look, in %s', async (locale) => {
    const viewer = { kind: 'operator', partyId: world.merchant.partyId } as const;
    const { credential } = await world.service.consoleSessions.makeLink(viewer, 'ada@desk');
    const page = await world.openAlone(`${world.address}/console/enter#${credential}`, { locale });
    await page.locator('button.main').click();
    await page.locator('nav').waitFor();
    const paths = ['/today', '/payments', payment, '/payouts', '/webhooks', '/series', '/jobs', '/banks'];
    for (const path of paths) {
      await follow(page, path);
      await page.locator('h1').waitFor();
      await expect.poll(() => page.locator('p[role=status].soft').count(), { timeout: 30_000 }).toBe(0);
      for (const table of await page.locator('summary').all()) await table.click();
      expect(await page.locator('html').getAttribute('lang')).toBe(locale);
      expect(await obstacles(page, { judge: 'everySize' }), path).toEqual([]);
    }
  });
});

describeInBrowser('the reference page', () => {
  let reference: ReferencePage;

  beforeAll(async () => void (reference = await openReferencePage()));
  afterAll(() => reference?.close());

  test('breaks no accessibility rule on any operation', async () => {
    const { page } = reference;
    await reference.show('all');
    await reference.tryIt('createInvoice');
    await reference.tryIt('listInvoiceEvents');
    const looks: Looks = { sizes: [{ width: 1440, height: 900 }, narrowPhone], contrast: 'elsewhere' };
    expect(await obstacles(page, looks)).toEqual([]);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.locator('body *').evaluateAll(faintTexts)).toEqual([]);
    }
  });

  test('fits a phone with every field of every operation open', async () => {
    await reference.show('all');
    await reference.page.setViewportSize(phone);
    await reference.openEveryField();
    expect(await reference.page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
  });
});
