import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { recordStatements } from '../../../../test/support/database/sent-statements.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import { openRelay } from '../../../../test/support/database/relay.ts';
import { stayOpen } from '../../../../test/support/database/waiting.ts';
import { openDatabase } from '../database.ts';
import { DatabaseUnavailable, CommitUnknown } from '../connections/unavailable.ts';
import { statement, type Statement } from '../statement.ts';
import { openBatchedWrites } from './batched-writes.ts';
import { changesOf, writeStatement } from './write-statement.ts';

const note = { note_id: 'text', version: 'int4', name: 'text?' } as const;
const writeNote = writeStatement({
  name: 'test_write_note',
  leavesOut: 'held',
  change: note,
  row: { version: 'int4' },
  text: 'select asker, version from write_notes(:changes)',
});

const lockNote = statement({
  name: 'test_lock_note',
  parameters: { note_id: 'text' },
  row: {},
  text: 'select from note where note_id = :note_id for update',
});

/** Who waits for a name that another transaction has written. */
const countBlocked = statement({
  name: 'test_count_blocked',
  parameters: {},
  row: { count: 'int4' },
  text: `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
const answerOf = async (asked: Promise<unknown>) => asked.catch((error: unknown) => error);
const refused = (code: string) => Object.assign(new Error('as requested'), { code, severity: 'ERROR' });
type Change = { asker: number; note_id: string; version: number };

/** Batched writes on a server of which the test says when it answers, and what. */
function openByHand() {
  const sent: {
    readonly changes: readonly Change[];
    readonly answer: (rows: Record<string, unknown>[]) => void;
    readonly fail: (error: unknown) => void;
  }[] = [];
  const write = openBatchedWrites({
    withClient: (work) => work({} as pg.ClientBase),
    query: (_, { name }: Statement, [changes]) =>
      new Promise((answer, fail) => {
        expect(name).toBe('test_write_note');
        sent.push({ changes: JSON.parse(String(changes)) as Change[], answer, fail });
      }),
  });
  const ask = (id: string) => answerOf(write(writeNote, [id, 1, null]));
  const idsIn = (index: number) => sent[index]?.changes.map(({ note_id }) => note_id);
  const answer = (index: number, but: readonly string[] = []) =>
    sent[index]?.answer(
      sent[index].changes
        .filter(({ note_id }) => !but.includes(note_id))
        .map(({ asker, version }) => ({ asker, version: version + 1 })),
    );
  return { ask, sent, idsIn, answer };
}
const written = [{ version: 2 }];

describe('a batch', () => {
  test('of one caller is the same statement with a list of one, sent in the turn in which it is asked', async () => {
    const { ask, sent, answer } = openByHand();
    const asked = ask('a');
    await turn();
    expect(sent.map(({ changes }) => changes)).toEqual([
      [{ asker: 0, note_id: 'a', version: 1, name: null }],
    ]);
    answer(0);
    expect(await asked).toEqual(written);
  });

  test('gathers while the one before it is written, in the order of the callers', async () => {
    const { ask, sent, idsIn, answer } = openByHand();
    const asked = [ask('a')];
    await turn();
    asked.push(ask('b'), ask('a'));
    await turn();
    expect(sent).toHaveLength(1);
    answer(0);
    await turn();
    expect(idsIn(1)).toEqual(['b', 'a']);
    answer(1);
    expect(await Promise.all(asked)).toEqual([written, written, written]);
  });

  test('has 200 changes at most', async () => {
    const { ask, sent, idsIn, answer } = openByHand();
    const asked = Array.from({ length: 201 }, (_, index) => ask(String(index)));
    await turn();
    expect(sent[0]?.changes).toHaveLength(200);
    answer(0);
    await turn();
    expect(idsIn(1)).toEqual(['200']);
    answer(1);
    await Promise.all(asked);
  });

  test('leaves out a change that goes again alone, for which neither its neighbours nor the next batch wait', async () => {
    const { ask, idsIn, answer } = openByHand();
    const [a, held, c] = [ask('a'), ask('held'), ask('c')];
    await turn();
    answer(0, ['held']);
    expect(await Promise.all([a, c])).toEqual([written, written]);
    expect(idsIn(1)).toEqual(['held']);
    const [d, e] = [ask('d'), ask('e')];
    await turn();
    expect(idsIn(2)).toEqual(['d', 'e']);
    answer(2);
    expect(await Promise.all([d, e])).toEqual([written, written]);
    answer(1, ['held']);
    expect(await held).toEqual([]);
  });

  test('of one waits for no lock either: the change goes again alone, and the next batch does not wait for it', async () => {
    const { ask, sent, idsIn, answer } = openByHand();
    const held = ask('held');
    await turn();
    answer(0, ['held']);
    await turn();
    expect(sent[1]?.changes).toEqual([{ asker: 0, mayWait: true, note_id: 'held', version: 1, name: null }]);
    const free = ask('free');
    await turn();
    expect(idsIn(2)).toEqual(['free']);
    answer(2);
    expect(await free).toEqual(written);
    answer(1);
    expect(await held).toEqual(written);
  });

  test('leaves connections to others: eight changes go again alone at once', async () => {
    const { ask, sent, answer } = openByHand();
    const ids = Array.from({ length: 10 }, (_, index) => String(index));
    const asked = ids.map(ask);
    await turn();
    answer(0, ids);
    await turn();
    expect(sent).toHaveLength(9);
    answer(1);
    await turn();
    expect(sent).toHaveLength(10);
    for (let index = 2; index < 10; index++) answer(index);
    await turn();
    answer(10);
    expect(await Promise.all(asked)).toEqual(ids.map(() => written));
  });

  test('that takes too long is not sent again in parts, which would take as long one after the other', async () => {
    const { ask, sent } = openByHand();
    const asked = [ask('a'), ask('b')];
    await turn();
    sent[0]?.fail(refused('57014'));
    expect(await Promise.all(asked)).toMatchObject([{ code: '57014' }, { code: '57014' }]);
    expect(sent).toHaveLength(1);
  });

  test('that PostgreSQL refuses is halved until the change at fault is alone and gets the error', async () => {
    const { ask, sent, idsIn, answer } = openByHand();
    const ids = ['a', 'b', 'bad', 'd'];
    const [a, b, bad, d] = ids.map(ask);
    await turn();
    sent[0]?.fail(refused('23514'));
    await turn();
    expect(idsIn(1)).toEqual(['a', 'b']);
    answer(1);
    await turn();
    expect(idsIn(2)).toEqual(['bad', 'd']);
    sent[2]?.fail(refused('23514'));
    await turn();
    expect([idsIn(3), idsIn(4)]).toEqual([['bad'], ['d']]);
    answer(4);
    expect(await Promise.all([a, b, d])).toEqual([written, written, written]);
    sent[3]?.fail(refused('23514'));
    expect(await bad).toMatchObject({ code: '23514' });
  });

  test.each([
    ['the outcome is unknown', () => new CommitUnknown(new Error('Connection terminated'))],
    ['the database is away', () => new DatabaseUnavailable(new Error('ECONNREFUSED'))],
    ['the fault is not PostgreSQL’s', () => new Error('out of words')],
  ])('fails all its callers, and nothing is sent again, if %s', async (_, errorOf) => {
    const { ask, sent, answer } = openByHand();
    const asked = [ask('a'), ask('b')];
    await turn();
    const error = errorOf();
    sent[0]?.fail(error);
    expect(await Promise.all(asked)).toEqual([error, error]);
    await turn();
    expect(sent).toHaveLength(1);
    const next = ask('c');
    await turn();
    answer(1);
    expect(await next).toEqual(written);
  });
});

describe('on PostgreSQL', () => {
  let db: TestDatabase;
  const writeTaken = writeStatement({
    name: 'test_write_taken',
    leavesOut: 'taken',
    change: { note_id: 'text', more: 'json', at: 'timestamptz', minor: 'int8', bytes: 'bytea' },
    row: { more: 'text', at: 'timestamptz', minor: 'int8', bytes: 'bytea' },
    text: `select asker, more::text as more, at, minor, bytes from ${changesOf({
      note_id: 'text',
      more: 'json',
      at: 'timestamptz',
      minor: 'int8',
      bytes: 'bytea',
    })} where note_id <> ''`,
  });

  beforeAll(async () => {
    db = await createTestDatabase();
    await db.database.withClient((client) =>
      client.query(`
        create table note (note_id text primary key, version int not null check (version < 100), name text unique);
        create function write_notes(changes json) returns table (asker int, version int) language plpgsql as $$
        declare change record;
        begin
          for change in select * from json_to_recordset(changes) as one (asker int, note_id text, version int, name text)
            order by note_id loop
            if changes -> 0 -> 'mayWait' is null then
              perform from note where note.note_id = change.note_id for no key update skip locked;
              continue when not found;
            end if;
            continue when change.name is not null and exists (select from note where note.name = change.name);
            if change.name = 'ends the session' then perform pg_terminate_backend(pg_backend_pid()); end if;
            update note set version = change.version + 1, name = change.name
            where note.note_id = change.note_id and note.version = change.version
            returning note.version into version;
            continue when not found;
            asker := change.asker;
            return next;
          end loop;
        end $$`),
    );
  });
  afterAll(() => db.drop());
  afterEach(() => void vi.restoreAllMocks());

  const make = (ids: readonly string[], version = 1) =>
    db.database.withClient((client) =>
      client.query('insert into note select unnest($1::text[]), $2', [ids, version]),
    );
  const versions = async (like: string) =>
    (
      await db.database.withClient((client) =>
        client.query('select note_id, version from note where note_id like $1 order by note_id', [like]),
      )
    ).rows;
  const write = (note_id: string, version = 1, name: string | null = null) =>
    answerOf(db.database.run(writeNote, { note_id, version, name }));
  const named = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`);

  test('a change alone on a held row delays no other that comes after it', async () => {
    await make(['alone-held', 'alone-free']);
    let held: Promise<unknown> = Promise.resolve();
    await db.database.transaction(async (tx) => {
      await tx.run(stayOpen, {});
      await tx.run(lockNote, { note_id: 'alone-held' });
      held = write('alone-held');
      await expect.poll(() => db.database.run(countBlocked, {})).toEqual([{ count: 1 }]);
      expect(await write('alone-free')).toEqual([{ version: 2 }]);
    });
    expect(await held).toEqual([{ version: 2 }]);
  });

  test('half a character is replaced, as the driver does it in a value of its own', async () => {
    await make(['half']);
    expect(await write('half', 1, 'half \ud83d')).toEqual([{ version: 2 }]);
    const [{ name }] = (
      await db.database.withClient((client) => client.query(`select name from note where note_id = 'half'`))
    ).rows as [{ name: string }];
    expect(name).toBe('half \ufffd');
  });

  test('of 33 changes 30 are written, and the one that moved, the taken name and the broken constraint alone are not', async () => {
    const ids = named('three-', 33);
    await make(ids);
    await make(['taken'], 99);
    await db.database.withClient((client) =>
      client.query(`update note set version = 7 where note_id = 'three-003'; update note set name = 'taken' where note_id = 'taken';
                    update note set version = 99 where note_id = 'three-031'`),
    );
    const answers = await Promise.all(
      ids.map((id) => write(id, id === 'three-031' ? 99 : 1, id === 'three-020' ? 'taken' : null)),
    );
    for (const [index, answer] of answers.entries()) {
      if (index === 3 || index === 20) expect(answer).toEqual([]);
      else if (index === 31) expect(answer).toMatchObject({ code: '23514' });
      else expect(answer).toEqual([{ version: 2 }]);
    }
    expect((await versions('three-%')).filter(({ version }) => version === 2)).toHaveLength(30);
  });

  test('of 50 changes of one version one is written', async () => {
    await make(['raced']);
    const answers = await Promise.all(Array.from({ length: 50 }, () => write('raced')));
    expect(answers.filter((answer) => Array.isArray(answer) && answer.length === 1)).toHaveLength(1);
    expect(await versions('raced')).toEqual([{ note_id: 'raced', version: 2 }]);
  });

  test('a row that another transaction has locked delays its own change alone', async () => {
    await make(['free', 'held', 'other']);
    let held: Promise<unknown> = Promise.resolve();
    await db.database.transaction(async (tx) => {
      await tx.run(stayOpen, {});
      await tx.run(lockNote, { note_id: 'held' });
      held = write('held');
      expect(await Promise.all([write('free'), write('other')])).toEqual([
        [{ version: 2 }],
        [{ version: 2 }],
      ]);
    });
    expect(await held).toEqual([{ version: 2 }]);
  });

  test('a session that the server ends has written none of them, and nothing is sent again', async () => {
    await make(['x', 'y']);
    const names = recordStatements();
    const answers = await Promise.all([write('x'), write('y', 1, 'ends the session')]);
    for (const answer of answers) expect(answer).toBeInstanceOf(DatabaseUnavailable);
    expect(names.filter((name) => name === 'test_write_note')).toHaveLength(1);
    expect(await versions('x')).toEqual([{ note_id: 'x', version: 1 }]);
  });

  test('of a connection that is lost without a word all callers learn that the outcome is unknown', async () => {
    await make(['lost-1', 'lost-2', 'namesake']);
    const { host, port, ...login } = inject('cluster');
    const relay = await openRelay({ host, port });
    const database = new URL(db.url.replace('@/', '@host/')).pathname.slice(1);
    const connection = { ...login, host: relay.host, port: relay.port, database };
    const far = openDatabase({ connection, maxConnections: 3 });
    try {
      await far.run(writeNote, { note_id: 'nothing', version: 1, name: null });
      await db.database.transaction(async (tx) => {
        await tx.run(stayOpen, {});
        await tx.run(writeNote, { note_id: 'namesake', version: 1, name: 'same' });
        const names = recordStatements();
        const ask = (note_id: string, name: string | null) =>
          answerOf(far.run(writeNote, { note_id, version: 1, name }));
        const asked = [ask('lost-1', null), ask('lost-2', 'same')];
        await expect.poll(() => db.database.run(countBlocked, {})).toEqual([{ count: 1 }]);
        relay.cut();
        for (const answer of await Promise.all(asked)) expect(answer).toBeInstanceOf(CommitUnknown);
        expect(names.filter((name) => name === 'test_write_note')).toHaveLength(1);
      });
    } finally {
      await far.end();
      relay.close();
    }
  });

  test('values of every type arrive, alone and together', async () => {
    const at = '2026-01-19T10:00:00.000001Z' as never;
    const change = (note_id: string) => ({
      note_id,
      more: { a: ['"\\☃💳'] },
      at,
      minor: 999_999_999_999_999n,
      bytes: Buffer.from([0, 255]),
    });
    const { note_id: _, more, ...rest } = change('a');
    const expected = [{ ...rest, more: JSON.stringify(more) }];
    expect(await db.database.run(writeTaken, change('a'))).toEqual(expected);
    const both = ['a', 'b'].map((id) => db.database.run(writeTaken, change(id)));
    expect(await Promise.all(both)).toEqual([expected, expected]);
    expect(await db.database.transaction((tx) => tx.run(writeTaken, change('a')))).toMatchObject(expected);
  });
});
