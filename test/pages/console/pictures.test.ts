// Takes the pictures of docs/console.md: PICTURES=docs/images npx vitest run test/pages/console/pictures.test.ts
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import { startCheckoutWorld, type CheckoutWorld } from '../../support/worlds/checkout-world.ts';

const folder = process.env['PICTURES'];

describeInBrowser('pictures of the console', () => {
  let world: CheckoutWorld;
  beforeAll(async () => {
    world = await startCheckoutWorld();
    world.service.clock.set(Date.parse('2026-11-27T14:20:00Z'));
    await world.service.search.whenIdle();
    await fillSums(world);
    await enter(world);
  });
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  test.each([360, 768, 1280])('%i px wide', async (width) => {
    const page = await world.open(`${world.address}/console/today`);
    await page.getByRole('heading', { name: 'Approval rate' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      if (folder !== undefined)
        await page.screenshot({
          path: join(folder, `console-today-${width}-${colorScheme}.png`),
          fullPage: true,
        });
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });
});

/** Sums of a month as the reader would have written them, of a shop that sells more on some days. */
async function fillSums({ service, merchant }: CheckoutWorld): Promise<void> {
  const { database } = service.testDatabase;
  await database.withClient(async (client) => {
    await client.query(
      `insert into search_sum
       select $1, 'TEST', quarter, 'payment', 'RUB', status, attempt, 'visa', class, '', code, n * 149000, n
       from generate_series(timestamptz '2026-11-20T21:00Z', '2026-11-27T14:00Z', interval '1 hour') as quarter
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
    );
  });
}

async function enter({ service, merchant, address, open }: CheckoutWorld): Promise<void> {
  const viewer = { kind: 'party', partyId: merchant.partyId } as const;
  const { credential } = await service.consoleSessions.makeLink(viewer, 'ada@desk');
  const page = await open(`${address}/console/enter#${credential}`);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
}
