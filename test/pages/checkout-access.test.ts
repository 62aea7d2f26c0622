// Whether everybody can use the checkout: every state of it, in both languages, light and dark, in each theme, large and small, read out,
// slow and without script.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../support/processes/browser.ts';
import { phone, startCheckoutWorld, type CheckoutWorld } from '../support/worlds/checkout-world.ts';
import { narrowPhone, obstacles, type Looks } from './accessible.ts';

const soon = { timeout: 30_000, interval: 30 };

describeInBrowser('for everybody, the checkout', () => {
  let world: CheckoutWorld;
  let page: Page;

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  async function enter(card: string): Promise<void> {
    await page.locator('#number').fill(card);
    await page.locator('#expiry').fill('12/30');
    await page.locator('#code').fill('123');
  }

  /** One walk through the states of the page: what stands in somebody's way, by state. */
  async function walk(
    looks: Looks,
    steps: Record<string, () => Promise<unknown>>,
  ): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (const [state, step] of Object.entries(steps)) {
      await step();
      const inTheWay = await obstacles(page, looks);
      if (inTheWay.length > 0) found[state] = inTheWay;
    }
    return found;
  }
  /** Russian, with its longer words, on the narrowest phone. */
  const looksIn = (locale: string): Looks => (locale === 'en' ? {} : { sizes: [narrowPhone] });
  const bank = () => page.frameLocator('iframe.challenge');
  const payBy = async (card: string) => {
    await enter(card);
    await page.locator('#pay').click();
  };
  const open = (link: string) => page.goto(link);
  const seen = (selector: string) => page.locator(selector).waitFor();

  test.each(['en', 'ru'])('has nothing in the way of who pays, whatever happens, in %s', async (locale) => {
    const invoice = await world.invoice();
    const over = await world.invoice();
    await world.service.call('POST', `/v2/processing/invoices/${over.id}/rescind`, {
      token: world.merchant.apiKey,
      body: { reason: 'sold out' },
    });
    const wishes = { locale, requireCardHolder: 'true', recurring: 'true', name: 'Bean & Leaf' };
    page = await world.open(world.link(await world.invoice(), wishes));
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const found = await walk(looksIn(locale), {
      form: () => seen('#form'),
      'form with problems': () => page.locator('#pay').click(),
      declined: async () => {
        await open(world.link(invoice, { locale, paymentFlowHold: 'true' }));
        await payBy('4000000000000002');
        await seen('#notice.shown');
      },
      waiting: async () => {
        await page.route('**/payments', (route) => answered.then(() => route.continue()));
        await payBy('4012888888881881');
        await seen('#waiting');
      },
      challenge: async () => {
        answer();
        await bank().locator('[name=otp]').waitFor();
      },
      offline: async () => {
        await page.context().setOffline(true);
        await seen('#notice.shown');
      },
      left: async () => {
        await page.context().setOffline(false);
        await page.locator('#leave').click();
        await seen('#left');
      },
      done: async () => {
        await page.locator('#resume').click();
        await bank().locator('[name=otp]').fill('1234');
        await bank().locator('[value=confirm]').click();
        await seen('#done');
      },
      'loading, without an answer': async () => {
        await page.route('**/events*', () => new Promise(() => {}));
        await open(
          `${world.address}/checkout?invoiceID=${invoice.id}&locale=${locale}#invoiceAccessToken=${invoice.token}`,
        );
        await seen('#loading');
      },
      cancelled: async () => {
        await open(world.link(over, { locale }));
        await seen('#cancelled');
      },
      expired: async () => {
        await open(`${world.address}/checkout?invoiceID=nothing&locale=${locale}`);
        await seen('#dead');
      },
      'back from the bank in a window of its own': async () => {
        page = await world.openAlone(
          `${world.address}/checkout?invoiceID=${invoice.id}&returned=true&locale=${locale}`,
        );
        await seen('#heard');
      },
    });
    expect(found).toEqual({});
  });

  test.each(['en', 'ru'])('has nothing in the way of who saves a card, in %s', async (locale) => {
    page = await world.open(world.linkToBind(await world.customer(), { locale, recurringSchedule: 'P1M' }));
    const found = await walk(
      { ...looksIn(locale), themes: ['coral'] },
      {
        'form with problems': () => page.locator('#pay').click(),
        declined: async () => {
          await page.locator('#consent').check();
          await payBy('4000000000000002');
          await seen('#notice.shown');
        },
        left: async () => {
          await payBy('4012888888881881');
          await page.locator('#leave').click();
          await seen('#left');
        },
        done: async () => {
          await page.locator('#resume').click();
          await bank().locator('[name=otp]').fill('1234');
          await bank().locator('[value=confirm]').click();
          await seen('#done');
        },
      },
    );
    expect(found).toEqual({});
  });

  test('is read out as what it is', async () => {
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
      'textbox: Card number: Card: Mastercard The number is not complete',
      'textbox: Valid until: Enter the month and year, as on the card',
      'textbox: Security code: 3 digits on the back of the card The code has 3 digits',
      'textbox: Name on the card: Enter the name as it stands on the card',
      'textbox: E-mail for the receipt: Enter your e-mail address',
      'checkbox: I agree that TEST keeps this card on file and charges it for further payments without asking me each time: as agreed with the shop, until I cancel.: ' +
        'You can end this at any time: tell TEST, and no further payment is taken. Tick the box if you agree. Without it the card cannot be kept on file',
      'button: Pay RUB 60.00',
    ];
    expect(read.sort()).toEqual(wanted.sort());
  });

  test('moves nothing where no motion is wanted', async () => {
    page = await world.openAlone(world.link(await world.invoice()), { reducedMotion: 'reduce' });
    await page.route('**/payments', () => new Promise(() => {}));
    await payBy('4242424242424242');
    await seen('#waiting');
    expect(
      await page.evaluate(
        'getComputedStyle(document.querySelector("#waiting .spinner")).animationIterationCount',
      ),
    ).toBe('1');
  });

  test('without script shows what is paid, and says what is missing', async () => {
    page = await world.openAlone(world.link(await world.invoice()), { javaScriptEnabled: false });
    const text = await page.locator('body').innerText();
    expect(text).toContain('RUB\u00a060.00');
    expect(text).toContain('This page needs JavaScript');
    expect(await page.evaluate("performance.getEntriesByName('first-contentful-paint').length")).toBe(1);
    await page.locator('#number').fill('4242424242424242');
    await page.keyboard.press('Enter');
    await expect.poll(() => world.complaints.splice(0).join(), soon).toContain("form-action 'none'");
    expect(page.url()).not.toContain('4242');
  });

  test('can be used within a second on a slow phone', async () => {
    const link = world.link(await world.invoice());
    // A warm server: what is measured is the way and the page.
    page = await world.openAlone(link, { viewport: phone });
    await page.goto('about:blank');
    const tools = await page.context().newCDPSession(page);
    await tools.send('Network.enable');
    const [kilobits, latency] = [1_600, 150];
    const throughput = (kilobits * 1_024) / 8;
    await tools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency,
      downloadThroughput: throughput,
      uploadThroughput: throughput,
    });
    await tools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    // When it can be seen, and when a key that is pressed is put into its group: then the form is there for the payer.
    await page.addInitScript(`
      addEventListener('DOMContentLoaded', () => {
        const number = document.querySelector('#number');
        number.focus();
        document.execCommand('insertText', false, '42424');
        window.typed = number.value;
        window.usableAtMs = performance.now();
      });
      new PerformanceObserver((list) => { for (const { name, startTime } of list.getEntries())
        if (name === 'first-contentful-paint') window.paintedAtMs = startTime; }).observe({ type: 'paint', buffered: true });`);
    const times: number[] = [];
    // The best of three: others use this machine as well.
    for (let turn = 0; turn < 3; turn++) {
      await page.goto(link, { waitUntil: 'load' });
      await expect.poll(() => page.evaluate('window.paintedAtMs > 0'), soon).toBe(true);
      expect(await page.evaluate('window.typed')).toBe('4242 4');
      times.push(await page.evaluate<number>('Math.max(window.paintedAtMs, window.usableAtMs)'));
    }
    console.info(`usable on a slow phone after ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
    expect(Math.min(...times)).toBeLessThan(1_000);
  });

  test('lets nothing run that is not its own: a breach of its policy is heard of', async () => {
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
