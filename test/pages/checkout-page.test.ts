// The checkout page as it is sent: its policy, its size, its content before scripts run, and what is never logged.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withoutDatabase } from '../support/database/database-away.ts';
import { makeInvoice, makeTemplate, payInvoice, type CreatedInvoice } from '../support/worlds/invoices.ts';
import {
  startTestService,
  type Answer,
  type Merchant,
  type TestService,
} from '../support/service/test-service.ts';
import { defined } from '../../src/defined.ts';

const maxPageBytes = 20_480;
const maxShopScriptBytes = 5_000;
const maxLinkScriptBytes = 6_000;

const publicUrl = 'https://pay.example';

let service: TestService;
let merchant: Merchant;
let invoice: CreatedInvoice;

beforeAll(async () => {
  service = await startTestService({ PUBLIC_URL: publicUrl });
  merchant = await service.createMerchant();
  invoice = await makeInvoice(service, merchant, { amount: 1234500, product: 'Coffee <beans>' });
});
afterAll(() => service.close());

const open = (query: Record<string, string>, headers: Record<string, string> = {}) =>
  service.call('GET', `/checkout?${new URLSearchParams(query).toString()}`, { headers });
const openPaid = (more: Record<string, string> = {}) =>
  open({ invoiceID: invoice.id, invoiceAccessToken: invoice.token, ...more });
const policyOf = ({ headers }: Answer) => String(headers['content-security-policy']);
const directive = (answer: Answer, name: string) =>
  policyOf(answer)
    .split('; ')
    .find((part) => part.startsWith(`${name} `))
    ?.slice(name.length + 1);
const viewOf = ({ text }: Answer) => /data-view="(\w+)"/.exec(text)?.[1];
const between = (text: string, start: string, end: string) => text.split(start)[1]?.split(end)[0] ?? '';
const scriptOf = ({ text }: Answer) => between(text, '<script type="module">', '</script>');
const styleOf = ({ text }: Answer) => between(text, '<style>', '</style>');
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

async function setOrigins(...origins: string[]): Promise<void> {
  await service.database.withClient((client) =>
    client.query('update shop set origins = $1 where party_id = $2', [origins.join(' '), merchant.partyId]),
  );
}

