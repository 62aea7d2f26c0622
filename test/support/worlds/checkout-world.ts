// A payment world that listens for browsers: payers at the checkout, and shops that open it from another site.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, BrowserContextOptions, Disposable, Page } from 'playwright-core';
import { freePort } from '../../../tools/free-port.ts';
import type { BrowserRequest } from '../bank/issuer-page.ts';
import { openBrowser } from '../processes/browser.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from './invoices.ts';
import { startPaymentWorld, type PaymentWorld } from './payment-world.ts';

export const desktop = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };
/** Of every window. A spinner that turns takes processor time and shows a test nothing. */
const looks: BrowserContextOptions = { viewport: desktop, locale: 'en-GB', reducedMotion: 'reduce' };

export type CreatedCustomer = { readonly id: string; readonly token: string };

/** What payers come to, whatever their browser. */
export type PayersWorld = PaymentWorld & {
  readonly address: string;
  invoice(more?: Record<string, unknown>): Promise<CreatedInvoice>;
  /** The plain link. */
  link(invoice: CreatedInvoice, more?: Record<string, string>): string;
  /** With its own ID and the token of a payer. */
  customer(more?: Record<string, unknown>): Promise<CreatedCustomer>;
  /** The plain link by which a customer saves a card. */
  linkToBind(customer: CreatedCustomer, more?: Record<string, string>): string;
  /** The way to the bank of a payer whose payment is challenged, and who then goes to that address. */
  challenged(card: string, redirectUrl: string, invoice?: Record<string, unknown>): Promise<BrowserRequest>;
};

/** With a Chromium. */
export type CheckoutWorld = PayersWorld & {
  readonly browser: Browser;
  /** Errors of a page, and breaches of its policy. Refused or cancelled requests are the tests' own doing. */
  readonly complaints: string[];
  /**
   * Reuses a window if there is one, because a new one takes 250 ms. Until the end of the test, the script runs in every page before
   * the page's own.
   */
  open(
    url: string,
    viewport?: { readonly width: number; readonly height: number },
    script?: string,
  ): Promise<Page>;
  /** In a separate browser context: with another language, without scripts, or with nothing that earlier tests left. */
  openAlone(url: string, options?: BrowserContextOptions, from?: Browser): Promise<Page>;
  /** Resets everything after each test. A breach of a page's policy fails the test, wherever it happened. */
  leave(): Promise<void>;
};

export async function startPayersWorld(
  prepare?: Parameters<typeof startPaymentWorld>[2],
  environment: Record<string, string> = {},
): Promise<PayersWorld> {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const world = await startPaymentWorld({ PUBLIC_URL: address, ...environment }, {}, prepare);
  await world.service.app.listen({ host: '127.0.0.1', port });
  return {
    ...world,
    address,
    async invoice(more = {}) {
      const made = await makeInvoice(world.service, world.merchant, more);
      // The narrowest token that the page needs.
      const url = `${invoicesUrl}/${made.id}/access-tokens?for=checkout`;
      const { body } = await world.service.call('POST', url, { token: world.merchant.apiKey });
      return { ...made, token: body.payload };
    },
    link(invoice, more = {}) {
      const query = new URLSearchParams({
        invoiceID: invoice.id,
        invoiceAccessToken: invoice.token,
        ...more,
      });
      return `${address}/checkout?${query.toString()}`;
    },
    async customer(more = {}) {
      const { body } = await world.service.call('POST', '/v2/processing/customers', {
        token: world.merchant.apiKey,
        body: { shopID: 'TEST', contactInfo: { email: 'payer@example.com' }, ...more },
      });
      return { id: body.customer.id, token: body.customerAccessToken.payload };
    },
    linkToBind({ id, token }, more = {}) {
      const query = new URLSearchParams({ customerID: id, customerAccessToken: token, ...more });
      return `${address}/checkout?${query.toString()}`;
    },
    async challenged(card, redirectUrl, terms = {}) {
      const { token: paymentToolToken } = await world.tokenize(card);
      const sessionInfo = { redirectUrl };
      const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {}, sessionInfo };
      const invoice = await world.pay(card, { payer }, terms);
      await world.service.jobs.whenIdle();
      if (invoice.created.status !== 201) throw new Error(`no payment: ${invoice.created.text}`);
      const changes = await world.changes(invoice);
      return changes.find(({ userInteraction }) => userInteraction).userInteraction.request;
    },
  };
}

