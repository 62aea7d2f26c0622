// What a payer sees at a glance: the button of the longest form without scrolling, and words and amounts in one piece.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { consentLinkWorld } from '../../support/worlds/consent-links.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';
import { actionsOn } from '../accessibility/checkout-walks.ts';
import { narrowPhone, obstacles } from '../accessibility/obstacles.ts';

const laptop = { width: 1280, height: 800 };
const sizes = [narrowPhone, { width: 360, height: 740 }];
const terms = { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 299_000 } };

/** Runs inside the browser, as text. Words as short as an amount or a date. */
const brokenWords = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    for (const { 0: word, index } of node.data.matchAll(/(?<![^ ])[^ /-]{2,18}(?![^ ])/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (range.getClientRects().length > 1) found.push(word);
    }
  }
  return found;
})()`;

/** Also what `obstacles` finds. */
async function faultsOnPhones(page: Page): Promise<string[]> {
  const found = await obstacles(page, { sizes, judge: 'never' });
  for (const size of sizes) {
    await page.setViewportSize(size);
    found.push(...(await page.evaluate<string[]>(brokenWords)));
  }
  return found;
}

describeInBrowser('the layout', () => {
  let world: CheckoutWorld;

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  const read = async (path: string) =>
    (await world.service.call('GET', path, { token: world.merchant.apiKey })).body;
  async function started() {
    const more = { product: 'Coffee', makeRecurrent: true, recurrentTerms: terms };
    const { invoiceID } = await recurringWorld(world).parent('4242424242424242', more);
    return `${invoicesUrl}/${invoiceID}/payments/1`;
  }

  test.each(['en', 'ru'])('has the button of the longest form on a laptop, in %s', async (locale) => {
    const invoice = await world.invoice({ amount: 4_495_000, makeRecurrent: true });
    const wishes = { locale, requireCardHolder: 'true', paymentFlowHold: 'true' };
    const page = await world.open(world.link(invoice, wishes), laptop);
    await page.locator('#consent-text:not(:empty)').waitFor();
    const { y, height } = (await page.locator('#pay').boundingBox())!;
    expect(y + height).toBeLessThanOrEqual(laptop.height);
  });

  test.each(['en', 'ru'])('breaks no word and no amount on a narrow phone, in %s', async (locale) => {
    const page = await world.open(world.link(await world.invoice(), { locale }));
    await actionsOn(page).payBy();
    await page.locator('#done').waitFor();
    expect(await faultsOnPhones(page)).toEqual([]);

    const payment = await started();
    const { seriesID } = await read(`${payment}/recurring`);
    const amountRule = { kind: 'fixed', amount: 59_900 };
    const trial = { trialEnd: '2026-12-31', amountAfterTrial: 129_900 };
    const dearer = { schedule: 'P1M', amountRule, validUntil: '2028-12-31', ...trial };
    const link = await consentLinkWorld(world).made(seriesID, { terms: dearer, language: locale });
    await page.goto(`${world.address}${link.path}?locale=${locale}`);
    expect(await faultsOnPhones(page)).toEqual([]);
  });

  test.each(['en', 'ru'])('of a receipt fits a narrow phone, light and dark, in %s', async (language) => {
    const { html } = await read(`${await started()}/receipt?language=${language}`);
    const page = await world.open('about:blank');
    await page.setContent(html);
    expect(await obstacles(page, { sizes })).toEqual([]);
    expect(await faultsOnPhones(page)).toEqual([]);
  });
});