describe('the page', () => {
  test('shows product, recipient and amount before any script runs', async () => {
    const page = await openPaid({ locale: 'ru' });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<html lang="ru"');
    expect(page.text).toContain('12\u00a0345,00\u00a0₽');
    expect(page.text).toContain('Coffee &#60;beans&#62;');
    expect(page.text).toContain('Номер карты');
    expect(viewOf(page)).toBe('form');
  });

  test('allows only its own script and style, loads nothing and submits no form', async () => {
    const page = await openPaid();
    expect(scriptOf(page).length).toBeGreaterThan(5_000);
    expect(policyOf(page)).toBe(
      `default-src 'none'; script-src ${hashOf(scriptOf(page))}; style-src ${hashOf(styleOf(page))}; ` +
        `connect-src 'self'; img-src data:; frame-src 'self' https: http:; form-action 'none'; base-uri 'none'; ` +
        `frame-ancestors *; require-trusted-types-for 'script'; trusted-types 'none'`,
    );
    expect(page.text.match(/<script|<style|<link/g)).toHaveLength(4); // one script is data, and one link an empty icon
    expect(page.text).not.toMatch(/ style=| on\w+=|https?:\/\//);
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.text).toContain('<meta name="referrer" content="no-referrer">');
  });

  test('gives no field a name, so that no browser submits one', async () => {
    const page = await openPaid({ recurring: 'true', requireCardHolder: 'true' });
    const fields = [...page.text.matchAll(/<input [^>]*>/g)].map(([field]) => field);
    expect(fields).toHaveLength(6);
    expect(fields.filter((field) => /\bname=/.test(field))).toEqual([]);
    for (const purpose of ['cc-number', 'cc-exp', 'cc-csc', 'cc-name', 'email']) {
      expect(fields.filter((field) => field.includes(`autocomplete="${purpose}"`))).toHaveLength(1);
    }
  });

  test('is small', async () => {
    const page = await openPaid();
    const bytes = gzipSync(scriptOf(page)).length + gzipSync(styleOf(page)).length;
    expect(bytes).toBeLessThan(maxPageBytes);
    const { rawPayload, headers } = await service.app.inject({
      url: `/checkout?invoiceID=${invoice.id}&invoiceAccessToken=${invoice.token}`,
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(rawPayload).toString()).toContain('12,345.00');
    expect(rawPayload.length).toBeLessThan(maxPageBytes);
  });

  test('knows itself by PUBLIC_URL where a proxy has changed the host', async () => {
    const page = await openPaid({ shopOrigin: publicUrl, redirectUrl: `${publicUrl}/demo` });
    expect(page.text).toContain(`"shopOrigin":"${publicUrl}"`);
    expect(page.text).toContain(`"returnTo":"${publicUrl}/demo"`);
    const query = new URLSearchParams({ invoiceID: invoice.id, shopOrigin: publicUrl }).toString();
    const returned = await service.call('GET', `/checkout?${query}`, {
      headers: { host: 'mandate.internal:8080', referer: `${publicUrl}/checkout/return` },
    });
    expect(returned.headers['cross-origin-opener-policy']).toBe('unsafe-none');
  });

  test('may be framed by any site in a sandbox, and get payers back there, until the shop lists its own', async () => {
    const site = 'https://any.example';
    const page = await openPaid({
      shopOrigin: site,
      redirectUrl: `${site}/thanks`,
      cancelUrl: `${site}/cart`,
    });
    expect(directive(page, 'frame-ancestors')).toBe('*');
    expect(page.headers).not.toHaveProperty('x-frame-options');
    expect(page.text).toContain(`"shopOrigin":"${site}"`);
    expect(page.text).toContain(`"returnTo":"${site}/thanks"`);
    expect(page.text).toMatch(/<p id="unlisted"[^>]* hidden>In live mode, only sites that the shop lists/);
    for (const redirectUrl of ['javascript:alert(1)', 'data:text/html,x'])
      expect((await openPaid({ redirectUrl })).text).not.toContain('"returnTo"');
  });

  test('may be framed only by the sites that the shop lists and, in a sandbox, by its own origins', async () => {
    await setOrigins('https://shop.example', 'https://www.shop.example');
    await expect
      .poll(async () => directive(await openPaid(), 'frame-ancestors'), { timeout: 30_000 })
      .toBe(`https://shop.example https://www.shop.example ${publicUrl} http://localhost`);
    const told = await openPaid({
      shopOrigin: 'https://shop.example',
      redirectUrl: 'https://shop.example/thanks',
    });
    expect(told.text).toContain('"shopOrigin":"https://shop.example"');
    expect(told.text).toContain('"returnTo":"https://shop.example/thanks"');
    const strange = await openPaid({
      shopOrigin: 'https://evil.example',
      redirectUrl: 'https://evil.example/thanks',
    });
    expect(strange.text).not.toContain('evil.example');
    expect(strange.headers['x-frame-options']).toBeUndefined();
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['unsafe-none', { shopOrigin: 'https://shop.example' }, { referer: 'https://shop.example/cart' }],
    ['same-origin-allow-popups', { shopOrigin: 'https://shop.example' }, {}],
    [
      'same-origin-allow-popups',
      { shopOrigin: 'https://shop.example' },
      { referer: 'https://evil.example/' },
    ],
    [
      'same-origin-allow-popups',
      { shopOrigin: 'https://evil.example' },
      { referer: 'https://evil.example/' },
    ],
    ['same-origin-allow-popups', {}, { referer: 'https://shop.example/cart' }],
  ])('has the opener policy %s for %j from %j', async (policy, query, headers) => {
    const known = { invoiceID: invoice.id, invoiceAccessToken: invoice.token };
    const page = await open({ ...known, ...query }, headers);
    expect([viewOf(page), page.headers['cross-origin-opener-policy']]).toEqual(['form', policy]);
  });

  test('of a window without an opener keeps its policy on the way to the bank', async () => {
    for (const [query, policy] of [
      ['', 'unsafe-none'],
      ['?alone=true', 'same-origin-allow-popups'],
    ]) {
      const { headers } = await service.call('GET', `/checkout/challenge${query}`);
      expect(headers['cross-origin-opener-policy']).toBe(policy);
    }
  });

  test('shows nothing of the invoice without a token', async () => {
    const bare = await open({ invoiceID: invoice.id });
    expect([bare.status, viewOf(bare)]).toEqual([200, 'loading']);
    const framed = await open({ invoiceID: invoice.id, shopOrigin: 'http://localhost' });
    expect(viewOf(framed)).toBe('form');
    for (const page of [bare, framed]) expect(page.text).not.toMatch(/12,345|Coffee/);
  });

  test.each<[string, () => Promise<Record<string, string>> | Record<string, string>]>([
    ['nothing', () => ({})],
    ['an unknown invoice', () => ({ invoiceID: 'nothing', invoiceAccessToken: invoice.token })],
    ['an id no database can keep', () => ({ invoiceID: 'a\0b' })],
    ['a token that is none', () => ({ invoiceID: invoice.id, invoiceAccessToken: 'x' })],
    [
      'the token of another invoice',
      async () => ({
        invoiceID: invoice.id,
        invoiceAccessToken: (await makeInvoice(service, merchant)).token,
      }),
    ],
    [
      'the token of a stranger’s invoice',
      async () => ({
        invoiceID: invoice.id,
        invoiceAccessToken: (await makeInvoice(service, await service.createMerchant())).token,
      }),
    ],
    ['an API key', () => ({ invoiceID: invoice.id, invoiceAccessToken: merchant.apiKey })],
  ])('opens nothing for %s', async (_, query) => {
    const page = await open(await query());
    expect([page.status, viewOf(page)]).toEqual([404, 'dead']);
    expect(page.text).not.toMatch(/12,345|Coffee/);
    expect(directive(page, 'frame-ancestors')).toMatch(/^('none'|\*|https:\/\/shop\.example .*)$/);
  });

  test.each([
    'invoiceID=a&invoiceID=b',
    '__proto__=x&constructor=y&invoiceID=%00',
    'invoiceID=%F0%28%8C%BC&name=%ED%A0%80',
    'invoiceID=..%2f..%2fetc&theme=__proto__&locale[]=ru',
    `invoiceID=x&description=${'%0d%0aSet-Cookie:%20a=b'.repeat(50)}`,
    `customerID=C1&customerAccessToken=${'a.'.repeat(1_000)}`,
    'invoiceID=x&redirectUrl=http%3A%2F%2F%5B%3A%3A&shopOrigin=https%3A%2F%2F%20',
  ])('opens nothing for the query %s', async (query) => {
    const page = await service.call('GET', `/checkout?${query}`, {
      headers: { 'accept-language': 'x'.repeat(2_000), host: "evil'; script-src *" },
    });
    expect([page.status, viewOf(page)]).toEqual([404, 'dead']);
    expect(policyOf(page)).not.toContain('*');
    expect(page.headers['set-cookie']).toBeUndefined();
  });

  test.each([
    ['en', 'One moment, please', 'If you have already paid, your payment is safe.'],
    ['ru', 'Подождите немного', 'платёж не потеряется'],
  ])(
    'explains in %s that the service is unavailable, and when it tries again',
    async (locale, head, lead) => {
      const asked = await makeInvoice(service, merchant);
      await withoutDatabase(service, async () => {
        const page = await open({ invoiceID: asked.id, invoiceAccessToken: asked.token, locale });
        expect([page.status, page.headers['retry-after']]).toEqual([503, '5']);
        expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
        expect(page.text).toContain(`<html lang="${locale}"`);
        expect(page.text).toContain(`<h1>${head}</h1>`);
        expect(page.text).toContain(lead);
        expect(page.text).not.toContain(asked.token);
        const script = between(page.text, '<script>', '</script>');
        expect(policyOf(page)).toBe(
          `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(styleOf(page))}; img-src data:; ` +
            `form-action 'none'; base-uri 'none'; frame-ancestors *`,
        );
        expect(page.headers['cache-control']).toBe('no-store');
      });
      expect(viewOf(await open({ invoiceID: asked.id, invoiceAccessToken: asked.token }))).toBe('form');
      expect(service.logged.join('\n')).not.toContain(asked.token.slice(-20));
    },
  );

  test('uses the browser’s language for an empty address too', async () => {
    const page = await open({}, { 'accept-language': 'ru-RU,ru;q=0.9' });
    expect([page.status, viewOf(page)]).toEqual([404, 'dead']);
    expect(page.text).toContain('Ссылка больше не работает');
  });

  test('shows the status of the invoice', async () => {
    const paid = await makeInvoice(service, merchant);
    await payInvoice(service, merchant, paid.id);
    expect(viewOf(await open({ invoiceID: paid.id, invoiceAccessToken: paid.token }))).toBe('loading');
    const rescinded = await makeInvoice(service, merchant);
    await service.call('POST', `/v2/processing/invoices/${rescinded.id}/rescind`, {
      token: merchant.apiKey,
      body: { reason: 'x' },
    });
    expect(viewOf(await open({ invoiceID: rescinded.id, invoiceAccessToken: rescinded.token }))).toBe(
      'cancelled',
    );
  });

  describe('for a customer', () => {
    const url = '/v2/processing/customers';
    async function makeCustomer(by = merchant, contactInfo: object = {}) {
      const { body } = await service.call('POST', url, {
        token: by.apiKey,
        body: { shopID: 'TEST', contactInfo },
      });
      return { id: String(body.customer.id), token: String(body.customerAccessToken.payload) };
    }
    const openToBind = (id: string, token?: string, more: Record<string, string> = {}) =>
      open({ customerID: id, ...defined({ customerAccessToken: token }), ...more });

    test('shows the form with the shop’s consent text and an empty box', async () => {
      const { id, token } = await makeCustomer();
      const page = await openToBind(id, token, { locale: 'en' });
      expect([page.status, viewOf(page)]).toEqual([200, 'form']);
      expect(page.text).toContain('I agree that TEST keeps this card on file');
      expect(page.text).not.toMatch(/<input id="consent"[^>]* checked/);
      expect(page.text).not.toContain(token);
    });

    test.each([
      ['en', 'open the link in the receipt, or tell TEST', 'at any time: tell TEST'],
      ['ru', 'откройте ссылку в чеке или сообщите TEST', 'в любой момент: сообщите TEST'],
    ])('promises in %s the link of a receipt only to a customer with an e-mail', async (locale, ...said) => {
      const without = await makeCustomer();
      const reachable = await makeCustomer(merchant, { email: 'payer@example.com' });
      for (const [{ id, token }, stop] of [
        [reachable, said[0]],
        [without, said[1]],
      ] as const) {
        const { text } = await openToBind(id, token, { locale });
        expect(/id="consent-stop"[^>]*>([^<]*)</.exec(text)?.[1]).toContain(stop);
      }
    });

    test('waits for the script without a token, and shows the form to a shop’s page', async () => {
      const { id } = await makeCustomer();
      expect(viewOf(await openToBind(id))).toBe('loading');
      expect(viewOf(await openToBind(id, undefined, { shopOrigin: 'http://localhost' }))).toBe('form');
    });

    test.each<[string, (customer: { id: string; token: string }) => Promise<Answer>]>([
      ['the token of another customer', async ({ id }) => openToBind(id, (await makeCustomer()).token)],
      [
        'the token of a stranger’s customer',
        async ({ id }) => openToBind(id, (await makeCustomer(await service.createMerchant())).token),
      ],
      ['the token of an invoice', ({ id }) => openToBind(id, invoice.token)],
      ['an API key', ({ id }) => openToBind(id, merchant.apiKey)],
      [
        'a customer token and an invoice',
        ({ token }) => open({ invoiceID: invoice.id, invoiceAccessToken: token }),
      ],
      ['an unknown id', ({ token }) => openToBind('nothing', token)],
      ['an id no database can keep', ({ token }) => openToBind('a\0b', token)],
      [
        'a deleted customer',
        async ({ id, token }) => {
          await service.call('DELETE', `${url}/${id}`, { token: merchant.apiKey });
          return openToBind(id, token);
        },
      ],
    ])('opens nothing for %s', async (_, openWrongly) => {
      const page = await openWrongly(await makeCustomer());
      expect([page.status, viewOf(page)]).toEqual([404, 'dead']);
    });
  });

  test('logs no token and no email address', async () => {
    const before = service.logged.length;
    await openPaid({ email: 'anna@example.com', metadata: '{"secret":"METADATA"}' });
    await open({ invoiceID: invoice.id, invoiceAccessToken: `${invoice.token}x` });
    await service.call('GET', `/checkout/%ZZ?invoiceAccessToken=${invoice.token}`);
    const logged = service.logged.slice(before).join('\n');
    expect(logged).toContain('"operation":"checkout"');
    expect(logged).not.toContain(invoice.token.slice(-20));
    expect(logged).not.toMatch(/anna|METADATA|invoiceAccessToken/);
  });
});

describe('the script for shops', () => {
  test('is small and may be loaded from any origin', async () => {
    const { rawPayload, headers } = await service.app.inject({
      url: '/checkout.js',
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(rawPayload.length).toBeLessThan(maxShopScriptBytes);
    expect(gunzipSync(rawPayload).toString()).toMatch(/RbkmoneyCheckout/);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    });
  });
});

test('the guide names every option of the script', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const lists = [...read('pages/embed/options.ts').matchAll(/^const (?:shown|hidden) = \[([^\]]*)\]/gm)];
  const options = lists.flatMap(([, names = '']) => [...names.matchAll(/'(\w+)'/g)].map(([, name]) => name));
  expect(options.length).toBeGreaterThan(12);
  const guide = read('docs/guide/checkout.md');
  expect(options.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

describe('the pages on the way to the bank and back', () => {
  test.each(['/checkout/challenge', '/checkout/return?invoiceID=x'])(
    '%s runs only its own script',
    async (url) => {
      const page = await service.call('GET', url);
      expect(page.status).toBe(200);
      expect(directive(page, 'script-src')).toBe(hashOf(between(page.text, '<script>', '</script>')));
      expect(directive(page, 'default-src')).toBe("'none'");
    },
  );

  test('allow only https in live mode', async () => {
    const live = await startTestService({ MANDATE_MODE: 'live' });
    try {
      const start = await live.call('GET', '/checkout/challenge');
      expect(directive(start, 'form-action')).toBe('https:');
      const owner = await live.createMerchant();
      const made = await makeInvoice(live, owner);
      const page = await live.call('GET', `/checkout?invoiceID=${made.id}&invoiceAccessToken=${made.token}`);
      expect(directive(page, 'frame-src')).toBe("'self' https:");
      expect(directive(page, 'frame-ancestors')).toBe("'none'");
      expect(page.headers['x-frame-options']).toBe('DENY');
      const site = 'https://any.example';
      const query = new URLSearchParams({
        invoiceID: made.id,
        invoiceAccessToken: made.token,
        shopOrigin: site,
        redirectUrl: `${site}/thanks`,
        cancelUrl: `${site}/cart`,
      });
      const elsewhere = await live.call('GET', `/checkout?${query.toString()}`);
      expect(directive(elsewhere, 'frame-ancestors')).toBe("'none'");
      expect(elsewhere.text).not.toMatch(/any\.example|id="unlisted"/);
    } finally {
      await live.close();
    }
  });
});

describe('the page of a payment link', () => {
  const linkOf = ({ id, token }: { id: string; token: string }) => ({
    invoiceTemplateID: id,
    invoiceTemplateAccessToken: token,
  });

  test('is small, and holds nothing of the template but its shop', async () => {
    const template = await makeTemplate(service, merchant, { name: 'Inner name', metadata: { inner: 1 } });
    const page = await open({ ...linkOf(template), invoiceID: invoice.id });
    expect(page.status).toBe(200);
    expect(gzipSync(scriptOf(page)).length).toBeLessThan(maxLinkScriptBytes);
    expect(page.text).toContain('<p class="shop">TEST</p>');
    expect(page.text).not.toMatch(/Inner|Ticket|mandate_template_/);
    expect(scriptOf(page)).not.toBe(scriptOf(await openPaid()));
    expect(directive(page, 'frame-ancestors')).toBe(directive(await openPaid(), 'frame-ancestors'));
  });

  test('is not found without its template', async () => {
    const { id } = await makeTemplate(service, merchant);
    const url = `/v2/processing/invoice-templates/${id}`;
    expect((await service.call('DELETE', url, { token: merchant.apiKey })).status).toBe(204);
    for (const gone of [id, 'unknown', '\u0000', 'x'.repeat(41)]) {
      const page = await open({ invoiceTemplateID: gone });
      expect([gone, page.status]).toEqual([gone, 404]);
    }
  });
});