export async function startCheckoutWorld(
  ...parameters: Parameters<typeof startPayersWorld>
): Promise<CheckoutWorld> {
  const world = await startPayersWorld(...parameters);
  const browser = await openBrowser();
  const complaints: string[] = [];
  const contexts: BrowserContext[] = [];
  const scripts: Disposable[] = [];
  let window: Page | undefined;
  /** Whether the window shows a page of another test. */
  let isLeft = false;

  async function newWindow(options: BrowserContextOptions, from = browser): Promise<Page> {
    const context = await from.newContext({ ...looks, ...options });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    watch(context, complaints);
    return page;
  }
  async function close(context: BrowserContext): Promise<void> {
    contexts.splice(contexts.indexOf(context), 1);
    await context.close();
  }

  return {
    ...world,
    browser,
    complaints,
    async open(url, viewport = desktop, script) {
      window = window && !window.isClosed() ? window : await newWindow({});
      await window.setViewportSize(viewport);
      if (script !== undefined) scripts.push(await window.addInitScript(script));
      await load(window, url);
      isLeft = false;
      return window;
    },
    async openAlone(url, options = {}, from) {
      // The page of the last test would keep sending requests.
      if (isLeft && window && !window.isClosed()) await window.goto('about:blank');
      isLeft = false;
      const page = await newWindow(options, from);
      await page.goto(url);
      return page;
    },
    async leave() {
      for (const context of contexts.filter((one) => one !== window?.context())) await close(context);
      for (const script of scripts.splice(0)) await script.dispose();
      if (window && !window.isClosed()) await tidy(window);
      isLeft = true;
      const found = complaints.splice(0);
      if (found.length > 0) throw new Error(`a page reported errors:\n${found.join('\n')}`);
    },
    async close() {
      await Promise.all([...contexts].map(close));
      await browser.close();
      await world.close();
    },
  };
}

/**
 * Undoes what a test may have done to a window. The page stays until the next one is opened, because a blank one between them would make
 * the browser start another process each time.
 */
async function tidy(page: Page): Promise<void> {
  const context = page.context();
  for (const other of context.pages().filter((one) => one !== page)) await other.close();
  page.removeAllListeners('request');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.setOffline(false);
  await page.emulateMedia({ colorScheme: null, reducedMotion: 'reduce' });
}

/** Always a full load: to another fragment of the same page a browser would only scroll. */
export async function load(page: Page, url: string): Promise<void> {
  const [placed, asked] = [page.url(), url].map((address) => address.split('#'));
  const isMove = asked?.length === 2 && placed?.[0] === asked[0];
  await page.goto(url);
  if (isMove) await page.reload();
}

/** A script for a page: its timer of this length waits until the test calls `again()`, however slow the machine is. */
export function holdTimer(ms: number): string {
  return `{
    const later = setTimeout;
    window.setTimeout = (act, after) => (after === ${ms} ? ((window.again = act), 0) : later(act, after));
  }`;
}

/** A script for a page: it ticks the consent box before the page's own script runs, as a browser does that restores a form. */
export const tickBeforeScripts = `new MutationObserver(() => {
  const box = document.querySelector('#consent');
  if (box && !box.wasTicked) box.wasTicked = box.checked = true;
}).observe(document, { childList: true, subtree: true });`;

function watch(context: BrowserContext, complaints: string[]): void {
  context.on('console', (message) => {
    // The simulated issuer tries to focus its field, which a frame of another origin may not.
    const isOfTheTest = /^(Failed to load resource|Blocked autofocusing)/.test(message.text());
    if (message.type() === 'error' && !isOfTheTest) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
}

export type ShopSite = {
  readonly origin: string;
  /** By path. */
  readonly pages: Record<string, string>;
  stop(): Promise<void>;
};

/** A site on another origin than the service. */
export async function startShopSite(): Promise<ShopSite> {
  const pages: Record<string, string> = {};
  const server = createServer((request, response) => {
    const html = pages[new URL(request.url ?? '/', 'http://shop').pathname];
    response.writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(html ?? 'nothing here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://localhost:${portOf(server)}`,
    pages,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;
