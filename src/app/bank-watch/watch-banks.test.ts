import { expect, test } from 'vitest';
import { watchBanks } from './watch-banks.ts';

test('many callbacks at once lead to one reading of the updates and one more', async () => {
  let readings = 0;
  const bank = {
    abilities: () => Promise.resolve({ hasUpdates: true }),
    async updates() {
      readings++;
      await new Promise(setImmediate);
      return { updates: [], unreadable: [], last: 0, hasMore: false };
    },
  };
  const run = ({ name }: { name: string }) =>
    Promise.resolve(name === 'read_bank_to_watch' ? [{ bank_id: 'b', updates_cursor: 0n }] : []);
  const options = { database: { run }, banks: { bankNamed: () => Promise.resolve(bank) } };
  const { hurry } = watchBanks(options as unknown as Parameters<typeof watchBanks>[0]);
  await Promise.all(Array.from({ length: 20 }, () => hurry('b', 'i.1.a')));
  expect(readings).toBeLessThanOrEqual(2);
  await hurry('b', 'i.1.a');
  expect(readings).toBeGreaterThanOrEqual(2);
});
