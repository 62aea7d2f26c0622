// How pages are served: their policy, their caching and what is not found.
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service/test-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('a page', () => {
  test('loads nothing from other origins, runs no inline script, and cannot be framed', async () => {
    const page = await service.call('GET', '/docs');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(page.text).not.toMatch(/<script>|<style|style=|https?:/);
  });

  test.each([
    ['docs.js', 'text/javascript; charset=utf-8'],
    ['docs.css', 'text/css; charset=utf-8'],
    ['mandate.svg', 'image/svg+xml'],
  ])('serves %s as %s', async (name, type) => {
    const file = await service.call('GET', `/docs/${name}`);
    expect(file.status).toBe(200);
    expect(file.headers['content-type']).toBe(type);
    expect(file.text.length).toBeGreaterThan(100);
  });

  test('is sent again only after a change', async () => {
    const first = await service.call('GET', '/docs/docs.css');
    expect(first.headers['cache-control']).toBe('no-cache');
    const tag = String(first.headers['etag']);
    const again = await service.call('GET', '/docs/docs.css', { headers: { 'if-none-match': tag } });
    expect([again.status, again.text]).toEqual([304, '']);
    const changed = await service.call('GET', '/docs/docs.css', {
      headers: { 'if-none-match': 'W/"other"' },
    });
    expect(changed.status).toBe(200);
  });

  test('is small: script and style together under 20 KB', async () => {
    let bytes = 0;
    for (const name of ['docs.js', 'docs.css']) {
      const headers = { 'accept-encoding': 'gzip' };
      const { headers: answered, rawPayload } = await service.app.inject({ url: `/docs/${name}`, headers });
      expect(answered['content-encoding']).toBe('gzip');
      expect(gunzipSync(rawPayload).length).toBeGreaterThan(rawPayload.length);
      bytes += rawPayload.length;
    }
    expect(bytes).toBeLessThan(20_000);
  });

  test('serves no other files', async () => {
    for (const path of ['/docs/docs.ts', '/docs/nothing.js', '/docs/..%2f..%2fpackage.json']) {
      expect((await service.call('GET', path)).status).toBe(404);
    }
  });

  test('is found with a trailing slash, and from the root of a sandbox', async () => {
    const slashed = await service.call('GET', '/docs/');
    expect([slashed.status, slashed.headers['location']]).toEqual([302, '../docs']);
    const root = await service.call('GET', '/');
    expect([root.status, root.headers['location']]).toEqual([302, 'docs']);
  });
});

test('the root of a live service is not found', async () => {
  const live = await startTestService({ MANDATE_MODE: 'live' });
  try {
    expect((await live.call('GET', '/')).status).toBe(404);
    expect((await live.call('GET', '/docs')).status).toBe(200);
  } finally {
    await live.close();
  }
});
