// The feed misses no event, in any order of transaction starts and commits.
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { instantAt } from '../../clock.ts';
import { openDatabase } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { untilWaiting } from '../../../test/support/database/ledger.ts';
import {
  currentSnapshot,
  feedState,
  ClusterMismatch,
  pollOnce,
  newEvents,
  type NewEvent,
} from './feed.store.ts';
import { resetCursor } from './reset-cursor.store.ts';

const now = instantAt(Date.UTC(2026, 0, 19));
let db: TestDatabase;
let prefix = 0;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.withClient((client) =>
    client.query(
      `insert into webhook (webhook_id, party_id, topic, owner_id, event_types, url, created_at)
       values ('1', 'P', 'InvoicesTopic', 'S', 'InvoicePaid', 'http://localhost/', now())`,
    ),
  );
});
afterAll(() => db.drop());
beforeEach(() => void (prefix += 1));

const open: Writer[] = [];
type Writer = {
  write(id: string, sequence: number): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
};
afterEach(async () => {
  for (const writer of open.splice(0)) await writer.rollback();
});

const insert = `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
                values ($1, $2, 'invoice', $3, now(), '[]')`;

/** A transaction that stays open until the test ends it. */
async function begin(party = 'P'): Promise<Writer> {
  let end = (_how: string) => {};
  const ended = new Promise<string>((resolve) => (end = resolve));
  let client: pg.ClientBase | undefined;
  let begun = () => {};
  const ready = new Promise<void>((resolve) => (begun = resolve));
  const over = db.database.withClient(async (held) => {
    client = held;
    await held.query('begin');
    // Otherwise the server ends the session if the polls before its next statement take five seconds.
    await held.query('set local idle_in_transaction_session_timeout = 0');
    // Like a request with an Idempotency-Key, which gets its transaction number before it reads.
    await held.query('select pg_current_xact_id()');
    begun();
    await held.query(await ended);
  });
  await ready;
  let isOver = false;
  const finish = (how: string) => async () => {
    if (isOver) return;
    isOver = true;
    end(how);
    await over;
  };
  const writer: Writer = {
    write: async (id, sequence) => void (await client?.query(insert, [`${prefix}-${id}`, sequence, party])),
    commit: finish('commit'),
    rollback: finish('rollback'),
  };
  open.push(writer);
  return writer;
}

async function writeNow(id: string, sequence: number, party = 'P'): Promise<void> {
  const writer = await begin(party);
  await writer.write(id, sequence);
  await writer.commit();
}

const nameOf = ({ aggregateId, sequence }: NewEvent) => `${aggregateId.replace(/^\d+-/, '')}${sequence}`;

async function look(): Promise<string[]> {
  const found: string[] = [];
  for (let more = true; more;) {
    const seen = await pollOnce(db.database, now, (events) => {
      found.push(...events.map(nameOf));
      return Promise.resolve([]);
    });
    more = seen?.more ?? false;
  }
  return found;
}

