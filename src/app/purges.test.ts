// Rows that nothing needs any more are purged; rows that may be needed, or are about money, stay. Every table needs a rule.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSmallWorld, type SmallWorld } from '../../test/support/worlds/small-world.ts';
import { commandLine } from '../../test/support/processes/command-line.ts';
import { distributedBy } from '../../test/architecture/distribution.ts';
import { epochMsOf, instantAt } from '../clock.ts';
import { purges, purge } from './purges.ts';
import { retention } from './table-retention.ts';

const dayMs = 24 * 3_600_000;
let world: SmallWorld;
beforeAll(async () => void (world = await startSmallWorld()));
afterAll(() => world.close());

const query = async (text: string) =>
  (await world.service.database.withClient((client) => client.query<Record<string, any>>(text))).rows;
/** As if the command ran the given number of days from now. */
const purgeAfter = async (days: number, isDry = false) => {
  const before = instantAt(epochMsOf(world.service.clock.now()) + days * dayMs);
  const found: Record<string, bigint> = {};
  for (const rows of purges) found[rows.table] = await purge(world.service.database, rows, { before, isDry });
  return found;
};
const countOf = async (table: string) =>
  Number((await query(`select count(*)::int as n from ${table}`))[0]?.['n']);

test('every table has a rule', () => {
  expect(Object.keys(retention).sort()).toEqual(Object.keys(distributedBy).sort());
});

test('recent rows stay, and a dry run only counts', async () => {
  const queues = await countOf('webhook_queue');
  expect(queues).toBeGreaterThan(3);
  expect(await purgeAfter(-90)).toEqual({
    webhook_queue: 0n,
    card_decline: 0n,
    payout_grant: 0n,
    exchange: 0n,
  });
  expect(await purgeAfter(1, true)).toMatchObject({ webhook_queue: BigInt(queues) });
  expect(await countOf('webhook_queue')).toBe(queues);
});

test('waiting, parked and replayed queues stay, and later events of purged ones are still delivered', async () => {
  const { webhookID: told } = world.received[0]!;
  const [before] = await query(`select count(*)::int as n from webhook_queue where webhook_id = '${told}'`);
  await query(`update webhook_queue set wake_at = now() where ctid in (select ctid from webhook_queue
    where aggregate_id = '${world.shipped.id}')`);
  await query(`update webhook_queue set stuck_at = now() where aggregate_id = '${world.released.id}'`);
  await query(
    `update webhook_queue set replay_until = 1, resume_at = 2 where aggregate_id = '${world.recurring}'`,
  );
  await purgeAfter(1);
  const left = await query('select distinct aggregate_id from webhook_queue order by 1');
  expect(left.map((row) => row['aggregate_id'])).toEqual(
    [world.shipped.id, world.released.id, world.recurring].sort(),
  );

  const { service, merchant, sold } = world;
  const url = `/v2/processing/invoices/${sold.id}/payments/1/refunds`;
  const body = { amount: 500, currency: 'RUB', reason: 'later' };
  const refund = await service.call('POST', url, { token: merchant.apiKey, body });
  expect(refund.status).toBe(201);
  await service.jobs.whenIdle();
  await service.webhooks.whenIdle();
  const [queue] = await query(`select next_position > last_position as is_told from webhook_queue
    where aggregate_id = '${sold.id}'`);
  expect(queue).toEqual({ is_told: true });

  // What was delivered before can be replayed.
  service.clock.advance(60_000);
  const { webhookID } = world.received[0]!;
  const replay = await service.call('POST', `/v2/processing/webhooks/${webhookID}/replay`, {
    token: merchant.apiKey,
    body: { since: '2026-01-01T00:00:00Z' },
  });
  expect(replay.status).toBeLessThan(300);
  await service.webhooks.whenIdle();
  const again = await query(`select aggregate_id from webhook_queue where webhook_id = '${webhookID}'`);
  expect(again.length).toBe(before?.['n']);
});

test('old declines and grants are purged, and portions skip none', async () => {
  await query(`insert into card_decline (card_key, invoice_id, payment_id, party_id, shop_id, amount_minor, currency, by_merchant, attempted_at)
    select decode(lpad(to_hex(n / 3), 8, '0'), 'hex'), 'I' || n, '1', 'P', 'S', 100, 'RUB', false,
      case when n % 50 <> 0 then timestamptz '2020-01-01Z' else timestamptz '2090-01-01Z' end
    from generate_series(1, 5000) as n`);
  await query(`insert into payout_grant (grant_id, token_hash, kind, entity_id, valid_until)
    values ('OLD', '', 'destination', 'D', '2020-01-01Z'), ('YOUNG', '', 'destination', 'D', '2090-01-01Z')`);
  expect(await purgeAfter(0)).toMatchObject({ card_decline: 4_900n, payout_grant: 1n });
  expect(
    await query(`select count(*)::int as n from card_decline where attempted_at < '2021-01-01Z'`),
  ).toEqual([{ n: 0 }]);
  expect(
    await query(`select count(*)::int as n from card_decline where attempted_at > '2089-01-01Z'`),
  ).toEqual([{ n: 100 }]);
  expect(await query('select grant_id from payout_grant')).toEqual([{ grant_id: 'YOUNG' }]);
});

test('many rows of one card are purged in portions too', async () => {
  await query(`insert into card_decline (card_key, invoice_id, payment_id, party_id, shop_id, amount_minor, currency, by_merchant, attempted_at)
    select '\\xff', 'I' || n / 2, (n % 2)::text, 'P', 'S', 100, 'RUB', false, '2020-01-01Z' from generate_series(1, 2500) as n`);
  const declines = purges.find(({ table }) => table === 'card_decline')!;
  const reported: bigint[] = [];
  const before = instantAt(Date.UTC(2021, 0));
  const report = (found: bigint) => void reported.push(found);
  expect(await purge(world.service.database, declines, { before, isDry: true })).toBe(2_500n);
  expect(await purge(world.service.database, declines, { before, isDry: false, report })).toBe(2_500n);
  const portions = reported.map((found, index) => found - (reported[index - 1] ?? 0n));
  expect(portions.filter((found) => found > 1_000n)).toEqual([]);
  expect(await purge(world.service.database, declines, { before, isDry: true })).toBe(0n);
});

test('the command purges as documented', { timeout: 60_000 }, async () => {
  const environment = {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const dry = await commandLine(['retention', 'purge', '--older-than', '90', '--dry-run'], environment);
  expect(dry.output).toMatch(
    /^webhook_queue: would delete \d+ rows\ncard_decline: would delete 0 rows\npayout_grant: would delete 0/,
  );
  const wrong = await commandLine(['retention', 'purge', '--older-than', '30'], environment);
  expect([wrong.code, wrong.errors]).toEqual([
    1,
    expect.stringContaining('--older-than is "30". Use a number of days, at least 90.'),
  ]);
  const { output } = await commandLine(['retention', 'show'], environment);
  expect(output).toMatch(/\nledger_transfer +\d+ +\d+\.\d +permanently: the ledger/);
});
