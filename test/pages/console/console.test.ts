// The console in a real browser: entering, searching, five questions of support, and nothing in the way of a person.
import { bankAnswers } from '../../../src/acquiring/bank-answers.ts';
import { countExchanges } from '../../../src/acquiring/exchange-log/store/exchange-sums.ts';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { insertShop } from '../../../src/merchants/store/parties.ts';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';
import { unknownPayout } from '../../support/requests/unknown-payout.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';
import { narrowPhone, obstacles } from '../accessibility/obstacles.ts';
import { follow } from './follow.ts';

const visa = '4242424242424242';
const emptyCard = '4000000000000002';
const hostile = '<img src=x onerror="document.title=1">\u202egnp.exe';
const maxBytes = 60 * 1024;
const sizes = [narrowPhone, { width: 360, height: 740 }, { width: 768, height: 1024 }];

describeInBrowser('the console', () => {
  let world: CheckoutWorld;
  let page: Page;
  let paths: Record<'payment' | 'declined' | 'payout' | 'webhook' | 'series', string>;
  let invoiceId: string;
  let cookies: Awaited<ReturnType<ReturnType<Page['context']>['cookies']>>;

  beforeAll(async () => {
    world = await startCheckoutWorld();
    // The page looks for what is new by the time of the browser.
    world.service.clock.set(Date.now());
    paths = await trade();
    const link = await world.service.consoleSessions.makeLink(
      { kind: 'operator', partyId: world.merchant.partyId },
      'ada@desk',
    );
    page = await world.open(`${world.address}/console/enter#${link.credential}`);
    await page.getByRole('button', { name: 'Open the console' }).click();
    await expectHeading('Today');
    cookies = await page.context().cookies();
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  const call = async (path: string, body: unknown) => {
    const answer = await world.service.call('POST', path, { token: world.merchant.apiKey, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  async function paidBy(card: string, email: string, invoice: Record<string, unknown> = {}) {
    const { token, session } = await world.tokenize(card);
    const contactInfo = { email };
    const payer = {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: token,
      paymentSession: session,
      contactInfo,
    };
    const made = await world.pay(card, { payer }, invoice);
    await world.service.jobs.whenIdle();
    return made.id;
  }
  async function trade() {
    const { service, merchant } = world;
    const webhook = await makeWebhook(service, merchant);
    invoiceId = await paidBy(visa, 'ada@example.com', { amount: 149_000, product: hostile });
    // Payments of one instant are in no certain order.
    service.clock.advance(60_000);
    await paidBy(visa, 'ada@example.com', { amount: 149_000 });
    const declined = await paidBy(emptyCard, 'eve@example.com', { amount: 9_900 });
    const { invoiceID: root } = await recurringWorld(world).parent(visa);
    await call(`/v2/processing/invoices/${invoiceId}/payments/1/refunds`, {
      amount: 1_000,
      currency: 'RUB',
      reason: hostile,
    });
    const withdrawal = await unknownPayout(world);
    service.webhooks.wake();
    await service.webhooks.whenIdle();
    await service.jobs.whenIdle();
    await service.search.whenIdle();
    await countExchanges(service.database, service.clock.now());
    return {
      payment: `/payments/${invoiceId}/1`,
      declined: `/payments/${declined}/1`,
      payout: `/payouts/${withdrawal}`,
      webhook: `/webhooks/${webhook}`,
      series: `/series/${root}/1`,
    };
  }

  /** Only another path shows what is new. */
  async function show(path: string): Promise<void> {
    const address = `${world.address}/console`;
    const isThere = !page.isClosed() && page.url().startsWith(address) && page.url() !== address + path;
    if (isThere) await follow(page, path);
    else page = await world.open(address + path);
    await settled();
  }
  async function settled(): Promise<void> {
    await page.locator('h1').waitFor();
    await expect.poll(() => page.getByText('Loading…').count(), { timeout: 30_000 }).toBe(0);
  }
  const expectHeading = (text: string) => page.getByRole('heading', { level: 1, name: text }).waitFor();
  const rows = () => page.locator('main tbody tr');
  async function search(text: string): Promise<void> {
    await page.getByLabel('Search payments').fill(text);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await settled();
  }

  test('shows the shops of its own mode alone', async () => {
    const { service, merchant } = world;
    await service.database.run(insertShop, {
      party_id: merchant.partyId,
      shop_id: 'LIVE',
      livemode: true,
      name: 'LIVE',
      url: 'https://shop.example',
      category_id: 1,
      currency: 'RUB',
      created_at: service.clock.now(),
    });
    const shops = await service.call('GET', '/v2/processing/shops', { token: merchant.apiKey });
    expect(shops.text).toContain('LIVE');
    await show('/payments?shop=LIVE');
    expect(await page.locator('option').allTextContents()).toContain('TEST · RUB');
    expect(await page.locator('option').allTextContents()).not.toContain('LIVE · RUB');
    expect(await rows().count()).toBeGreaterThan(0);
  });

  test('is entered by a link once, and keeps its secret from the address', async () => {
    const { credential } = await world.service.consoleSessions.makeLink(
      { kind: 'party', partyId: world.merchant.partyId },
      'ada@desk',
    );
    const link = `${world.address}/console/enter#${credential}`;
    page = await world.openAlone(link);
    expect(page.url()).toBe(`${world.address}/console/enter`);
    await page.getByRole('button', { name: 'Open the console' }).click();
    await expectHeading('Today');
    expect(await page.locator('nav a').allInnerTexts()).toEqual([
      'Today',
      'Payments',
      'Payouts',
      'Webhooks',
      'Series',
    ]);
    expect(await page.evaluate('document.cookie')).toBe('');

    const other = await world.openAlone(link);
    await other.getByRole('button', { name: 'Open the console' }).click();
    await other.getByText('This link was used before').waitFor();
    expect(await obstacles(other, { sizes })).toEqual([]);
  });

  test('says how to get a link where no session is open', async () => {
    page = await world.openAlone(`${world.address}/console/payments`);
    await expectHeading('No open session');
    await page.getByText('mandate console link --party ID').waitFor();
    expect(await obstacles(page, { sizes })).toEqual([]);
  });

  test('ends its session at once', async () => {
    await show('/payments');
    await page.getByRole('button', { name: 'End session' }).click();
    await expectHeading('No open session');
    await page.reload();
    await expectHeading('No open session');
    await renewed();
  });

  /** The tests share a session, which one of them ends. */
  async function renewed(): Promise<void> {
    const { service, merchant, address } = world;
    const { credential } = await service.consoleSessions.makeLink(
      { kind: 'operator', partyId: merchant.partyId },
      'ada@desk',
    );
    page = await world.open(`${address}/console/enter#${credential}`);
    await page.getByRole('button', { name: 'Open the console' }).click();
    await expectHeading('Today');
  }

  test('is one response of at most 60 KB', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const { rawPayload } = await world.service.app.inject({ url: '/console', headers });
    expect(rawPayload.length).toBeLessThanOrEqual(maxBytes);
    const requests: string[] = [];
    page = await world.openAlone('about:blank');
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await page.goto(`${world.address}/console`);
    await expectHeading('No open session');
    expect(requests).toEqual(['/console', '/console/api/session']);
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
  });

  test('shows what came in, and a table behind each drawing', async () => {
    await show('/today?currency=RUB');
    const numbers = (await page.locator('.numbers').innerText()).replaceAll('\u00a0', ' ');
    expect(numbers).toMatch(/Captured\s+3,040\.00 RUB/);
    expect(numbers).toMatch(/Refunded\s+10\.00 RUB/);
    expect(numbers).toMatch(/Approved\s+3 of 4/);
    expect(numbers).toMatch(/Pending: 999\.16 RUB/);
    const plots = page.locator('.plot');
    expect(await plots.locator('h2').allInnerTexts()).toEqual([
      'Payments over time',
      'Approval rate',
      'Declines',
      'Recovery by retry',
    ]);
    const summary = plots.first().locator('summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    const table = page.getByRole('table', { name: 'Payments over time' });
    const last = (await table.locator('tbody tr').last().innerText()).replaceAll('\u00a0', ' ');
    expect(last).toMatch(/not over\)\s+3\s+0\s+0\s+1\s+/);
    expect(await plots.nth(2).innerText()).toMatch(/Not enough money: the payer can pay later\s+1/);
    expect(await obstacles(page, { sizes })).toEqual([]);
  });

  test('shows an operator how a bank answers, and a table behind each drawing', async () => {
    await show('/banks');
    const [answers] = await bankAnswers(world.service.database, world.service.clock.now());
    const lastHour = answers?.hours.findLast(({ operations }) => operations > 0);
    const plots = page.locator('.plot');
    expect(await plots.locator('h2').allInnerTexts()).toEqual(
      expect.arrayContaining([`${answers?.bankId}: time to answer`, `${answers?.bankId}: without an answer`]),
    );
    const looks = await page.evaluate<string[]>(`['of0', 'of1'].map((line) => {
      const { strokeDasharray, strokeWidth } = getComputedStyle(document.querySelector('.plot path.line.' + line));
      return strokeDasharray + ' ' + strokeWidth;
    })`);
    expect(looks).toEqual(['none 2px', '4px, 3px 2px']);
    await plots.nth(1).locator('summary').click();
    const row = (await plots.nth(1).locator('tbody tr').last().innerText()).trim().split(/\s+/);
    const { operations, unanswered, open } = lastHour ?? {};
    expect(row.slice(-3)).toEqual([operations, unanswered, open].map(String));
    await page.getByLabel('Period').selectOption('30');
    await settled();
    expect(new URL(page.url()).search).toBe('?days=30');
    expect(await obstacles(page, { sizes })).toEqual([]);
  });

  test('keeps the days in the address, and a link to them for a colleague', async () => {
    await show('/today');
    await page.getByLabel('Period').selectOption('1');
    await settled();
    expect(new URL(page.url()).search).toBe('?days=1');
    await page.getByRole('link', { name: 'Link to these days' }).click();
    await settled();
    const { searchParams } = new URL(page.url());
    expect([...searchParams.keys()]).toEqual(['currency', 'days', 'until']);
    expect(await page.getByLabel('Last day').inputValue()).toBe(searchParams.get('until'));
    page = await world.open(`${world.address}/console/today?days=7&until=2020-02-01`);
    await page.getByText('No payment in these days.').waitFor();
  });

  test('shows every digit of a sum, whatever its size', async () => {
    await world.service.testDatabase.database.withClient((client) =>
      client.query(
        `insert into search_sum
         select $1, 'TEST', timestamptz '2021-01-31T12:00Z', 'payment', 'RUB', 'captured', attempt, 'visa', '', '', '', minor, 1
         from (values (0, 9007199254740992), (1, 1)) as sum (attempt, minor)`,
        [world.merchant.partyId],
      ),
    );
    await show('/today?days=7&until=2021-02-01');
    const numbers = (await page.locator('.numbers').innerText()).replaceAll('\u00a0', ' ');
    expect(numbers).toMatch(/Captured\s+90,071,992,547,409\.93 RUB/);
    await page.locator('.plot summary').first().click();
    const table = page.getByRole('table', { name: 'Payments over time' });
    expect(await table.innerText()).toContain('90,071,992,547,409.93');
    await page.getByRole('button', { name: 'Русский' }).click();
    await expectHeading('Сегодня');
    expect((await page.locator('.numbers').innerText()).replaceAll('\u00a0', ' ')).toContain(
      '90 071 992 547 409,93 RUB',
    );
    await page.getByRole('button', { name: 'English' }).click();
    expect(await obstacles(page, { sizes })).toEqual([]);
  });

  test.each([
    ['0002', 'last four digits', 1],
    ['eve@example.com', 'e-mail', 1],
    ['99', 'amount', 1],
    ['no-such-order', 'your own ID', 0],
  ])('searches %s by %s', async (text, way, found) => {
    await show('/payments');
    await search(text);
    await page.getByText(`Searched by ${way}.`).waitFor();
    if (found === 0) await page.getByText('No payment found.').waitFor();
    expect(await rows().count()).toBe(found);
  });

  test('searches by another way when asked, and both are in the address', async () => {
    await show('/payments');
    await search('4242');
    expect(await rows().count()).toBe(3);
    await page.getByRole('button', { name: 'amount', exact: true }).click();
    await page.getByText('Searched by amount.').waitFor();
    await page.getByText('No payment found.').waitFor();
    const address = page.url();
    expect(new URL(address).search).toBe('?q=4242&as=amount');
    await page.goBack();
    await page.getByText('Searched by last four digits.').waitFor();
    page = await world.open(address);
    await page.getByText('Searched by amount.').waitFor();
  });

  test('takes no card number, from the box or from the address', async () => {
    const asked: string[] = [];
    await show('/payments');
    page.on('request', (request) => asked.push(request.url()));
    await search('4242 4242 4242 4242');
    await page.getByText('This is a card number.').waitFor();
    expect(page.url()).not.toContain('4242');
    expect(await page.locator('[aria-invalid]').getAttribute('aria-describedby')).toBe('q-problem');
    page = await world.open(`${world.address}/console/payments?q=${visa}`);
    await page.getByText('This is a card number.').waitFor();
    expect(asked.filter((url) => url.includes('/analytics/') && url.includes('4242'))).toEqual([]);
  });

  test('shows texts of others as text', async () => {
    await show(paths.payment);
    const shown = hostile.replace('\u202e', '\\u{202e}');
    expect(await page.getByText(shown, { exact: true }).count()).toBe(2);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).not.toBe('1');
    await show(`/payments?q=${encodeURIComponent(hostile)}&shop=${encodeURIComponent(hostile)}`);
    await show(`/${encodeURIComponent(hostile)}`);
    await show(`/payments/${encodeURIComponent(hostile)}/1?party=${encodeURIComponent(hostile)}`);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('speaks Russian when asked, and remembers', async () => {
    await show('/payments');
    await page.getByRole('button', { name: 'Русский' }).click();
    await expectHeading('Платежи');
    page = await world.open(`${world.address}/console/payouts`);
    await expectHeading('Выплаты');
    expect(await page.locator('html').getAttribute('lang')).toBe('ru');
    await page.getByRole('button', { name: 'English' }).click();
    await expectHeading('Payouts');
  });

  test.each(['payment', 'declined', 'payout', 'series'] as const)(
    'says in Russian what happened: %s',
    async (name) => {
      await show(paths[name]);
      await page.getByRole('button', { name: 'Русский' }).click();
      await expect.poll(() => page.locator('h2').allInnerTexts()).toContain('Что произошло');
      await expect.poll(() => page.locator('.timeline li').count()).toBeGreaterThan(1);
      for (const text of await page.locator('.timeline li > p:nth-child(2)').allInnerTexts())
        expect(text).toMatch(/[а-я]/);
      for (const text of await page.locator('.why-box p').allInnerTexts()) expect(text).toMatch(/[а-я]/);
      expect(await page.locator('[lang=en]').count()).toBe(0);
      await page.getByRole('button', { name: 'English' }).click();
      await expect.poll(() => page.locator('.timeline').innerText()).not.toMatch(/[а-я]/);
    },
  );

  test('shows an operator the pages of the merchant they choose', async () => {
    await show('/payments?party=NONE');
    await expectHeading('Which merchant?');
    expect(await obstacles(page, { sizes })).toEqual([]);
    await page.getByLabel('ID of the merchant').fill(world.merchant.partyId);
    await page.getByRole('button', { name: 'Show' }).click();
    await expectHeading('Today');
    await page.getByRole('link', { name: 'Payouts' }).click();
    await expectHeading('Payouts');
    expect(new URL(page.url()).search).toBe(`?party=${world.merchant.partyId}`);
  });

  test('says on each page of a new merchant what fills it', async () => {
    const { partyId: empty } = await world.createMerchant();
    for (const [path, help] of [
      ['/today', 'it appears here within a second'],
      ['/payments', 'buy something in the demo shop'],
      ['/payments?q=none', 'An ID is case-sensitive'],
      ['/payouts', 'when your server creates a withdrawal'],
      ['/webhooks', 'POST /v2/processing/webhooks'],
      ['/series', 'makeRecurrent'],
    ] as const) {
      const { pathname, search: query } = new URL(path, world.address);
      await show(`${pathname}${query === '' ? '?' : `${query}&`}party=${empty}`);
      expect(await page.locator('.empty').first().innerText()).toContain(help);
    }
    await show('/jobs');
    expect(await page.locator('.empty').first().innerText()).toContain('if it needs you');
  });

  test('says what is not found', async () => {
    await show('/payments/none/1');
    await page.getByText('Not found.').first().waitFor();
    await show('/nowhere');
    await expectHeading('No such page');
  });

  test.each([
    ['/today?until=2020-01-01', 'Today'],
    ['/payments', 'Payments'],
    ['payment', 'Payment'],
    ['declined', 'Payment'],
    ['/payouts', 'Payouts'],
    ['payout', 'Payout'],
    ['/webhooks', 'Webhooks'],
    ['webhook', 'Webhook'],
    ['/series', 'Series'],
    ['series', 'Series'],
    ['/jobs', 'Stuck jobs'],
    ['/payments?q=none', 'Payments'],
  ])('has nothing in the way at %s, light and dark', async (name, title) => {
    await show((paths as Record<string, string>)[name] ?? name);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    expect(await obstacles(page, { sizes })).toEqual([]);
  });

  describeInBrowser('in under four clicks', () => {
    let clicks = 0;
    const click = async (target: Locator) => {
      expect((clicks += 1)).toBeLessThan(4);
      await target.click();
      await settled();
    };
    const searchFor = async (text: string) => {
      await click(page.getByRole('link', { name: 'Payments', exact: true }));
      await page.getByLabel('Search payments').fill(text);
      await click(page.getByRole('button', { name: 'Search', exact: true }));
    };
    const begin = async () => {
      clicks = 0;
      await show('/today');
    };

    test('says whether a payer was charged twice', async () => {
      await begin();
      await searchFor('ada@example.com');
      const amounts = await page.locator('tbody .amount').allInnerTexts();
      expect(amounts.map((text) => text.replace('\u00a0', ' '))).toEqual(['1,490.00 RUB', '1,490.00 RUB']);
      expect(await page.locator('tbody .status').allInnerTexts()).toEqual(['Captured', 'Captured']);
    });

    test('says why a payment was declined', async () => {
      await begin();
      await searchFor('0002');
      await click(page.locator('tbody a').first());
      expect(await page.locator('.why-box').innerText()).toMatch(
        /Not enough money.*account has too little money/s,
      );
    });

    test('says where a refund is', async () => {
      await begin();
      await searchFor('ada@example.com');
      await click(page.locator('tbody a').last());
      const refund = page.getByRole('table', { name: 'Refunds' }).locator('tbody tr');
      expect((await refund.innerText()).replace('\u00a0', ' ')).toMatch(/10\.00 RUB\s+Succeeded\s+\d{12}/);
    });

    test('says which payouts are unknown', async () => {
      await begin();
      await click(page.getByRole('link', { name: 'Payouts' }));
      expect((clicks += 1)).toBeLessThan(4);
      await page.getByLabel('Status').selectOption('Pending');
      await settled();
      expect(await rows().count()).toBe(1);
      await click(page.locator('tbody a').first());
      expect(await page.locator('.timeline').innerText()).toMatch(/no answer|unknown|does not know|pending/i);
    });

    test('says whether a webhook arrived', async () => {
      await begin();
      await searchFor(invoiceId);
      await click(page.locator('tbody a').first());
      const lines = page.locator('.timeline [data-kind=webhook]');
      expect(await lines.first().innerText()).toContain('InvoicePaid, attempt 1: failed');
    });
  });
});
