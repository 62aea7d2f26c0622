// The reference page in a real browser, against a whole service: it describes the service and sends requests to it.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { describeInBrowser } from '../support/processes/browser.ts';
import type { TestService } from '../support/service/test-service.ts';
import { faintTexts } from './accessibility/contrast.ts';
import { obstacles } from './accessibility/obstacles.ts';
import { openReferencePage, phone, type Paths, type ReferencePage } from './accessibility/reference-page.ts';

describeInBrowser('the reference page', () => {
  let reference: ReferencePage;
  let service: TestService;
  let apiKey: string;
  let address: string;
  let page: Page;
  let complaints: readonly string[];

  beforeAll(async () => {
    reference = await openReferencePage();
    ({ service, address, page, complaints } = reference);
    ({ apiKey } = await service.createMerchant());
  });
  afterAll(() => reference?.close());

  const operation = (id: string) => reference.operation(id);
  const outcome = (id: string) => operation(id).locator('.outcome');
  const token = () => page.getByLabel('Token', { exact: true });
  const tryIt = (id: string) => reference.tryIt(id);

  describe('with all operations, loaded once', () => {
    beforeAll(() => reference.show('all'));

    test('shows every operation of the document without an error', async () => {
      const { paths } = (await service.call('GET', '/openapi.json')).body;
      const documented = Object.values(paths as Paths)
        .flatMap((methods) => Object.values(methods))
        .map(({ operationId, summary }) => `${operationId}: ${summary}`);
      const shown = await page
        .locator('article')
        .evaluateAll((articles) =>
          articles.map((article) => `${article.id}: ${article.querySelector('h3')?.textContent}`),
        );
      expect(shown.sort()).toEqual(documented.sort());
      expect(await page.getByRole('navigation').getByRole('link').count()).toBeGreaterThan(documented.length);
      expect(complaints).toEqual([]);
    });

    test('shows who may call an operation, its parameters and its errors', async () => {
      const create = operation('createInvoice');
      await expect.poll(() => create.textContent()).toContain('an API key with the scope invoices:write');
      const due = create.locator('li', { hasText: 'dueDate' }).first();
      expect(await due.textContent()).toMatch(/string \(date-time\)required/);
      const rowOf = (code: string) => create.locator('tr', { hasText: code });
      expect(await rowOf('invalidInvoiceCost').textContent()).toContain('Invalid invoice amount');
      const guide = await rowOf('invalidShopID').getByRole('link').getAttribute('href');
      const [path = '', anchor = ''] = guide?.split('#') ?? [];
      expect(await (await fetch(new URL(path, page.url()))).text()).toContain(`id="${anchor}"`);
      expect(anchor).toBe('invalidshopid');
    });

    test('every text stands out from its background, light and dark', async () => {
      await (await tryIt('createInvoice')).click();
      await outcome('createInvoice').waitFor();
      for (const [colorScheme, background] of [
        ['dark', 'rgb(25, 28, 29)'],
        ['light', 'rgb(255, 255, 255)'],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        const shown = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
        expect(shown).toBe(background);
        expect(await page.locator('body *').evaluateAll(faintTexts)).toEqual([]);
      }
    });

    test('fits a phone, where the list of operations opens over the text', async () => {
      await page.setViewportSize(phone);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
      const link = page.getByRole('navigation').getByRole('link', { name: 'List your shops' });
      expect(await link.isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Operations' }).click();
      await link.click();
      await expect.poll(() => link.isVisible()).toBe(false);
      await expect.poll(async () => (await operation('listShops').boundingBox())?.y).toBeLessThan(100);
    });
  });

  // Each uses an operation of its own.
  describe('with a few operations, loaded once', () => {
    beforeAll(() => reference.show('few'));
    afterEach(() => token().fill(''));
    afterAll(() => page.evaluate('sessionStorage.clear()'));

    test('opens nested fields, and names the members of a choice', async () => {
      const events = operation('listInvoiceEvents');
      await events.getByText('InvoiceStatusChanged').first().waitFor({ state: 'detached' });
      await events.locator('summary', { hasText: 'changes' }).click();
      const change = events.locator('summary', { hasText: 'InvoiceStatusChanged' });
      expect(await change.textContent()).toContain('changeType: InvoiceStatusChanged');
      await change.click();
      await events.getByText('fulfilled').waitFor();
    });

    test('gives every request its own request ID', async () => {
      await token().fill(apiKey);
      const send = await tryIt('getMe');
      const requestId = operation('getMe').getByLabel('X-Request-ID');
      const first = await requestId.inputValue();
      await send.click();
      const shown = operation('getMe').locator('dd').first();
      await expect.poll(() => shown.textContent()).toBe(first);
      expect(await requestId.inputValue()).not.toBe(first);
    });

    test('the command line is the request that is sent, with a shortened token', async () => {
      await tryIt('findInvoice');
      await operation('findInvoice').getByRole('textbox', { name: 'externalID' }).fill('order 1 & 2');
      const command = operation('findInvoice').getByLabel('Command line');
      const shown = async () => (await command.textContent()) ?? '';
      expect(await shown()).toContain(`'${address}/v2/processing/invoices?externalID=order+1+%26+2'`);
      expect(await shown()).toContain('"Authorization: Bearer $MANDATE_TOKEN"');
      await token().fill(apiKey);
      await expect.poll(shown).toContain(`Bearer ${apiKey.slice(0, 16)}…${apiKey.slice(-4)}'`);
    });

    test('names the scope that a refused token lacks', async () => {
      const send = await tryIt('createInvoice');
      await send.click();
      await expect.poll(() => outcome('createInvoice').textContent()).toContain('401');
      await operation('createInvoice').getByRole('button', { name: 'Enter one' }).click();
      await page.keyboard.type('mandate_test_wrong');
      await send.click();
      const advice = operation('createInvoice').getByText('not valid, or it may not do this');
      await advice.waitFor();
      expect(await advice.textContent()).toContain('an API key with the scope invoices:write');
    });

    test('sends no request without a path parameter', async () => {
      const send = await tryIt('getInvoice');
      await send.click();
      await operation('getInvoice').getByText('invoiceID: part of the address').waitFor();
      const focused = operation('getInvoice').locator('input:focus');
      expect(await focused.getAttribute('aria-invalid')).toBe('true');
      expect(await outcome('getInvoice').count()).toBe(0);
    });
  });

  describe('with a few operations, loaded for each test', () => {
    beforeEach(async () => {
      await reference.show('few');
      return () => page.evaluate('sessionStorage.clear()');
    });

    // By night all-looks.test.ts judges all operations.
    test('breaks no accessibility rule', async () => {
      await tryIt('createInvoice');
      await tryIt('listInvoiceEvents');
      const sizes = [{ width: 1440, height: 900 }, phone];
      expect(await obstacles(page, { sizes, judge: 'everySize', contrast: 'elsewhere' })).toEqual([]);
    });

    test('fits a phone with every field open', async () => {
      await page.setViewportSize(phone);
      await (await tryIt('createInvoice')).click();
      await outcome('createInvoice').waitFor();
      await reference.openEveryField();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
    });

    test('finds operations by typed text, and Enter opens the first', async () => {
      await page.keyboard.press('/');
      await page.keyboard.type('rescind');
      const links = page.getByRole('navigation').getByRole('link', { name: 'POST' });
      await expect.poll(() => links.allTextContents()).toEqual(['Cancel an unpaid invoicePOST']);
      await page.keyboard.press('Enter');
      await expect.poll(() => page.url()).toBe(`${address}/docs#rescindInvoice`);
      await page.getByRole('searchbox').fill('no such thing');
      expect(await page.getByText('Nothing fits').isVisible()).toBe(true);
    });

    test('a link to an operation opens the page there', async () => {
      await reference.open('/docs#listShops');
      await expect.poll(async () => (await operation('listShops').boundingBox())?.y).toBeLessThan(100);
      const current = page.locator('nav [aria-current]');
      await expect.poll(() => current.textContent()).toContain('List your shops');
    });

    test('fills the ID and the token of a created invoice into the next request', async () => {
      await token().fill(apiKey);
      const send = await tryIt('createInvoice');
      const body = operation('createInvoice').getByLabel('Body');
      await body.fill((await body.inputValue()).replace('Order num 12345', "It's mine"));
      await send.click();
      await expect.poll(() => outcome('createInvoice').textContent()).toMatch(/^201 Created \d+ ms$/);
      const answer = await operation('createInvoice').getByLabel('Answer').textContent();
      const { invoice } = JSON.parse(answer ?? '');
      expect(invoice.product).toBe("It's mine");

      await operation('createInvoice').getByRole('button', { name: 'Use as token' }).click();
      await page.getByText('Access token', { exact: true }).first().waitFor();
      const get = await tryIt('getInvoice');
      expect(await operation('getInvoice').getByRole('textbox', { name: 'invoiceID' }).inputValue()).toBe(
        invoice.id,
      );
      await get.click();
      await expect.poll(() => outcome('getInvoice').textContent()).toMatch(/^200 OK/);

      await page.getByRole('button', { name: 'Back to the key' }).click();
      expect(await token().inputValue()).toBe(apiKey);
      expect(page.url()).toBe(`${address}/docs`);
      expect(complaints).toEqual([]);
    });

    test('keeps the token in this tab only', async () => {
      await token().fill(apiKey);
      await page.reload();
      expect(await token().inputValue()).toBe(apiKey);
      expect(await page.evaluate('localStorage.length + document.cookie.length')).toBe(0);
    });
  });
});
