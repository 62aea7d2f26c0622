// Whether everybody can use the checkout: every view of it, light and dark, in each theme, large and small, slow and without
// script. What is different for who binds a card is in checkout-binding.test.ts.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../support/browser.ts';
import { desktop, phone, startCheckoutWorld, type CheckoutWorld } from '../support/checkout-world.ts';
import { obstacles } from './accessible.ts';
import { faintTexts } from './contrast.ts';

const soon = { timeout: 10_000, interval: 30 };

describeInBrowser('for everybody, the checkout', () => {
  let world: CheckoutWorld;
  let page: Page;

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(() => world?.close());
  afterEach(async () => {
    await page?.context().close();
    world.requireNoComplaints();
  });

  async function enter(card: string): Promise<void> {
    await page.locator('#number').fill(card);
    await page.locator('#expiry').fill('12/30');
    await page.locator('#code').fill('123');
  }

  /** Each view, and how one gets there. */
  const ways: Record<string, () => Promise<void>> = {
    form: () => Promise.resolve(),
    'form with problems': () => page.locator('#pay').click(),
    'form after a decline': async () => {
      await enter('4000000000000002');
      await page.locator('#pay').click();
      await page.locator('#notice.shown').waitFor();
    },
    waiting: async () => {
      await page.route('**/payments', () => new Promise(() => {}));
      await enter('4242424242424242');
      await page.locator('#pay').click();
      await page.locator('#waiting').waitFor();
    },
    challenge: async () => {
      await enter('4012888888881881');
      await page.locator('#pay').click();
      await page.locator('#challenge').waitFor();
    },
    left: async () => {
      await ways['challenge']?.();
      await page.locator('#leave').click();
      await page.locator('#left').waitFor();
    },
    done: async () => {
      await enter('4242424242424242');
      await page.locator('#pay').click();
      await page.locator('#done').waitFor();
    },
    dead: async () => {
      await page.goto(`${world.address}/checkout?invoiceID=nothing`);
      await page.locator('#dead').waitFor();
    },
  };
  const more = { requireCardHolder: 'true', paymentFlowHold: 'false' };

  test.each(Object.keys(ways))('has nothing in anybody’s way: %s', async (name) => {
    const isForm = name.startsWith('form');
    const link = world.link(await world.invoice(), isForm ? { ...more, recurring: 'true' } : {});
    page = await world.open(link);
    if (name === 'form after a decline') await page.goto(world.link(await world.invoice()));
    await ways[name]?.();
    for (const viewport of [desktop, phone, { width: 320, height: 640 }]) {
      await page.setViewportSize(viewport);
      expect(await page.evaluate(obstacles), `${viewport.width} wide`).toEqual([]);
    }
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const theme of ['main', 'coral']) {
        await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
        const faint = await page.locator('body *:not(iframe)').evaluateAll(faintTexts);
        expect(faint, `${colorScheme} ${theme}`).toEqual([]);
      }
    }
  });

  test('is read out as what it is', async () => {
    page = await world.open(world.link(await world.invoice(), { ...more, recurring: 'true' }));
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
      'textbox: E-mail for the receipt: Enter your e-mail address: the receipt goes there',
      'checkbox: I agree that TEST keeps this card on file and charges it for further payments without asking me each time: as agreed with the shop, until I cancel.: ' +
        'You can end this at any time: tell TEST, and no further payment is taken. Tick the box if you agree. Without it the card cannot be kept on file',
      'button: Pay RUB 60.00',
    ];
    expect(read.sort()).toEqual(wanted.sort());
  });

  test('moves nothing where no motion is wanted', async () => {
    page = await world.open(world.link(await world.invoice()), { reducedMotion: 'reduce' });
    await ways['waiting']?.();
    expect(
      await page.evaluate(
        'getComputedStyle(document.querySelector("#waiting .spinner")).animationIterationCount',
      ),
    ).toBe('1');
  });

  test('without script shows what is paid, and says what is missing', async () => {
    page = await world.open(world.link(await world.invoice()), { javaScriptEnabled: false });
    const text = await page.locator('body').innerText();
    expect(text).toContain('RUB\u00a060.00');
    expect(text).toContain('This page needs JavaScript');
    await page.locator('#number').fill('4242424242424242');
    await page.keyboard.press('Enter');
    await expect.poll(() => world.complaints.splice(0).join(), soon).toContain("form-action 'none'");
    expect(page.url()).not.toContain('4242');
  });

  test('can be used within a second on a slow phone', async () => {
    const link = world.link(await world.invoice());
    // A warm server: what is measured is the way and the page.
    page = await world.open(link, { viewport: phone });
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
    await page.addInitScript(`
      addEventListener('DOMContentLoaded', () => { window.parsedAtMs = performance.now(); });
      new PerformanceObserver((list) => { for (const { name, startTime } of list.getEntries())
        if (name === 'first-contentful-paint') window.paintedAtMs = startTime; }).observe({ type: 'paint', buffered: true });`);
    const times: number[] = [];
    // The best of three: others use this machine as well.
    for (let turn = 0; turn < 3; turn++) {
      await page.goto(link, { waitUntil: 'load' });
      await expect.poll(() => page.evaluate('window.paintedAtMs > 0'), soon).toBe(true);
      times.push(await page.evaluate<number>('Math.max(window.paintedAtMs, window.parsedAtMs)'));
    }
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
