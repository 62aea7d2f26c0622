import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openRelay } from '../../../test/support/database/relay.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { whenTimeIsUp } from '../../../test/support/service/time-limit.ts';
import { waitMs } from '../../../tools/tests/waits.ts';
import { openDatabase, retryOnConflict } from './database.ts';
import { programName } from './connections/program-name.ts';
import { DatabaseUnavailable } from './connections/unavailable.ts';
import { minorUnits, object, oneOf, optional, text, variants } from './codec.ts';
import { isJoined, optional as optionalColumns, statement, stored, storedBeside } from './statement.ts';

let db: TestDatabase;

const addNote = statement({
  name: 'test_add_note',
  parameters: { text: 'text' },
  row: {},
  text: 'insert into note values (:text)',
});
const countPrepared = statement({
  name: 'test_count_prepared',
  parameters: {},
  row: { count: 'int8' },
  text: 'select count(*) as count from pg_prepared_statements',
});
const readNotes = statement({
  name: 'test_read_notes',
  parameters: {},
  row: { text: 'text' },
  text: 'select text from note order by text',
});
const failNow = statement({
  name: 'test_fail',
  parameters: { state: 'text' },
  row: {},
  text: 'select raise_state(:state)',
});

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.withClient((client) =>
    client.query(`create table note (text text);
      create function raise_state(state text) returns void language plpgsql as
      $$ begin raise exception using errcode = state, message = 'as requested'; end $$`),
  );
});
afterAll(() => db.drop());

const notes = async () => (await db.database.run(readNotes, {})).map(({ text }) => text);

test.each([true, false])('a forgotten parameter is an error, prepared: %s', async (prepares) => {
  const database = openDatabase({ connection: { url: db.url }, maxConnections: 3, prepares });
  try {
    const forgotten = database.run(addNote, { text: undefined as unknown as string });
    await expect(forgotten).rejects.toThrow('Statement test_add_note was run without :text');
    expect(await database.run(readNotes, {})).toEqual([]);
  } finally {
    await database.end();
  }
});

test.each([
  ['prepared once for a connection', true, 1],
  ['not prepared behind a pooler that would not keep it', false, 0],
])('a statement is %s', async (_, prepares, count) => {
  const database = openDatabase({ connection: { url: db.url }, maxConnections: 3, prepares });
  try {
    await database.transaction(async (tx) => {
      for (let times = 0; times < 2; times++) await tx.run(readNotes, {});
      expect(await tx.run(countPrepared, {})).toEqual([{ count: BigInt(count + (prepares ? 1 : 0)) }]);
    });
  } finally {
    await database.end();
  }
});

