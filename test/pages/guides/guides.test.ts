// The guides next to the reference: what is served, that every link leads somewhere, and how they look without scripts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { guidePages } from '../../../src/platform/http/pages/guides/guide-pages.ts';
import { describeInBrowser, openBrowser } from '../../support/processes/browser.ts';
import { startTestService, type TestService } from '../../support/service/test-service.ts';
import { narrowPhone, obstacles } from '../accessibility/obstacles.ts';

let service: TestService;
let pages: ReadonlyMap<string, string>;

beforeAll(async () => {
  service = await startTestService({ MANDATE_MODE: 'live' });
  const made = await guidePages();
  pages = new Map([...made].map(([name, content]) => [name, content.toString()]));
});
afterAll(() => service.close());

const root = '/docs/guides';
const addressOf = (name: string) =>
  new URL(name === 'index.html' ? root : `${root}/${name}`, 'http://here.test');

describe('the guides', () => {
  test('are served, also in live mode, with a policy that lets them run nothing', async () => {
    for (const path of ['', '/guide/recurring.html', '/operations/runbooks/banks.html']) {
      const { status, headers, text } = await service.call('GET', root + path);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(text).not.toMatch(/<script|<style|style=/);
    }
    const picture = await service.call('GET', `${root}/architecture.svg`);
    expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect((await service.call('GET', `${root}/guides.css`)).status).toBe(200);
  });

  test('serve nothing but documents and their pictures', async () => {
    for (const path of ['/nothing.html', '/guide/recurring.md', '/..%2f..%2fpackage.json', '/guide'])
      expect((await service.call('GET', root + path)).status, path).toBe(404);
  });

  test('are all listed', () => {
    const listed = [...(pages.get('index.html') ?? '').matchAll(/<a href="guides\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    const all = [...pages.keys()].filter((name) => name.endsWith('.html') && name !== 'index.html');
    expect(listed.sort()).toEqual(all.sort());
    expect(all).toContain('guide/quickstart.html');
  });

  test('have no heading twice', () => {
    for (const [name, html] of pages) {
      const headings = [...html.matchAll(/<h[12][^>]*>(.*?)<\/h[12]>/g)].map(([, text]) => text);
      expect(headings, name).toEqual([...new Set(headings)]);
    }
  });

  test('link to pages and places that exist', () => {
    const lost: string[] = [];
    for (const [name, html] of pages) {
      if (!name.endsWith('.html')) continue;
      for (const [, href = ''] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
        const { origin, pathname, hash } = new URL(href, addressOf(name));
        if (origin !== 'http://here.test' || !pathname.startsWith(root) || pathname === `${root}/guides.css`)
          continue;
        const target = pages.get(pathname.slice(root.length + 1) || 'index.html');
        const hasPlace = hash === '' || target?.includes(` id="${decodeURIComponent(hash.slice(1))}"`);
        if (target === undefined || !hasPlace) lost.push(`${name}: ${href}`);
      }
    }
    expect(lost).toEqual([]);
  });

  test('are linked from the reference, and link back to it', async () => {
    const reference = await service.call('GET', '/docs');
    expect(reference.text).toContain('href="docs/guides"');
    expect(pages.get('guide/recurring.html')).toContain('<a href="../../../docs">API reference</a>');
  });
});

describeInBrowser('a guide in a browser without scripts', () => {
  test('leads from the list to a page and on, fits a phone, and has nothing in a reader’s way', async () => {
    const address = await service.app.listen({ host: '127.0.0.1', port: 0 });
    const browser = await openBrowser();
    try {
      const page = await browser.newPage({ viewport: narrowPhone, javaScriptEnabled: false });
      await page.goto(`${address}${root}`);
      await page.getByRole('link', { name: 'Recurring charges', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Recurring charges' }).waitFor();
      await page.getByRole('link', { name: 'saved cards' }).click();
      await page.getByRole('heading', { level: 1, name: 'Saved cards' }).waitFor();
      await page.getByRole('link', { name: 'API reference' }).click();
      await page.waitForURL(`${address}/docs`);

      const judged = await browser.newPage();
      for (const path of ['', '/guide/recurring.html']) {
        await judged.goto(`${address}${root}${path}`);
        expect(await obstacles(judged), path).toEqual([]);
      }
    } finally {
      await browser.close();
    }
  });
});
