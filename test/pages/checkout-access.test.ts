// Whether every payer can use the checkout: each state is judged once, in English, in light and dark.
// By night all-looks.test.ts judges it in every language, theme and size.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../support/processes/browser.ts';
import { phone, startCheckoutWorld, type CheckoutWorld } from '../support/worlds/checkout-world.ts';
import { actionsOn, walkThroughBinding, walkThroughPayment } from './accessibility/checkout-walks.ts';
import { narrowPhone, type Looks } from './accessibility/obstacles.ts';

const soon = { timeout: 30_000, interval: 100 };
/** A slow phone on a slow network, of 1.6 Mbit/s, shows this much within a second. */
const maxPageBytes = 20_480;
const maxParsedBytes = 80_000;
/** The first paint may come after the page has loaded. */
const painted = "performance.getEntriesByName('first-contentful-paint').length";

describeInBrowser('the checkout', () => {
  let world: CheckoutWorld;
  let page: Page;

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  test('breaks no accessibility rule, in any state', async () => {
    expect(await walkThroughPayment(world, 'en', {})).toEqual({});
  });

  test('breaks no accessibility rule for a payer who saves a card, in any state', async () => {
    expect(await walkThroughBinding(world, 'en', {})).toEqual({});
  });

  test('fits the narrowest phone in Russian, which has longer words', async () => {
    const narrow: Looks = { sizes: [narrowPhone], judge: 'never' };
    expect(await walkThroughPayment(world, 'ru', narrow)).toEqual({});
    expect(await walkThroughBinding(world, 'ru', narrow)).toEqual({});
  });

  test('is announced by a screen reader as what it shows', async () => {
    page = await world.open(
      world.link(await world.invoice(), { requireCardHolder: 'true', recurring: 'true' }),
    );
    await page.locator('#number').pressSequentially('5555');
    await page.locator('#code').fill('1');
    await page.locator('#pay').click();
    const tools = await page.context().newCDPSession(page);
    const { nodes } = await tools.send('Accessibility.getFullAXTree');
    const read = nodes
      .filter(
        ({ ignored, role }) =>
          !ignored && ['textbox', 'checkbox', 'button', 'heading', 'status'].includes(role?.value),
      )
      .map(({ role, name, description }) =>
        [role?.value, name?.value, description?.value].filter(Boolean).join(': ').replaceAll('\u00a0', ' '),
      );
    const wanted = [
      'heading: Payment RUB 60.00',
      'status',
      'textbox: Card number: Card: Mastercard Enter the full card number',
      'textbox: Valid until: Enter the month and year, as on the card',
      'textbox: Security code: 3 digits on the back Enter all 3 digits of the code',
      'textbox: Name on the card: Enter the name as on the card',
      'textbox: E-mail for the receipt: Enter your e-mail address',
      'checkbox: I agree that TEST keeps this card on file and charges it for further payments without asking me each time: as agreed with the shop, until I cancel. ' +
        'This payment is RUB 60.00. Later amounts are as agreed with the shop.: ' +
        'You can end this at any time: open the link in the receipt, or tell TEST. Then no further payment is taken. Tick the box if you agree. Otherwise the card cannot be saved',
      'button: Pay RUB 60.00',
    ];
    expect(read.sort()).toEqual(wanted.sort());
  });

  test('stops its animation for a payer who wants less motion', async () => {
    page = await world.open(world.link(await world.invoice()));
    await page.route('**/payments', () => new Promise(() => {}));
    const { payBy, seen } = actionsOn(page);
    await payBy();
    await seen('#waiting');
    const turns = () =>
      page.evaluate('getComputedStyle(document.querySelector("#waiting .spinner")).animationIterationCount');
    expect(await turns()).toBe('1');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await turns()).toBe('infinite');
  });

  test('shows the amount without scripts, and asks for JavaScript', async () => {
    page = await world.openAlone(world.link(await world.invoice()), { javaScriptEnabled: false });
    const text = await page.locator('body').innerText();
    expect(text).toContain('RUB\u00a060.00');
    expect(text).toContain('This page needs JavaScript');
    await expect.poll(() => page.evaluate(painted), soon).toBe(1);
    await page.locator('#number').fill('4242424242424242');
    await page.keyboard.press('Enter');
    await expect.poll(() => world.complaints.splice(0).join(), soon).toContain("form-action 'none'");
    expect(page.url()).not.toContain('4242');
  });

  test('can be used after its first response, which is small', async () => {
    page = await world.openAlone('about:blank', { viewport: phone });
    // A slow network would bring anything else later.
    await page.route('**/*', (route) =>
      route.request().isNavigationRequest() ? route.continue() : new Promise(() => {}),
    );
    // The form is usable once it is painted and groups the digits that are typed.
    await page.addInitScript(`
      addEventListener('DOMContentLoaded', () => {
        const number = document.querySelector('#number');
        number.focus();
        document.execCommand('insertText', false, '42424');
        window.typed = number.value;
      });`);
    await page.goto(world.link(await world.invoice()), { waitUntil: 'load' });
    await expect.poll(() => page.evaluate(painted), soon).toBe(1);
    expect(await page.evaluate('window.typed')).toBe('4242 4');
    const { encodedBodySize, decodedBodySize } = await page.evaluate<{
      encodedBodySize: number;
      decodedBodySize: number;
    }>("performance.getEntriesByType('navigation')[0].toJSON()");
    expect(encodedBodySize).toBeGreaterThan(0);
    expect(encodedBodySize).toBeLessThan(maxPageBytes);
    expect(decodedBodySize).toBeLessThan(maxParsedBytes);
  });

  test('blocks foreign scripts, images and requests, and reports each to the console', async () => {
    page = await world.open(world.link(await world.invoice()));
    await page.evaluate(`{
      const script = document.createElement('script');
      try { script.textContent = 'window.broken = true'; document.body.append(script); } catch {}
      const image = new Image(); image.src = 'https://elsewhere.example/x.png';
      fetch('https://elsewhere.example/').catch(() => {});
    }`);
    await expect.poll(() => world.complaints.length, soon).toBeGreaterThan(3);
    const breaches = world.complaints.splice(0).join('\n');
    for (const broken of ['TrustedScript', 'img-src', 'connect-src']) expect(breaches).toContain(broken);
    expect(await page.evaluate('window.broken')).toBeUndefined();
  });
});