describe('a transaction', () => {
  test('writes all or nothing', async () => {
    await db.database.transaction((tx) => tx.run(addNote, { text: 'kept' }));
    await expect(
      db.database.transaction(async (tx) => {
        await tx.run(addNote, { text: 'lost' });
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await notes()).toEqual(['kept']);
  });

  test('inside another is rolled back with it', async () => {
    await expect(
      db.database.transaction(async (tx) => {
        await tx.transaction((inner) => inner.run(addNote, { text: 'inner' }));
        throw new Error('outer fails');
      }),
    ).rejects.toThrow('outer fails');
    expect(await notes()).toEqual(['kept']);
  });

  test('with a failed statement is not reported as committed, even if the failure is caught', async () => {
    const swallowed = db.database.transaction(async (tx) => {
      await tx.run(failNow, { state: '22000' }).catch(() => undefined);
    });
    await expect(swallowed).rejects.toThrow(/a statement of the transaction had failed/);
  });

  test('continues after a failure inside a savepoint', async () => {
    const read = await db.database.transaction(async (tx) => {
      await expect(tx.withSavepoint((part) => part.run(failNow, { state: '22000' }))).rejects.toMatchObject({
        code: '22000',
      });
      return tx.withSavepoint((part) => part.run(readNotes, {}));
    });
    expect(read).toEqual([{ text: 'kept' }]);
  });

  test('rolls back all of a savepoint, also what came before a failed inner one', async () => {
    await db.database.transaction(async (tx) => {
      const part = tx.withSavepoint(async (outer) => {
        await outer.run(addNote, { text: 'of the part' });
        await outer.withSavepoint((inner) => inner.run(failNow, { state: '22000' })).catch(() => undefined);
        throw new Error('the part fails');
      });
      await expect(part).rejects.toThrow('the part fails');
    });
    expect(await notes()).toEqual(['kept']);
  });

  test('is retried after a deadlock or a serialisation failure, and fails after five tries', async () => {
    for (const state of ['40001', '40P01']) {
      let tries = 0;
      await db.database.transaction(async (tx) => {
        tries += 1;
        if (tries < 3) await tx.run(failNow, { state });
      });
      expect(tries).toBe(3);
    }
    let tries = 0;
    const hopeless = db.database.transaction(async (tx) => {
      tries += 1;
      await tx.run(failNow, { state: '40001' });
    });
    await expect(hopeless).rejects.toMatchObject({ code: '40001' });
    expect(tries).toBe(5);
  });

  test('runs its effects once, after it has committed', async () => {
    let effects = 0;
    let tries = 0;
    await db.database.transaction(async (tx) => {
      tries += 1;
      tx.afterCommit(() => (effects += 1));
      if (tries < 3) await tx.run(failNow, { state: '40001' });
      expect(effects).toBe(0);
    });
    expect(effects).toBe(1);
    await db.database
      .transaction((tx) => {
        tx.afterCommit(() => (effects += 1));
        return Promise.reject(new Error('no'));
      })
      .catch(() => undefined);
    expect(effects).toBe(1);
  });

  test('releases its connection, whatever happens', async () => {
    const { idle, total } = db.database.connections();
    expect(idle).toBe(total);
  });
});

test('a connection that dies in a transaction is an error, and the program continues', async () => {
  await expect(
    db.database.transaction(async (tx) => {
      const [self] = await tx.run(ownProcess, {});
      await db.database.run(terminate, { pid: self!.pid });
      await tx.run(readNotes, {});
    }),
  ).rejects.toThrow();
  expect(await notes()).toEqual(['kept']);
});

test('a silent connection is dropped, and the next statement runs on a new one', async () => {
  const { host, port, ...login } = inject('cluster');
  const relay = await openRelay({ host, port });
  const through = openDatabase({
    connection: { ...login, host: relay.host, port: relay.port },
    maxConnections: 3,
    silenceTimeoutMs: waitMs,
  });
  await through.run(ownProcess, {});
  relay.silence();
  const unanswered = whenTimeIsUp(waitMs, relay.hasSwallowed, () => through.run(ownProcess, {}));
  await expect(unanswered).rejects.toThrow('Query read timeout');
  expect(await through.run(ownProcess, {})).toHaveLength(1);
  await through.end();
  relay.close();
});

test('a snapshot may wait for what is written meanwhile, and other transactions may not', async () => {
  const idle = statement({
    name: 'read_idle_limit',
    parameters: {},
    row: { most: 'text' },
    text: `select current_setting('idle_in_transaction_session_timeout') as most`,
  });
  const limitIn = (of?: 'snapshot') => db.database.transaction((tx) => tx.run(idle, {}), of);
  expect(await limitIn('snapshot')).toEqual([{ most: '45s' }]);
  expect(await limitIn()).toEqual([{ most: '5s' }]);
});

test('options in the URL apply, but the service’s own settings win', async () => {
  const asked = encodeURIComponent('-c search_path=other -c TimeZone=Asia/Tokyo -c statement_timeout=0');
  const optioned = openDatabase({
    connection: { url: `${db.url}&options=${asked}` },
    maxConnections: 3,
  });
  const settings = await optioned.withClient((client) =>
    client.query(
      `select current_setting('search_path') as path, current_setting('TimeZone') as zone, current_setting('statement_timeout') as most`,
    ),
  );
  expect(settings.rows).toEqual([{ path: 'other', zone: 'UTC', most: '10s' }]);
  await optioned.end();
});

test('a URL with options is otherwise unchanged', async () => {
  // Asks for the password as it is, and reads no more.
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      if (heard.push(data.toString('latin1')) === 1)
        socket.write(Buffer.from('R\0\0\0\x08\0\0\0\x03', 'latin1'));
      else socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = 'options=-c TimeZone=Asia/Tokyo&application_name=who?&options=-c search_path=other';
  const optioned = openDatabase({
    connection: { url: `postgresql://me:50%-50@127.0.0.1:${port}/db?${options}` },
    maxConnections: 3,
  });
  await expect(optioned.withClient(() => Promise.resolve())).rejects.toThrow(DatabaseUnavailable);
  expect(heard[0]).toMatch(
    /\0options\0-c search_path=other -c TimeZone=UTC -c statement_timeout=10000 -c idle/,
  );
  expect(heard[0]).toContain(`\0application_name\0${programName}\0`);
  expect(heard[1]).toContain('50%-50\0');
  await optioned.end();
  server.close();
});

test.each([
  ['application_name=billing'],
  ['application%5Fname=billing&application_name=other'],
  [`options=${encodeURIComponent('-c application_name=billing')}`],
])('the server knows the program by its own name, also with %s in the URL', async (named) => {
  const database = openDatabase({ connection: { url: `${db.url}&${named}` }, maxConnections: 3 });
  const { rows } = await database.withClient((client) =>
    client.query('select application_name as name from pg_stat_activity where pid = pg_backend_pid()'),
  );
  expect(rows).toEqual([{ name: programName }]);
  await database.end();
});

const sleepLong = statement({
  name: 'test_sleep_long',
  timeoutMs: 60_000,
  parameters: { seconds: 'int4' },
  row: { ended: 'bool' },
  text: 'select pg_sleep(:seconds / 2.0) is not null as ended',
});
const sleepAsUsual = statement({
  name: 'test_sleep_as_usual',
  parameters: { seconds: 'int4' },
  row: { ended: 'bool' },
  text: 'select pg_sleep(:seconds / 2.0) is not null as ended',
});

test('a statement with its own limit is waited for longer than usual', async () => {
  const impatient = openDatabase({
    connection: { url: db.url },
    maxConnections: 3,
    silenceTimeoutMs: 100,
  });
  await expect(impatient.run(sleepAsUsual, { seconds: 1 })).rejects.toThrow('Query read timeout');
  expect(await impatient.run(sleepLong, { seconds: 1 })).toEqual([{ ended: true }]);
  await impatient.end();
});

test('an unreachable server is a separate error, because nothing was sent', async () => {
  const nowhere = openDatabase({
    connection: { url: 'postgresql://unknown@127.0.0.1:1/none' },
    maxConnections: 1,
  });
  await expect(nowhere.run(readNotes, {})).rejects.toThrow(DatabaseUnavailable);
  await nowhere.end();
});

test('values are read as they were written', async () => {
  const [row] = await db.database.run(echo, {
    text: 'a\nb "c" \\ ☃ 💳',
    bool: true,
    int4: -5,
    int8: 999_999_999_999_999n,
    json: { a: [1, null, 'x'], b: { c: 'ü' } },
    bytea: Buffer.from([0, 1, 255]),
    none: null,
  });
  expect(row).toEqual({
    text: 'a\nb "c" \\ ☃ 💳',
    bool: true,
    int4: -5,
    int8: 999_999_999_999_999n,
    json: { a: [1, null, 'x'], b: { c: 'ü' } },
    bytea: Buffer.from([0, 1, 255]),
    none: null,
  });
});

test('a statement with an unknown or unused parameter is refused when it is declared', () => {
  expect(() => statement({ name: 'test_x', parameters: {}, row: {}, text: 'select :what' })).toThrow(
    /no parameter :what/,
  );
  expect(() => statement({ name: 'test_y', parameters: { a: 'text' }, row: {}, text: 'select 1' })).toThrow(
    /does not use :a/,
  );
  expect(() => statement({ name: 'test_add_note', parameters: {}, row: {}, text: 'select 1' })).toThrow(
    /Two statements/,
  );
});

const ownProcess = statement({
  name: 'test_own_process',
  parameters: {},
  row: { pid: 'int4' },
  text: 'select pg_backend_pid() as pid',
});
const terminate = statement({
  name: 'test_terminate',
  parameters: { pid: 'int4' },
  row: { done: 'bool' },
  text: 'select pg_terminate_backend(:pid) as done',
});
const echo = statement({
  name: 'test_echo',
  parameters: {
    text: 'text',
    bool: 'bool',
    int4: 'int4',
    int8: 'int8',
    json: 'json',
    bytea: 'bytea',
    none: 'text?',
  },
  row: {
    text: 'text',
    bool: 'bool',
    int4: 'int4',
    int8: 'int8',
    json: 'json',
    bytea: 'bytea',
    none: 'text?',
  },
  text: 'select :text as text, :bool as bool, :int4 as int4, :int8 as int8, :json as json, :bytea as bytea, :none as none',
});

type Shape = { readonly name: 'round'; readonly radius: bigint } | { readonly name: 'square' };
const shape = storedBeside<Shape>(
  'kind',
  'name',
  variants<Shape, 'name'>('name', { round: { radius: minorUnits }, square: {} }),
);
const side = object<{ readonly side: bigint; readonly note?: string }>({
  side: minorUnits,
  note: optional(text),
});
const columns = {
  shape_id: 'text',
  kind: stored('text', oneOf('round', 'square')),
  shape,
  side: stored('json?', side),
} as const;
const echoShape = statement({
  name: 'test_echo_shape',
  parameters: columns,
  row: optionalColumns(columns),
  text: 'select :shape_id as shape_id, :kind as kind, :shape as shape, :side as side',
});
const readShape = statement({
  name: 'test_read_shape',
  parameters: { shape: 'json', side: 'json?' },
  row: columns,
  text: `select 'S1' as shape_id, 'round' as kind, :shape as shape, :side as side`,
});

describe('a column with a codec', () => {
  test('is written and read in the program’s form', async () => {
    const row = {
      shape_id: 'S1',
      kind: 'round',
      shape: { name: 'round', radius: 3n },
      side: { side: 4n },
    } as const;
    expect(await db.database.run(echoShape, row)).toEqual([row]);
    expect(await db.database.run(echoShape, { ...row, side: null })).toEqual([{ ...row, side: null }]);
    expect(await db.database.run(readShape, { shape: { radius: 3 }, side: { side: 4 } })).toEqual([row]);
  });

  test('fails for another type with the statement, row and place, without the value', async () => {
    const read = (shape: unknown, side: unknown) => db.database.run(readShape, { shape, side });
    await expect(read({ radius: '42' }, null)).rejects.toThrow(
      /^Statement test_read_shape read a row that cannot be used \(shape_id S1\): shape\.radius should be exact whole number, and is string$/,
    );
    await expect(read({ radius: 1 }, [])).rejects.toThrow(': side should be object, and is list');
    expect(await db.database.run(readNotes, {})).toBeInstanceOf(Array);
  });
});

test('a change is retried while others come first, up to a limit', async () => {
  const answers = ['versionConflict', 'versionConflict', undefined, 'later'] as const;
  let tries = 0;
  expect(await retryOnConflict('a note', () => Promise.resolve(answers[tries++]))).toBeUndefined();
  expect(tries).toBe(3);
  const always = () => Promise.resolve('versionConflict' as const);
  await expect(retryOnConflict('note 1', always, 2)).rejects.toThrow(
    'note 1 was changed by other writers 2 times in a row',
  );
});

test('a left join has found a row when every required column is set', () => {
  const columns = { id: 'text', note: 'text?', amount: stored('int8', minorUnits) } as const;
  expect(isJoined(columns, { id: '1', note: null, amount: 1n })).toBe(true);
  expect(isJoined(columns, { id: '1', note: 'x', amount: null })).toBe(false);
  expect(isJoined(columns, { id: null, note: null, amount: null })).toBe(false);
});
