// Every state of the checkout and every operation of the reference, judged in every language, theme and size.
// `npm test` judges each state once (checkout-access.test.ts, docs.test.ts).
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { often } from '../../support/service/campaign.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { walkThroughBinding, walkThroughPayment } from './checkout-walks.ts';
import { openReferencePage, phone, type ReferencePage } from './reference-page.ts';
import { narrowPhone, obstacles, type Looks } from './obstacles.ts';

/** Russian first: `npm test` has judged the English states. */
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

describeInBrowser('the reference page', () => {
  let reference: ReferencePage;

  beforeAll(async () => void (reference = await openReferencePage()));
  afterAll(() => reference?.close());

  test('breaks no accessibility rule on any operation', async () => {
    const { page } = reference;
    await reference.show('all');
    await reference.tryIt('createInvoice');
    await reference.tryIt('listInvoiceEvents');
    // docs.test.ts measures the contrast of every text.
    const looks: Looks = { sizes: [{ width: 1440, height: 900 }, narrowPhone], contrast: 'elsewhere' };
    expect(await obstacles(page, looks)).toEqual([]);
  });

  test('fits a phone with every field of every operation open', async () => {
    await reference.show('all');
    await reference.page.setViewportSize(phone);
    await reference.openEveryField();
    expect(await reference.page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
  });
});
