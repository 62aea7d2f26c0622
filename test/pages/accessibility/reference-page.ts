// The API reference in a browser, against a whole service, with all operations or with a few of each kind.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openBrowser } from '../../support/processes/browser.ts';
import { startTestService, type TestService } from '../../support/service/test-service.ts';
import { load } from '../../support/worlds/checkout-world.ts';

export const phone = { width: 390, height: 844 };
const desktop = { width: 1440, height: 900 };
/** One operation of each method, with and without a body: the page draws them much faster than all. */
const few = new Set([
  'createInvoice',
  'deleteCustomer',
  'findInvoice',
  'getInvoice',
  'getMe',
  'listInvoiceEvents',
  'listShops',
  'rescindInvoice',
]);

export type Paths = Record<string, Record<string, { operationId: string; summary: string }>>;
export type ReferencePage = Awaited<ReturnType<typeof openReferencePage>>;

export async function openReferencePage() {
  const service: TestService = await startTestService();
  const address = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const browser = await openBrowser();
  const page: Page = await browser.newPage({ viewport: desktop });
  page.setDefaultTimeout(30_000);
  const complaints = complaintsOf(page);
  const operation = (id: string) => page.locator(`article#${id}`);

  async function open(path: string): Promise<void> {
    await load(page, address + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }

  return {
    service,
    address,
    page,
    /** What the page has written to the console as an error. */
    complaints,
    operation,
    open,
    async show(operations: 'all' | 'few'): Promise<void> {
      complaints.length = 0;
      await page.unrouteAll();
      await page.setViewportSize(desktop);
      if (operations === 'few') {
        const document = (await service.call('GET', '/openapi.json')).body;
        const json = { ...document, paths: pathsOfFew(document.paths) };
        await page.route('**/openapi.json', (route) => route.fulfill({ json }));
      }
      await open('/docs');
    },
    async tryIt(id: string): Promise<Locator> {
      await operation(id).getByText('Try it').click();
      return operation(id).getByRole('button', { name: 'Send' });
    },
    /** Fields are drawn when the field around them is opened. */
    openEveryField: () => openEveryField(page),
    async close(): Promise<void> {
      await browser.close();
      await service.close();
    },
  };
}

/** The console also reports breaches of the page's policy. A refused request is the test's own doing. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource: the server responded');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return complaints;
}

async function openEveryField(page: Page): Promise<void> {
  const closed = page.locator('.reading details:not([open])');
  const openAll = () =>
    closed.evaluateAll((all) => {
      for (const details of all) details.setAttribute('open', '');
      return all.length;
    });
  await expect.poll(openAll, { timeout: 60_000, interval: 100 }).toBe(0);
}

function pathsOfFew(paths: Paths): Paths {
  const kept = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).filter(([, { operationId }]) => few.has(operationId))),
  ]);
  return Object.fromEntries(kept) as Paths;
}
