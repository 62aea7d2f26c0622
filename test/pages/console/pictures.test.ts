// Takes the pictures of docs/console.md: PICTURES=docs/images/console npx vitest run test/pages/console/pictures.test.ts
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import { unknownPayout } from '../../support/requests/unknown-payout.ts';
import { often } from '../../support/service/campaign.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';

/** Without it some are drawn and thrown away, so that this file still works when they are wanted. The night draws all. */
const folder = process.env['PICTURES'];
const drawn = folder === undefined ? often(1, Infinity) : Infinity;
const visa = '4242424242424242';
const emptyCard = '4000000000000002';

describeInBrowser('the pictures of the console', () => {
  let world: CheckoutWorld;
  let paths: Record<'declined' | 'refunded' | 'payout', string>;
  beforeAll(async () => {
    world = await startCheckoutWorld();
    world.service.clock.set(Date.parse('2026-11-27T14:20:00Z'));
    paths = await trade();
    await fillSums(world);
    await enter(world);
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  async function paidBy(card: string, email: string): Promise<string> {
    const { token, session } = await world.tokenize(card);
    const contactInfo = { email };
    const resource = { payerType: 'PaymentResourcePayer', paymentToolToken: token, paymentSession: session };
    const invoice = { amount: 149_000, product: 'Coffee for a month' };
    const { id } = await world.pay(card, { payer: { ...resource, contactInfo } }, invoice);
    await world.service.jobs.whenIdle();
    // Each is a minute after the other.
    world.service.clock.advance(60_000);
    return id;
  }
  async function trade() {
    const { service, merchant } = world;
    const receiver = await startReceiver();
    await makeWebhook(service, merchant, 'TEST', receiver.url);
    await paidBy(visa, 'ada@example.com');
    const refunded = await paidBy(visa, 'ada@example.com');
    const declined = await paidBy(emptyCard, 'eve@example.com');
    const refunds = `/v2/processing/invoices/${refunded}/payments/1/refunds`;
    const body = { amount: 50_000, currency: 'RUB', reason: 'One bag was stale' };
    const { status, text } = await service.call('POST', refunds, { token: merchant.apiKey, body });
    expect(status, text).toBe(201);
    await service.jobs.whenIdle();
    const payout = await unknownPayout(world);
    service.webhooks.wake();
    await service.webhooks.whenIdle();
    await receiver.stop();
    await service.search.whenIdle();
    return { declined, refunded, payout };
  }

  async function take(
    page: Page,
    name: string,
    looks: { width: number; height: number; look: 'light' | 'dark' },
  ) {
    const { look, ...size } = looks;
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: look });
    const browser = await page.context().newCDPSession(page);
    const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 70 });
    await browser.detach();
    const picture = Buffer.from(data, 'base64');
    if (folder !== undefined) await writeFile(join(folder, name), picture);
    await page.emulateMedia({ colorScheme: 'light' });
    return picture.length;
  }

  const looks = { '': 'light', '-dark': 'dark' } as const;
  const screens = [
    ['phone', { width: 360, height: 860 }],
    ['tablet', { width: 768, height: 860 }],
    ['desktop', { width: 1_280, height: 860 }],
  ] as const;
  test.each(screens.slice(0, drawn))('show Today on a %s, light and dark', async (screen, size) => {
    const page = await world.open(`${world.address}/console/today?days=7`);
    await page.getByRole('heading', { name: 'Approval rate' }).waitFor();
    for (const [ending, look] of Object.entries(looks))
      expect(await take(page, `today-${screen}${ending}.webp`, { ...size, look })).toBeGreaterThan(8_000);
  });

  const questions = [
    ['charged-twice', (): string => '/payments?q=ada@example.com', 'tbody', 520],
    ['declined', (): string => `/payments/${paths.declined}/1`, '.why-box', 560],
    ['refund', (): string => `/payments/${paths.refunded}/1`, '.timeline', 520],
    ['payout', (): string => `/payouts/${paths.payout}`, '[data-kind=nextAttempt]', 740],
    ['webhook', (): string => `/payments/${paths.refunded}/1`, '[data-kind=webhook]', 440],
  ] as const;
  test.each(questions.slice(0, drawn))(
    'show the answer to a question: %s',
    async (name, path, shown, height) => {
      const page = await world.open(`${world.address}/console${path()}`);
      await page.locator(shown).first().waitFor();
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0);
      await page.setViewportSize({ width: 1_000, height });
      if (height === 440)
        await page.evaluate(`document.querySelector('${shown}').scrollIntoView({ block: 'center' })`);
      const bytes = await take(page, `${name}.webp`, { width: 1_000, height, look: 'light' });
      expect(bytes).toBeGreaterThan(5_000);
    },
  );
});

/** Sums of a week as the reader would have written them, of a shop that sells more on some days. */
async function fillSums({ service, merchant }: CheckoutWorld): Promise<void> {
  await service.testDatabase.database.withClient((client) =>
    client.query(
      `insert into search_sum
       select $1, 'TEST', quarter, 'payment', 'RUB', status, attempt, 'visa', class, '', code, n * 149000, n
       from generate_series(timestamptz '2026-11-20T21:00Z', '2026-11-27T13:00Z', interval '1 hour') as quarter
       cross join (values
         ('captured', 0, '', '', 14), ('captured', 1, '', '', 22), ('captured', 2, '', '', 2), ('captured', 3, '', '', 1),
         ('failed', 0, 'issuer', '05', 1), ('failed', 1, 'funds', '51', 4), ('failed', 2, 'funds', '51', 2),
         ('failed', 1, 'newCard', '54', 1), ('refunded', 0, '', '', 1), ('processed', 0, '', '', 1)
       ) as kind (status, attempt, class, code, base)
       cross join lateral (
         select (base * (6 + extract(hour from quarter)::int % 12 + 3 * (extract(day from quarter)::int % 3)) / 12)::int as n
       ) as amount
       where n > 0`,
      [merchant.partyId],
    ),
  );
}

async function enter({ service, merchant, address, open }: CheckoutWorld): Promise<void> {
  const viewer = { kind: 'party', partyId: merchant.partyId } as const;
  const { credential } = await service.consoleSessions.makeLink(viewer, 'ada@desk');
  const page = await open(`${address}/console/enter#${credential}`);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
}