describe('a poll', () => {
  beforeEach(() => look());

  test('finds new events once, and only of parties with webhooks', async () => {
    await writeNow('a', 1);
    await writeNow('b', 1);
    await writeNow('a', 2);
    await writeNow('c', 1, 'party without webhooks');
    expect(await look()).toEqual(['a1', 'a2', 'b1']);
    expect(await look()).toEqual([]);
    await writeNow('a', 3);
    expect(await look()).toEqual(['a3']);
  });

  test('waits for no transaction, and finds late commits when they commit', async () => {
    const slow = await begin();
    await slow.write('slow', 1);
    await writeNow('a', 1);
    expect(await look()).toEqual(['a1']);
    await writeNow('b', 1);
    expect(await look()).toEqual(['b1']);
    await slow.commit();
    expect(await look()).toEqual(['slow1']);
    expect(await look()).toEqual([]);
  });

  test('never finds events that were rolled back', async () => {
    const writer = await begin();
    await writer.write('a', 1);
    expect(await look()).toEqual([]);
    await writer.rollback();
    expect(await look()).toEqual([]);
  });

  test('that fails leaves its events to the next poll', async () => {
    await writeNow('a', 1);
    await expect(pollOnce(db.database, now, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await look()).toEqual(['a1']);
  });

  test('is skipped while another node is polling', async () => {
    await writeNow('a', 1);
    let second: unknown = 'not asked';
    await pollOnce(db.database, now, async () => {
      second = await pollOnce(db.database, now, () => Promise.resolve([]));
      return [];
    });
    expect(second).toBeUndefined();
  });

  test('finds every event among parallel transactions and polls', async () => {
    const expected = new Set<string>();
    const found: string[] = [];
    const writers: { writer: Writer; name: string }[] = [];
    // A fixed sequence of random numbers makes the test repeatable.
    let seed = 7;
    const dice = (sides: number) => (seed = (seed * 48_271) % 2_147_483_647) % sides;
    for (let step = 0; step < 300; step++) {
      const roll = dice(5);
      const some = writers[dice(Math.max(1, writers.length))];
      if (roll === 0 && writers.length < 5) {
        const writer = await begin();
        await writer.write(`e${step}-`, 1);
        writers.push({ writer, name: `e${step}-1` });
      } else if (roll === 1 && some) {
        writers.splice(writers.indexOf(some), 1);
        await some.writer.commit();
        expected.add(some.name);
      } else if (roll === 2) {
        await writeNow(`n${step}-`, 1);
        expected.add(`n${step}-1`);
      } else if (roll === 3) found.push(...(await look()));
    }
    for (const { writer, name } of writers) {
      await writer.commit();
      expected.add(name);
    }
    found.push(...(await look()));
    expect(found.toSorted()).toEqual([...expected].sort());
  });
});

describe('a long log', () => {
  test('is read in batches of whole transactions, without gaps', async () => {
    let seen = await currentSnapshot(db.database);
    const slow = await begin();
    await slow.write('slow', 1);
    for (let number = 0; number < 7; number++) await writeNow(`e${number}-`, 1);
    const big = await begin();
    for (let number = 0; number < 5; number++) await big.write(`big${number}-`, 1);
    await big.commit();
    const portions: string[][] = [];
    for (let more = true; more;) {
      const found = await newEvents(db.database, seen, 3);
      portions.push(found.events.map(nameOf));
      ({ seen, more } = found);
    }
    expect(portions.map(({ length }) => length)).toEqual([3, 3, 6, 0]);
    await slow.commit();
    expect((await newEvents(db.database, seen, 3)).events.map(nameOf)).toEqual(['slow1']);
    expect(new Set(portions.flat()).size).toBe(12);
  });

  test('keeps the order of an aggregate even if a later event has a lower transaction number', async () => {
    let seen = await currentSnapshot(db.database);
    // It begins first but writes after the other has committed, as the version check requires.
    const early = await begin();
    await writeNow('x', 1);
    await early.write('x', 2);
    await early.commit();
    await writeNow('y', 1);
    const first = await newEvents(db.database, seen, 1);
    expect(first.events.map(nameOf)).toEqual(['x1', 'x2']);
    ({ seen } = first);
    const names: string[] = [];
    for (let more = true; more;) {
      const found = await newEvents(db.database, seen, 1);
      names.push(...found.events.map(nameOf));
      ({ seen, more } = found);
    }
    expect(names).toContain('y1');
  });
});

test('a log from another PostgreSQL cluster is detected, and reset-cursor repairs it', async () => {
  await writeNow('a', 1);
  await db.database.withClient(async (client) => {
    await client.query('alter table event disable trigger event_is_append_only');
    await client.query(`update event set written_in = '1000000000'`);
    await client.query('alter table event enable trigger event_is_append_only');
    await client.query(`update webhook_feed set seen = '1000000000:1000000001:'`);
  });
  await expect(look()).rejects.toThrow(ClusterMismatch);
  expect(await resetCursor(db.database)).toBeGreaterThan(0);
  expect((await feedState(db.database)).isMismatch).toBe(false);
  expect(await look()).toEqual([]);
  await writeNow('b', 1);
  expect(await look()).toEqual(['b1']);
});

test('a cluster mismatch remains when the transaction numbers have passed the old ones', async () => {
  const setSeen = (snapshot: string) =>
    db.database.withClient((client) => client.query(`update webhook_feed set seen = ${snapshot}`));
  await look();
  await setSeen(`'1000000000:1000000000:'`);
  await writeNow('missed', 1);
  await expect(look()).rejects.toThrow(ClusterMismatch);
  await setSeen('pg_current_snapshot()::text');
  await expect(look()).rejects.toThrow(ClusterMismatch);
  expect((await feedState(db.database)).isMismatch).toBe(true);
  await resetCursor(db.database);
  expect(await look()).toEqual([]);
});

const holdUp = statement({
  name: 'test_hold_up',
  parameters: {},
  row: {},
  text: 'select pg_advisory_xact_lock(77)',
});

test('reset-cursor is not limited by the usual statement timeout', async () => {
  const usualMs = 31_000;
  await writeNow('a', 1);
  await db.database.withClient((client) =>
    client.query(`create function take_long() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(77); return null; end $$;
      create trigger takes_long before update on event for each statement execute function take_long()`),
  );
  const impatient = openDatabase({
    connection: { url: db.url },
    maxConnections: 3,
    silenceTimeoutMs: usualMs,
  });
  const set = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  const limitsLeft = () => {
    const over = new Set(cleared.mock.calls.map(([timer]) => timer));
    return set.mock.calls.filter(
      ([, ms], place) => ms === usualMs && !over.has(set.mock.results[place]?.value as NodeJS.Timeout),
    );
  };
  const reset = await db.database.transaction(async (tx) => {
    await tx.run(holdUp, {});
    const resetting = resetCursor(impatient);
    await untilWaiting(db.database, 1);
    // While the update takes long, no time limit can end it.
    expect(limitsLeft()).toEqual([]);
    return { resetting };
  });
  set.mockRestore();
  cleared.mockRestore();
  expect(await reset.resetting).toEqual(expect.any(Number));
  await impatient.end();
  await db.database.withClient((client) => client.query('drop trigger takes_long on event'));
});

test('the age of the oldest unread event shows that no node is polling', async () => {
  await look();
  expect((await feedState(db.database)).oldest).toBeUndefined();
  const before = Date.now();
  await writeNow('a', 1, 'party without webhooks');
  expect((await feedState(db.database)).oldest).toBeUndefined();
  await writeNow('b', 1);
  const { oldest } = await feedState(db.database);
  expect(Math.abs(Date.parse(oldest ?? '') - before)).toBeLessThan(60_000);
  // Read events are not new again because an older transaction is still running.
  const slow = await begin();
  await writeNow('c', 1);
  await look();
  expect((await feedState(db.database)).oldest).toBeUndefined();
  await slow.rollback();
});
