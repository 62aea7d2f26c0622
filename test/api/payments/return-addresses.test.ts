// Where a payer continues after the bank: not unnoticed at an address that a holder of an invoice's token has made up.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setShopOrigins } from '../../../src/merchants/store/parties.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const elsewhere = 'https://copy.example:8443/login?next=<b>';
const publicUrl = 'https://pay.example';

let sandbox: PaymentWorld;
let live: PaymentWorld;

beforeAll(async () => {
  sandbox = await startPaymentWorld();
  live = await startPaymentWorld({ MANDATE_MODE: 'live', PUBLIC_URL: publicUrl, CARD_TESTING_LIMITS: 'off' });
  for (const { service, merchant } of [sandbox, live]) {
    const shop = { party_id: merchant.partyId, shop_id: 'TEST_USD' };
    await service.database.run(setShopOrigins, { ...shop, origins: 'https://shop.example' });
  }
});
afterAll(async () => {
  await sandbox.close();
  await live.close();
});

async function pay(world: PaymentWorld, redirectUrl: string, shopID = 'TEST') {
  const { token: paymentToolToken } = await world.tokenize('4242424242424242');
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken,
    contactInfo: {},
    sessionInfo: { redirectUrl },
  };
  const currency = shopID === 'TEST_USD' ? 'USD' : 'RUB';
  return world.pay('4242424242424242', { payer }, { shopID, currency });
}

async function back(world: PaymentWorld, { id }: { id: string }, language = 'en') {
  const headers = { 'accept-language': language };
  return world.service.call('GET', `/payer/return/${id}/1`, { headers });
}

test.each(['javascript:alert(1)', 'data:text/html,x', '//copy.example', 'copy.example', 'https://['])(
  '%s is refused: it is no http or https address',
  async (redirectUrl) => {
    const { created } = await pay(sandbox, redirectUrl);
    expect({ status: created.status, body: created.body }).toEqual({
      status: 400,
      body: {
        code: 'invalidRequest',
        message:
          'Request parameter: payer.sessionInfo.redirectUrl, error type: no_match, ' +
          'description: must be an http or https address',
      },
    });
  },
);

describe.each([
  ['a sandbox', () => sandbox, 'http://127.0.0.1:8080'],
  ['live mode', () => live, publicUrl],
])('in %s', (_, worldOf, own) => {
  test('a shop with a list of origins is returned to them and to the service, and nowhere else', async () => {
    const world = worldOf();
    for (const good of ['https://shop.example/done?{&x}', `${own}/checkout/return`]) {
      const invoice = await pay(world, good, 'TEST_USD');
      expect(invoice.created.status).toBe(201);
      const { status, headers, text } = await back(world, invoice);
      const address = good.replace('{&x}', '');
      expect({ status, location: headers['location'] }).toEqual({ status: 200, location: undefined });
      expect(text).toContain(`<meta http-equiv="refresh" content="0; url=${address}">`);
      expect(text).toContain(`<a id="onward" class="main" href="${address}"`);
      expect(text).toContain('<script>location.replace(');
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; form-action 'none'/,
      );
    }
    for (const bad of [elsewhere, 'https://shop.example@copy.example/', 'http://shop.example/']) {
      const { created } = await pay(world, bad, 'TEST_USD');
      expect({ status: created.status, code: created.body.code }).toEqual({
        status: 400,
        code: 'invalidRequest',
      });
      expect(created.body.message).toContain('payer.sessionInfo.redirectUrl');
      expect(created.text).not.toContain('copy.example');
    }
  });

  test('a payer who saves a card is returned by the same list', async () => {
    const { service, merchant, tokenize } = worldOf();
    const post = (url: string, body: object) =>
      service.call('POST', `/v2/processing/customers${url}`, { token: merchant.apiKey, body });
    const { body } = await post('', { shopID: 'TEST_USD', contactInfo: {} });
    const bind = async (redirectUrl: string) => {
      const { token: paymentToolToken, session: paymentSession } = await tokenize('4242424242424242');
      const paymentResource = { paymentToolToken, paymentSession };
      const sessionInfo = { redirectUrl };
      return post(`/${body.customer.id}/bindings`, { paymentResource, sessionInfo });
    };
    const { status, text } = await bind(elsewhere);
    expect([status, text]).toEqual([400, expect.stringContaining('sessionInfo.redirectUrl')]);
    expect((await bind('https://shop.example/done')).status).toBe(201);
  });

  test('a page names an address that no list has', async () => {
    const world = worldOf();
    const { status, headers, text } = await back(world, await pay(world, elsewhere));
    expect({ status, location: headers['location'] }).toEqual({ status: 200, location: undefined });
    expect(text).toContain('<p class="host">copy.example:8443</p>');
    expect(text).toContain('href="https://copy.example:8443/login?next=%3Cb%3E"');
  });

  test('the page is in the language of the browser', async () => {
    const world = worldOf();
    const invoice = await pay(world, elsewhere);
    expect((await back(world, invoice, 'ru-RU,en')).text).toContain('Вы покидаете страницу оплаты');
    expect((await back(world, invoice, 'de')).text).toContain('You are leaving the payment page');
  });
});

test('in live mode the page continues with a click alone, and no script may run on it', async () => {
  const { text, headers } = await back(live, await pay(live, elsewhere));
  expect(text).not.toContain('<script');
  expect(text).not.toContain('http-equiv');
  expect(text).not.toContain('sandbox');
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:/,
  );
});

test('in a sandbox the page continues without a click, and says so', async () => {
  const { text, headers } = await back(sandbox, await pay(sandbox, elsewhere));
  expect(text).toContain('This is a sandbox');
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src/,
  );
});

test('a shop that lists its origins later is no longer returned to any other', async () => {
  const invoice = await pay(live, 'https://shop.example/done');
  const goesOnAtOnce = async () => (await back(live, invoice)).text.includes('http-equiv="refresh"');
  expect(await goesOnAtOnce()).toBe(false);
  const { partyId } = live.merchant;
  const origins = 'https://shop.example';
  await live.service.database.run(setShopOrigins, { party_id: partyId, shop_id: 'TEST', origins });
  await expect.poll(goesOnAtOnce, { timeout: 30_000 }).toBe(true);
  await live.service.database.run(setShopOrigins, { party_id: partyId, shop_id: 'TEST', origins: '' });
});
