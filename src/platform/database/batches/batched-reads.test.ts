import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Instant } from '../../../clock.ts';
import { recordStatements } from '../../../../test/support/database/sent-statements.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import { oneOf } from '../codec.ts';
import { DatabaseUnavailable } from '../connections/unavailable.ts';
import { stored, type Statement } from '../statement.ts';
import { openBatchedReads } from './batched-reads.ts';
import { readStatement } from './read-statement.ts';

const readSecret = readStatement({
  name: 'test_read_secret',
  parameters: { secret_id: 'text', party_id: 'text' },
  row: { party_id: 'text', word: stored('text', oneOf('open', 'shut')) },
  text: 'select party_id, word from secret where secret_id = :secret_id and party_id = :party_id',
});
const readOther = readStatement({
  name: 'test_read_other',
  parameters: { secret_id: 'text' },
  row: { word: 'text' },
  text: 'select word from secret where secret_id = :secret_id',
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
const answerOf = async (asked: Promise<unknown>) => asked.catch((error: unknown) => error);

/** Batched reads on a server of which the test says when it answers, and what. */
function openBy(hand: { connections?: number } = {}) {
  let free = hand.connections ?? Infinity;
  const waiting: ((error?: Error) => void)[] = [];
  const sent: {
    readonly name: string;
    readonly values: readonly unknown[];
    readonly answer: (rows: Record<string, unknown>[]) => void;
    readonly fail: (error: unknown) => void;
  }[] = [];
  const read = openBatchedReads({
    async withClient(work) {
      if (free === 0)
        await new Promise<void>((resolve, reject) => {
          waiting.push((error) => (error ? reject(error) : resolve()));
        });
      free -= 1;
      try {
        return await work({} as pg.ClientBase);
      } finally {
        free += 1;
        waiting.shift()?.();
      }
    },
    query: (_, { name }: Statement, values) =>
      new Promise((answer, fail) => void sent.push({ name, values, answer, fail })),
  });
  const ask = (id: string) => answerOf(read(readSecret, [id, 'P']));
  const askedIn = (index: number) =>
    (JSON.parse(String(sent[index]?.values[0])) as { secret_id: string }[]).map(({ secret_id }) => secret_id);
  return { read, ask, sent, askedIn, waiting };
}

describe('a batch', () => {
  test('of one caller is the statement itself, sent in the turn in which it is asked', async () => {
    const { ask, sent } = openBy();
    const asked = ask('1');
    await turn();
    expect(sent.map(({ name, values }) => [name, values])).toEqual([['test_read_secret', ['1', 'P']]]);
    sent[0]?.answer([{ party_id: 'P', word: 'open' }]);
    expect(await asked).toEqual([{ party_id: 'P', word: 'open' }]);
  });

  test('has who asks in one turn, and the next has who asks until it is answered, in their order', async () => {
    const { ask, sent, askedIn } = openBy();
    const asked = [ask('1'), ask('2')];
    await turn();
    asked.push(ask('3'));
    await turn();
    asked.push(ask('4'), ask('1'));
    await turn();
    expect(sent).toHaveLength(1);
    expect(askedIn(0)).toEqual(['1', '2']);
    sent[0]?.answer([]);
    await turn();
    expect(askedIn(1)).toEqual(['3', '4', '1']);
    sent[1]?.answer([]);
    expect(await Promise.all(asked)).toEqual([[], [], [], [], []]);
    void ask('5');
    await turn();
    expect(sent[2]?.name).toBe('test_read_secret');
  });

  test('of another statement does not wait', async () => {
    const { read, ask, sent } = openBy();
    void ask('1');
    await turn();
    void ask('2');
    void read(readOther, ['3']);
    await turn();
    expect(sent.map(({ name }) => name)).toEqual(['test_read_secret', 'test_read_other']);
  });

  test('gathers until a connection is free, and holds none until then', async () => {
    const { read, ask, sent, askedIn, waiting } = openBy({ connections: 1 });
    void read(readOther, ['1']);
    await turn();
    void ask('2');
    await turn();
    void ask('3');
    await turn();
    expect(sent).toHaveLength(1);
    expect(waiting).toHaveLength(1);
    sent[0]?.answer([]);
    await turn();
    expect(askedIn(1)).toEqual(['2', '3']);
  });

  test('has 200 callers at most, those who asked first', async () => {
    const { ask, sent, askedIn } = openBy();
    const ids = Array.from({ length: 201 }, (_, index) => String(index));
    const asked = ids.map(ask);
    await turn();
    expect(askedIn(0)).toEqual(ids.slice(0, 200));
    sent[0]?.answer([]);
    await turn();
    expect(sent[1]?.values).toEqual(['200', 'P']);
    sent[1]?.answer([]);
    await Promise.all(asked);
  });

  test('gives each caller their own rows, in whatever order they come', async () => {
    const { ask, sent } = openBy();
    const asked = ['1', '2', '3'].map(ask);
    await turn();
    sent[0]?.answer([
      { asker: 2, party_id: 'P', word: 'shut' },
      { asker: 0, party_id: 'P', word: 'open' },
    ]);
    expect(await Promise.all(asked)).toEqual([
      [{ party_id: 'P', word: 'open' }],
      [],
      [{ party_id: 'P', word: 'shut' }],
    ]);
  });

  test('that fails fails each caller with the same error, and the next is sent', async () => {
    const { ask, sent } = openBy();
    const asked = [ask('1'), ask('2')];
    await turn();
    const later = ask('3');
    const error = Object.assign(new Error('out of memory'), { code: '53200' });
    sent[0]?.fail(error);
    expect(await Promise.all(asked)).toEqual([error, error]);
    expect((await Promise.all(asked))[0]).toBe(error);
    await turn();
    sent[1]?.answer([]);
    expect(await later).toEqual([]);
  });

  test('that takes too long is sent once more in halves, and a half that does fails its own callers', async () => {
    const { ask, sent, askedIn } = openBy();
    const asked = ['1', '2', '3', '4', '5'].map(ask);
    await turn();
    const error = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
    sent[0]?.fail(error);
    await turn();
    expect([askedIn(1), askedIn(2), sent.length]).toEqual([['1', '2', '3'], ['4', '5'], 3]);
    sent[1]?.fail(error);
    sent[2]?.answer([{ asker: 0, party_id: 'P', word: 'open' }]);
    expect(await Promise.all(asked)).toEqual([error, error, error, [{ party_id: 'P', word: 'open' }], []]);
    expect(sent).toHaveLength(3);
  });

  test('that gets no connection fails those who asked before it tried, and no later ones', async () => {
    const { ask, sent, waiting } = openBy({ connections: 0 });
    const first = ask('1');
    await turn();
    const second = ask('2');
    const error = new DatabaseUnavailable(new Error('no connection'));
    waiting.shift()?.(error);
    expect(await first).toBe(error);
    await turn();
    waiting.shift()?.();
    await turn();
    sent[0]?.answer([]);
    expect(await second).toEqual([]);
  });

  test('with a row that cannot be read fails the caller whose row it is', async () => {
    const { ask, sent } = openBy();
    const asked = [ask('1'), ask('2')];
    await turn();
    sent[0]?.answer([
      { asker: 0, party_id: 'P', word: 'ajar' },
      { asker: 1, party_id: 'P', word: 'open' },
    ]);
    const [bad, good] = await Promise.all(asked);
    expect(String(bad)).toContain('test_read_secret read a row that cannot be used (party_id P)');
    expect(good).toEqual([{ party_id: 'P', word: 'open' }]);
  });
});

test('JSON cannot be asked with', () => {
  const asking = () =>
    readStatement({ name: 'test_json', parameters: { a: 'json' }, row: {}, text: 'select :a' });
  expect(asking).toThrow('Statement test_json asks with JSON in :a.');
});

describe('on PostgreSQL', () => {
  let db: TestDatabase;
  const parties = ['ours', 'theirs'];
  const keys = Array.from({ length: 30 }, (_, index) => String(index));

  const raise = readStatement({
    name: 'test_raise',
    parameters: { state: 'text' },
    row: {},
    text: `select from (select raise_state(:state)) as raised`,
  });
  const dieWith = readStatement({
    name: 'test_die',
    parameters: { what: 'text' },
    row: { dead: 'bool' },
    text: `select pg_terminate_backend(pg_backend_pid()) and :what <> '' as dead`,
  });

  beforeAll(async () => {
    db = await createTestDatabase();
    await db.database.withClient((client) =>
      client.query(`
        create table secret (secret_id text, party_id text, word text not null, primary key (secret_id, party_id));
        insert into secret
          select key, party, case party when 'ours' then 'open' else 'shut' end
          from generate_series(0, 29) as key, unnest(array['ours', 'theirs']) as party;
        create function raise_state(state text) returns void language plpgsql as
          $$ begin raise exception using errcode = state, message = 'as requested'; end $$`),
    );
  });
  afterAll(() => db.drop());
  afterEach(() => void vi.restoreAllMocks());

  test('the keys of two parties, asked together, give each their own', async () => {
    const names = recordStatements();
    const asked = keys.flatMap((secret_id) =>
      [...parties, 'another'].map(async (party_id) => ({
        party_id,
        rows: await db.database.run(readSecret, { secret_id, party_id }),
      })),
    );
    for (const { party_id, rows } of await Promise.all(asked))
      expect(rows).toEqual(
        party_id === 'another' ? [] : [{ party_id, word: party_id === 'ours' ? 'open' : 'shut' }],
      );
    expect(names.filter((name) => name.startsWith('test_'))).toEqual(['test_read_secret_together']);
  });

  test('in a transaction each read is asked alone, and sees what the transaction wrote', async () => {
    const names = recordStatements();
    const read = db.database.transaction(async (tx) => {
      await tx.run(raise, { state: '22000' }).catch(() => undefined);
    });
    await expect(read).rejects.toThrow(/a statement of the transaction had failed/);
    names.length = 0;
    await db.database.transaction((tx) =>
      Promise.all(parties.map((party_id) => tx.run(readSecret, { secret_id: '1', party_id }))),
    );
    expect(names).toEqual(['begin', 'test_read_secret', 'test_read_secret', 'commit']);
  });

  test('a value that PostgreSQL does not take fails its own caller', async () => {
    const asked = ['1', 'a\0b', '2'].map((secret_id) =>
      answerOf(db.database.run(readSecret, { secret_id, party_id: 'ours' })),
    );
    const [one, bad, other] = await Promise.all(asked);
    expect([one, other]).toEqual([
      [{ party_id: 'ours', word: 'open' }],
      [{ party_id: 'ours', word: 'open' }],
    ]);
    expect(bad).toMatchObject({ code: '22021' });
  });

  test('a forgotten parameter fails its caller before they join the others', async () => {
    const [bad, good] = await Promise.all([
      answerOf(db.database.run(readSecret, { secret_id: '1' } as never)),
      db.database.run(readSecret, { secret_id: '1', party_id: 'ours' }),
    ]);
    expect(String(bad)).toContain('Statement test_read_secret was run without :party_id');
    expect(good).toHaveLength(1);
  });

  test('a statement that takes too long is asked once more by each of two callers, and no more', async () => {
    const names = recordStatements();
    const asked = [1, 2].map(() => answerOf(db.database.run(raise, { state: '57014' })));
    const [one, other] = await Promise.all(asked);
    for (const error of [one, other]) expect(error).toMatchObject({ code: '57014' });
    const sent = names.filter((name) => name.startsWith('test_'));
    expect(sent).toEqual(['test_raise_together', 'test_raise', 'test_raise']);
  });

  test('a lost connection fails all who asked, and proves that nothing was done', async () => {
    const asked = ['a', 'b'].map((what) => answerOf(db.database.run(dieWith, { what })));
    const [one, other] = await Promise.all(asked);
    expect(one).toBeInstanceOf(DatabaseUnavailable);
    expect(other).toBe(one);
    expect(await db.database.run(readSecret, { secret_id: '1', party_id: 'ours' })).toHaveLength(1);
  });

  test('values of every type arrive as they do alone', async () => {
    const echo = readStatement({
      name: 'test_echo_together',
      parameters: { a: 'text?', b: 'bool', c: 'int4', d: 'int8', e: 'bytea', f: 'timestamptz' },
      row: { a: 'text?', b: 'bool', c: 'int4', d: 'int8', e: 'bytea', f: 'timestamptz' },
      text: 'select :a as a, :b as b, :c as c, :d as d, :e as e, :f as f',
    });
    const f = '2026-01-19T10:00:00.000001Z' as Instant;
    const given = [
      { a: 'a\nb "c" \\ ☃ 💳', b: true, c: -5, d: 999_999_999_999_999n, e: Buffer.from([0, 1, 255]), f },
      { a: null, b: false, c: 0, d: -1n, e: Buffer.alloc(0), f },
    ];
    const rows = await Promise.all(given.map((values) => db.database.run(echo, values)));
    expect(rows).toEqual(given.map((values) => [values]));
    expect(await db.database.transaction((tx) => tx.run(echo, given[0]!))).toEqual([given[0]]);
  });
});
