// The checks on a bank and a service after hundreds of payments and payouts of every kind, some still in progress.
// No check may report what is unusual but correct.
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

test('the checks find nothing in the middle of a busy day', async () => {
  expect(await whole(seen)).toEqual([]);
});

test('only the checks of a settled world find what is in progress', async () => {
  const found = await settledFindings(seen);
  expect(new Set(found.map(({ check }) => check))).toEqual(new Set(['final', 'bank']));
});
