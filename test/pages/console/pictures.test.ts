// Takes the pictures of docs/console.md: PICTURES=docs/images npx vitest run test/pages/console/pictures.test.ts
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';

/** Without it they are drawn and thrown away, so that this file still works when they are wanted. */
const folder = process.env['PICTURES'];
const emptyCard = '4000000000000002';

describeInBrowser('the pictures of the console', () => {
  let world: CheckoutWorld;
  let declined: string;
  beforeAll(async () => {
    world = await startCheckoutWorld();
    world.service.clock.set(Date.parse('2026-11-27T14:20:00Z'));
    const { token, session } = await world.tokenize(emptyCard);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, paymentSession: session };
    const contactInfo = { email: 'eve@example.com' };
    const invoice = { amount: 149_000, product: 'Coffee for a month' };
    ({ id: declined } = await world.pay(emptyCard, { payer: { ...payer, contactInfo } }, invoice));
    await world.service.jobs.whenIdle();
    await world.service.search.whenIdle();
    await fillSums(world);
    await enter(world);
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  async function take(page: Page, name: string, looks: { width: number; height: number; dark?: true }) {
    const { dark, ...size } = looks;
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    const browser = await page.context().newCDPSession(page);
    const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
    await browser.detach();
    const picture = Buffer.from(data, 'base64');
    if (folder !== undefined) await writeFile(join(folder, name), picture);
    await page.emulateMedia({ colorScheme: 'light' });
    return picture.length;
  }

  test('show Today', async () => {
    const page = await world.open(`${world.address}/console/today`);
    await page.getByRole('heading', { name: 'Approval rate' }).waitFor();
    expect(await take(page, 'console-today.webp', { width: 1_000, height: 860 })).toBeGreaterThan(10_000);
    const phone = { width: 360, height: 860, dark: true } as const;
    expect(await take(page, 'console-today-phone.webp', phone)).toBeGreaterThan(10_000);
  });

  test('show a declined payment', async () => {
    const page = await world.open(`${world.address}/console/payments/${declined}/1`);
    await page.locator('.why-box').waitFor();
    const bytes = await take(page, 'console-declined.webp', { width: 1_000, height: 860 });
    expect(bytes).toBeGreaterThan(10_000);
  });
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
