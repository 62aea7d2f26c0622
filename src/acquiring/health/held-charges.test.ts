// Nodes that share the row of a bank. Each knows the row as it last read it.
import { afterAll, beforeEach, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { laterBy, type Instant } from '../../clock.ts';
import { releaseCharges } from '../store/held-charges.ts';
import { readBank, upsertBank } from '../store/banks.ts';
import { openHeldCharges } from './held-charges.ts';

const start = '2026-01-19T10:00:00.000000Z' as Instant;
const second = 1_000;
const minute = 60_000;
const bankId = 'A';

let db: TestDatabase;
let now: Instant;
/** Whom an alert was sent for, and until when it is held. */
let alerts: string[];
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  now = start;
  alerts = [];
  const secret = { secret_ciphertext: Buffer.from('s'), key_version: 1 };
  await db.database.withClient((client) => client.query('delete from bank'));
  await db.database.run(upsertBank, { bank_id: bankId, url: 'u', ...secret, created_at: start });
});

const pass = (ms: number) => void (now = laterBy(now, ms));
const resume = () => db.database.run(releaseCharges, { bank_id: bankId, now });

async function heldUntil(): Promise<Instant | null> {
  const [row] = await db.database.run(readBank, { bank_id: bankId });
  return row?.charges_held_until ?? null;
}

async function node() {
  let known = await heldUntil();
  let isDown = false;
  const read = async () => void (known = await heldUntil());
  const { hearCharge } = openHeldCharges(
    {
      db: {
        run: (...asked) => (isDown ? Promise.reject(new Error('no connection')) : db.database.run(...asked)),
      },
      clock: { now: () => now },
      onHeld: (id, because, until) => void alerts.push(`${id} ${because} ${until}`),
    },
    { chargesHeldUntil: () => Promise.resolve(known), forget: read },
    { homeOfCharges: () => Promise.resolve(bankId) },
  );
  return {
    /** As it does within a second. */
    read,
    loses: (connection: boolean) => void (isDown = connection),
    async hears(times: number) {
      for (let count = 0; count < times; count++)
        await hearCharge({ bankId, partyId: 'P', ended: 'technical', isRetry: false });
    },
  };
}

test('what was counted is kept until the hold is stored', async () => {
  const one = await node();
  await one.hears(19);
  one.loses(true);
  await expect(one.hears(1)).rejects.toThrow('no connection');
  one.loses(false);
  expect(await heldUntil()).toBeNull();
  await one.hears(1);
  expect(await heldUntil()).toBe(laterBy(start, 5 * minute));
  expect(alerts).toEqual([`A technical ${laterBy(start, 5 * minute)}`]);
});

test('of several nodes that find so the first decides, and alerts', async () => {
  const [one, other] = [await node(), await node()];
  await one.hears(20);
  pass(second);
  await other.hears(20);
  expect(await heldUntil()).toBe(laterBy(start, 5 * minute));
  expect(alerts).toHaveLength(1);
});

test('what ends while the bank is held was begun before, and does not hold it again', async () => {
  const one = await node();
  await one.hears(20);
  pass(5 * minute - second);
  await one.hears(30);
  pass(second);
  await one.hears(19);
  expect(alerts).toHaveLength(1);
  await one.hears(1);
  expect(alerts).toHaveLength(2);
});

test('after a resume each node counts from the beginning, also one that heard nothing of the hold', async () => {
  const [one, other] = [await node(), await node()];
  await other.hears(19);
  await one.hears(20);
  pass(second);
  expect(await resume()).toHaveLength(1);
  pass(second);
  await other.read();
  await other.hears(19);
  expect(alerts).toHaveLength(1);
  await other.hears(1);
  expect(alerts).toHaveLength(2);
});

test('a node that has not read of the resume yet does not hold the bank by what it counted before', async () => {
  const [one, other] = [await node(), await node()];
  await other.hears(19);
  await one.hears(20);
  pass(second);
  await resume();
  await other.hears(19);
  expect(alerts).toHaveLength(1);
  expect(await heldUntil()).toBe(now);
});
