import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import { accept, refuse } from '../../../refusal.ts';
import { allOrNothing } from '../all-or-nothing.ts';
import type { Database, DatabasePool } from '../database.ts';
import { statement } from '../statement.ts';
import { lockStatement, readStatement } from './read-statement.ts';
import { openSharedTransactions } from './shared-transactions.ts';
import { changesOf, writeStatement } from './write-statement.ts';

const readNote = readStatement({
  name: 'test_shared_read',
  parameters: { note_id: 'text' },
  row: { version: 'int4', transaction: 'text' },
  text: `select version, pg_current_xact_id()::text as transaction from shared_note where note_id = :note_id`,
});
const lockNote = lockStatement({
  name: 'test_shared_lock',
  parameters: { note_id: 'text' },
  row: { version: 'int4' },
  text: 'select version from shared_note where note_id = :note_id for update',
});
const change = { note_id: 'text', version: 'int4' } as const;
/** Notes have no neighbours that hold them here, so it need not pass over them. */
const writeNote = writeStatement({
  name: 'test_shared_write',
  leavesOut: 'held',
  change,
  row: { version: 'int4' },
  text: `update shared_note set version = shared_note.version + 1 from ${changesOf(change)}
         where shared_note.note_id = change.note_id and shared_note.version = change.version
         returning asker, shared_note.version`,
});
const addNote = statement({
  name: 'test_shared_add',
  parameters: { note_id: 'text' },
  row: {},
  text: 'insert into shared_note values (:note_id, 1)',
});
const readAll = statement({
  name: 'test_shared_read_all',
  parameters: {},
  row: { note_id: 'text', version: 'int4' },
  text: 'select note_id, version from shared_note order by note_id',
});

let testDatabase: TestDatabase;
let db: DatabasePool;
/** The names of statements, one entry for each time that one was sent in a transaction. */
let sent: string[];
let watched: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('empty');
  db = testDatabase.database;
  await db.withClient((client) =>
    client.query('create table shared_note (note_id text primary key, version int not null)'),
  );
  watched = {
    ...db,
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          ...tx,
          run: (one, values) => {
            sent.push(one.name);
            return tx.run(one, values);
          },
        }),
      ),
  };
});
afterAll(async () => {
  await testDatabase.drop();
});
beforeEach(async () => {
  sent = [];
  await db.withClient((client) =>
    client.query(`truncate shared_note; insert into shared_note values ('a', 1), ('b', 1), ('c', 1)`),
  );
});

/** Reads a note, writes it, and accepts the transaction that it ran in. */
const writing = (id: string) => async (tx: Database) => {
  const [found] = await tx.run(readNote, { note_id: id });
  const [row] = await tx.run(writeNote, { note_id: id, version: found?.version ?? 0 });
  return row && found ? accept(found.transaction) : ('versionConflict' as const);
};
const versions = async () => (await db.run(readAll, {})).map(({ version }) => version);

describe('work of many callers', () => {
  test('is one transaction, with one statement for all of them', async () => {
    const transact = openSharedTransactions(watched);
    const done = await Promise.all(['a', 'b', 'c'].map((id) => transact(writing(id))));
    expect(new Set(done.map((one) => one !== 'versionConflict' && one.ok && one.value)).size).toBe(1);
    expect(sent).toEqual(['test_shared_read_together', 'test_shared_write']);
    expect(await versions()).toEqual([2, 2, 2]);
  });

  test('of which some is refused is rolled back, and the rest is written', async () => {
    const transact = openSharedTransactions(watched);
    const refusing = async (tx: Database) => {
      await tx.run(addNote, { note_id: 'refused' });
      return refuse('noSuchNote' as never);
    };
    const failing = async (tx: Database) => {
      await tx.run(addNote, { note_id: 'failed' });
      throw new Error('as planned');
    };
    const [a, refused, failed, c] = await Promise.allSettled([
      transact(writing('a')),
      transact(refusing),
      transact(failing),
      transact(writing('c')),
    ]);
    expect([a, c]).toMatchObject([{ value: { ok: true } }, { value: { ok: true } }]);
    expect(refused).toMatchObject({ value: { ok: false } });
    expect(failed).toMatchObject({ reason: new Error('as planned') });
    expect(await db.run(readAll, {})).toEqual([
      { note_id: 'a', version: 2 },
      { note_id: 'b', version: 1 },
      { note_id: 'c', version: 2 },
    ]);
  });

  test('waits for no row that another transaction holds, except alone', async () => {
    const transact = openSharedTransactions(watched);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const holding = await new Promise<{ ended: Promise<void> }>((isHeld) => {
      const ended = db.transaction(async (tx) => {
        await tx.run(lockNote, { note_id: 'b' });
        isHeld({ ended: Promise.resolve().then(() => ended) });
        await held;
      });
    });
    const locking = (id: string) => async (tx: Database) => {
      await tx.run(lockNote, { note_id: id });
      return writing(id)(tx);
    };
    const b = transact(locking('b'));
    await Promise.all([transact(locking('a')), transact(locking('c'))]);
    expect(await versions()).toEqual([2, 1, 2]);
    release();
    await holding.ended;
    expect(await b).toMatchObject({ ok: true });
    expect(await versions()).toEqual([2, 2, 2]);
  });

  test('that undoes a part of itself runs alone, and loses that part only', async () => {
    const transact = openSharedTransactions(watched);
    const undoing = async (tx: Database) => {
      await allOrNothing(tx, async (part) => {
        await part.run(addNote, { note_id: 'undone' });
        return refuse('noSuchNote' as never);
      });
      return writing('b')(tx);
    };
    await Promise.all([transact(writing('a')), transact(undoing), transact(writing('c'))]);
    expect(await versions()).toEqual([2, 2, 2]);
  });

  test('has its effects after the commit, once', async () => {
    const transact = openSharedTransactions(watched);
    const effects: string[] = [];
    const noting = (id: string) => (tx: Database) => {
      tx.afterCommit(() => void effects.push(id));
      return writing(id)(tx);
    };
    const stale = async (tx: Database) => {
      await tx.run(readNote, { note_id: 'b' });
      return 'versionConflict' as const;
    };
    const done = await Promise.all([transact(noting('a')), transact(stale), transact(noting('c'))]);
    expect(done[1]).toBe('versionConflict');
    expect(effects.toSorted()).toEqual(['a', 'c']);
  });
});
