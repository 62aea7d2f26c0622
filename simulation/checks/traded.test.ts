// The checks beside a bank and a service with hundreds of payments and payouts of every kind behind them, some still under way: what
// is unusual there is not wrong, and none of them says so.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTradedWorld, type TradedWorld } from '../../test/support/worlds/traded-world.ts';
import { settledFindings, whole, type CheckWorld } from './index.ts';

let world: TradedWorld;
let seen: CheckWorld;
beforeAll(async () => {
  world = await startTradedWorld();
  const { database } = world.service;
  seen = {
    query: (text, values) => database.withClient(async (client) => (await client.query(text, values)).rows),
    bankBook: () => world.readBook(),
    acknowledged: [],
    received: [],
  };
});
afterAll(() => world.close());

test('nothing is found in the middle of a busy day', async () => {
  expect(await whole(seen)).toEqual([]);
});

test('what is under way is found only where all should be over', async () => {
  const found = await settledFindings(seen);
  expect(new Set(found.map(({ check }) => check))).toEqual(new Set(['final', 'bank']));
});
