// Sums of payouts are what a look at every withdrawal gives, while they change and after a rebuild.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBooks } from '../../../simulation/checks/rows.ts';
import { laterBy, type Instant } from '../../../src/clock.ts';
import { getPayoutSums } from '../../../src/search/api/sums/payout-sums.ts';
import { beginRebuild } from '../../../src/search/position.store.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

const visa = '4242424242424242';
/** The bank never knows its outcome. */
const unknown = 99_916;
const declined = 99_005;

let world: PayoutWorld;
let destination: string;
let withdrawals: any[] = [];

beforeAll(async () => {
  world = await startPayoutWorld();
  ({ id: destination } = await world.destinationFor(visa));
  for (const amount of [10_000, 20_000, declined, unknown]) {
    await payOut(amount);
    world.service.clock.advance(20 * 60_000);
  }
  await look();
});
afterAll(() => world?.close());

async function payOut(amount: number): Promise<void> {
  const { status, text } = await world.withdraw(amount, destination);
  expect(status, text).toBe(202);
  await world.service.jobs.whenIdle();
}
async function look(): Promise<void> {
  await world.service.search.whenIdle();
  withdrawals = (await world.get('/wallet/v0/withdrawals?limit=100')).body.result;
}
const query = async (text: string) =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text))).rows;

const year = { from: '2026-01-01T00:00:00.000000Z', to: '2026-12-31T00:00:00.000000Z' };
async function sums({ from, to } = year, more = '', token = world.merchant.apiKey): Promise<any> {
  const answer = await world.get(`/v2/analytics/payouts?fromTime=${from}&toTime=${to}${more}`, token);
  return answer.status === 200 ? answer.body.result : answer;
}
const expected = ({ from, to } = year) =>
  ['Failed', 'Pending', 'Succeeded'].flatMap((status) => {
    const same = withdrawals.filter(
      (one) => one.status === status && one.createdAt >= from && one.createdAt < to,
    );
    const amount = same.reduce((all, { body }) => all + body.amount, 0);
    return same.length === 0 ? [] : [{ status, currency: 'RUB', count: same.length, amount }];
  });
const inOrder = (all: any[]) => all.toSorted((one, other) => one.status.localeCompare(other.status));

test('are those of the withdrawals, by status', async () => {
  expect(expected()).toHaveLength(3);
  expect(inOrder(await sums())).toEqual(expected());
});

test('begin and end at any microsecond', async () => {
  const times = withdrawals.map(({ createdAt }) => createdAt as Instant).toSorted();
  const ranges = times.flatMap((from) => times.map((time) => ({ from, to: laterBy(time, 1) })));
  for (const range of ranges.filter(({ from, to }) => from < to))
    expect(inOrder(await sums(range))).toEqual(expected(range));
});

test('are read from what is summed already', async () => {
  await query(`update search_sum set n = n + 1000 where what = 'payout'`);
  for (const { count } of await sums()) expect(count).toBeGreaterThan(1_000);
  await query(`update search_sum set n = n - 1000 where what = 'payout'`);
});

test('follow a change, and a rebuild makes them again', async () => {
  await payOut(30_000);
  await look();
  expect(inOrder(await sums())).toEqual(expected());
  const wrong = async () => (await readBooks(query)).wrongSums;
  expect(await wrong()).toEqual([]);
  await query(`update search_sum set n = n + 7 where what = 'payout'`);
  expect(await wrong()).not.toEqual([]);
  await query('delete from search_payout');
  await query('update search_hour_sum set n = n + 7');
  await query('delete from search_day_sum');
  await beginRebuild(world.service.database);
  await world.service.search.whenIdle();
  expect(await wrong()).toEqual([]);
  expect(inOrder(await sums())).toEqual(expected());
});

test('are of one mode: a service that has become live leaves out test money', async () => {
  // The second is more than the wallet has left.
  for (const amount of [59_000_000, 59_000_000]) await payOut(amount);
  await look();
  const { database: db } = world.service;
  const inMode = async (livemode: boolean) => {
    const caller = { partyId: world.merchant.partyId };
    const query = { fromTime: year.from, toTime: year.to };
    const run = (_: string, read: () => Promise<unknown>) => read();
    const request = { caller, query, now: world.service.clock.now() };
    const deps = { db, payouts: { livemode }, searchTurns: { run } };
    return ((await getPayoutSums.handle(request as never, deps as never, {} as never)) as any).value.result;
  };
  const exact = expected().map((sum) => ({ ...sum, amount: BigInt(sum.amount) }));
  expect(inOrder(await inMode(false))).toEqual(exact);
  expect(await inMode(true)).toEqual([]);
  // Before withdrawals had a mode, the reservation of the money said it, and nothing did if there was none.
  await query('update withdrawal set livemode = null');
  await beginRebuild(db);
  await world.service.search.whenIdle();
  expect(inOrder(await inMode(false))).toEqual(exact);
  expect(await inMode(true)).toEqual([{ status: 'Failed', currency: 'RUB', count: 1, amount: 59_000_000n }]);
});

test('are of the own party, and need a range', async () => {
  const { apiKey, partyId } = await world.service.createMerchant();
  expect(await sums(year, '', apiKey)).toEqual([]);
  expect(await sums(year, `&partyID=${partyId}`)).toMatchObject({ status: 401 });
  expect(await sums({ from: year.from, to: '2028-01-01T00:00:00Z' })).toMatchObject({
    status: 400,
    body: { code: 'searchTooWide' },
  });
});
