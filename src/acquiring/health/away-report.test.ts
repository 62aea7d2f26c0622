import { afterAll, beforeAll, expect, test } from 'vitest';
import { laterBy, type Instant } from '../../clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { openAwayReport } from './away-report.ts';
import type { AwayBank } from './bank-health.ts';
import { upsertBank } from '../store/banks.ts';
import { listAwayBanks } from '../store/away-banks.ts';

const start = '2026-01-19T10:00:00.000000Z' as Instant;
const at = (seconds: number) => laterBy(start, seconds * 1_000);
let db: TestDatabase;
let now = start;
beforeAll(async () => {
  db = await createTestDatabase();
  const secret = { secret_ciphertext: Buffer.from('s'), key_version: 1 };
  for (const bank_id of ['A', 'B'])
    await db.database.run(upsertBank, { bank_id, url: 'u', ...secret, created_at: start });
});
afterAll(() => db.drop());

function node() {
  let away: readonly AwayBank[] = [];
  const report = openAwayReport({ db: db.database, clock: { now: () => now }, away: () => away });
  return {
    warnings: report.warnings,
    async sees(banks: Readonly<Record<string, number>>) {
      away = Object.entries(banks).map(([bankId, seconds]) => ({
        bankId,
        sinceMs: Date.parse(at(seconds)),
        because: 'silent',
      }));
      await report.write();
    },
  };
}

async function listed(): Promise<Record<string, string>> {
  const rows = await db.database.run(listAwayBanks, { now });
  return Object.fromEntries(rows.map(({ bank_id, away_since }) => [bank_id, away_since]));
}

test('a bank is away since the first node says so, until no node does', async () => {
  const [one, other] = [node(), node()];
  await one.sees({ A: 5 });
  await other.sees({ A: 3, B: 4 });
  expect(await listed()).toEqual({ A: at(3), B: at(4) });
  await one.sees({ A: 5 });
  expect(await listed()).toEqual({ A: at(3), B: at(4) });
  await other.sees({ A: 3 });
  expect(await listed()).toEqual({ A: at(3) });
  await other.sees({});
  await one.sees({ A: 5 });
  expect(await listed(), 'each node for itself').toEqual({ A: at(5) });
  await one.sees({});
  expect(await listed()).toEqual({});
});

test('what a node reported that stopped is forgotten', async () => {
  await node().sees({ A: 1 });
  now = at(119);
  expect(await listed()).toEqual({ A: at(1) });
  now = at(121);
  expect(await listed()).toEqual({});
  await node().sees({ A: 100 });
  expect(await listed()).toEqual({ A: at(100) });
});

test('readiness warns of a bank that is away', async () => {
  const one = node();
  expect(one.warnings()).toEqual([]);
  await one.sees({ B: 60 });
  expect(one.warnings()).toEqual(['bank B is away since 2026-01-19T10:01:00Z (silent)']);
});
