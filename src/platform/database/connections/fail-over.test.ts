// Against two servers of its own: a primary whose commits wait for a standby that is not there, and the server that replaces it.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openRelay, type Relay } from '../../../../test/support/database/relay.ts';
import { startTestCluster, type TestCluster } from '../../../../test/support/database/test-cluster.ts';
import { whenTimeIsUp } from '../../../../test/support/service/time-limit.ts';
import { waitMs } from '../../../../tools/tests/waits.ts';
import { openDatabase, type DatabasePool } from '../database.ts';
import { statement } from '../statement.ts';
import { DatabaseUnavailable, CommitUnknown } from './unavailable.ts';

const addEntry = statement({
  name: 'test_add_entry',
  parameters: { entry: 'text' },
  row: {},
  text: 'insert into fail_over_entry values (:entry)',
});
const whereAmI = statement({
  name: 'test_where_am_i',
  parameters: {},
  row: { name: 'text', pid: 'int4' },
  text: 'select name, pg_backend_pid() as pid from fail_over_server',
});

const bound = { interval: 20 };
const most = 6;
/** All but the two for lookups. */
const mostWrites = 4;

const clusters: TestCluster[] = [];
const operators: pg.Client[] = [];
/** Its commits wait, unlike those of the operators. */
let probe: pg.Client;
let relay: Relay;
let database: DatabasePool;

beforeAll(async () => {
  for (const name of ['primary', 'other']) {
    const cluster = await startTestCluster({ synchronous_commit: 'on' });
    clusters.push(cluster);
    const { connection } = cluster;
    // The bootstrap user has the password of the service's user.
    const asOperator = { ...connection, user: 'postgres', options: '-c synchronous_commit=local' };
    const operator = new pg.Client(asOperator);
    operators.push(operator);
    await operator.connect();
    await operator.query(`
      create table fail_over_server as select '${name}' as name;
      create table fail_over_entry (entry text);
      create table fail_over_probe ();
      grant all on fail_over_server, fail_over_entry to ${connection.user};
      alter role ${connection.user} password '${clusters[0]!.connection.password}'`);
  }
  probe = new pg.Client({ ...clusters[0]!.connection, user: 'postgres' });
  await probe.connect();
});
afterAll(async () => {
  for (const client of [...operators, probe]) await client.end();
  for (const cluster of clusters) await cluster.stop();
});

async function open(maxConnections = most): Promise<void> {
  const [{ connection }] = clusters as [TestCluster];
  relay = await openRelay(connection);
  const { host, port } = relay;
  const limits = { silenceTimeoutMs: waitMs, longCommitMs: 0 };
  database = openDatabase({ connection: { ...connection, host, port }, maxConnections, ...limits });
}
afterEach(async () => {
  await waitForStandby('');
  await database.end();
  relay.close();
  await operators[0]!.query('truncate fail_over_entry');
});

const asks = async (client: pg.Client, text: string, values?: unknown[]) =>
  (await client.query<Record<string, unknown>>(text, values)).rows;
const onPrimary = (text: string, values?: unknown[]) => asks(operators[0]!, text, values);
const onOther = (text: string) => asks(operators[1]!, text);

async function waitForStandby(name: string): Promise<void> {
  await onPrimary(`alter system set synchronous_standby_names = '${name}'`);
  await onPrimary('select pg_reload_conf()');
  // Another process tells the sessions; a new one reads it when it starts.
  await expect
    .poll(() => onPrimary('show synchronous_standby_names'), bound)
    .toEqual([{ synchronous_standby_names: name }]);
  // The checkpointer tells the commits, and no setting shows when it has.
  await expect.poll(aCommitWaits, bound).toBe(name !== '');
}

async function aCommitWaits(): Promise<boolean> {
  const [{ pid } = {}] = await asks(probe, 'select pg_backend_pid() as pid');
  let waited = false;
  let isDone = false;
  const commit = asks(probe, 'insert into fail_over_probe default values').then(() => (isDone = true));
  const cancelWait = `select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'`;
  while (!isDone) waited = (await onPrimary(cancelWait, [pid])).length > 0 || waited;
  await commit;
  return waited;
}

const commitsThatWait = async () =>
  (
    await onPrimary(
      `select from pg_stat_activity where application_name like 'mandate %' and wait_event = 'SyncRep'`,
    )
  ).length;
/** The callers give up as soon as so many of their commits wait for the standby. */
const givenUp = <T>(work: () => Promise<T>, commits = 1) =>
  whenTimeIsUp(waitMs, async () => (await commitsThatWait()) === commits, work);

const processes = async () =>
  Number(
    (
      await onPrimary(
        `select count(*) as count from pg_stat_activity where application_name like 'mandate %'`,
      )
    )[0]?.['count'],
  );
const entries = async () => (await onPrimary('select entry from fail_over_entry')).map(({ entry }) => entry);
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const serverOf = async (db: Pick<DatabasePool, 'run'>) => (await db.run(whereAmI, {}))[0]?.name;
const end = (pid: number | undefined) => onPrimary('select pg_terminate_backend($1)', [pid]);

describe('while commits wait for a standby', () => {
  test('a node causes no more server processes than it has connections, and continues when the wait ends', async () => {
    await open();
    await database.run(addEntry, { entry: 'before' });
    await waitForStandby('ghost');
    const write = async (index: number) => {
      const entry = `${index}`;
      const written =
        index % 2 === 0
          ? database.run(addEntry, { entry })
          : database.transaction((tx) => tx.run(addEntry, { entry }));
      return { entry, error: await errorOf(written) };
    };
    const many = Array.from({ length: 5 * mostWrites }, (_, index) => index);
    const writes = await givenUp(() => Promise.all(many.map(write)), mostWrites);
    expect(await processes()).toBeLessThanOrEqual(most + 1);
    // The first ones wait in the server. The others never got a connection.
    const unknown = writes.filter(({ error }) => error instanceof CommitUnknown);
    const refused = writes.filter(({ error }) => error instanceof DatabaseUnavailable);
    expect([unknown.length, refused.length]).toEqual([mostWrites, 4 * mostWrites]);
    expect(await database.serverState()).toEqual({ isReadOnly: false, commitsWait: true });
    expect(await serverOf(database.lookups)).toBe('primary');
    expect(database.connections().total).toBeLessThanOrEqual(most);

    await waitForStandby('');
    await expect.poll(() => errorOf(database.run(addEntry, { entry: 'after' })), bound).toBeUndefined();
    expect(await database.serverState()).toEqual({ isReadOnly: false, commitsWait: false });
    expect(await processes()).toBeLessThanOrEqual(most + 1);
    const expected = ['before', 'after', ...unknown.map(({ entry }) => entry)];
    expect((await entries()).sort()).toEqual(expected.sort());
  });

  test('the end of the program does not wait for them', async () => {
    await open();
    await waitForStandby('ghost');
    const one = () => errorOf(database.run(addEntry, { entry: 'one' }));
    expect(await givenUp(one)).toBeInstanceOf(CommitUnknown);
    await database.end();
    relay.close();
    await open();
  });

  test('a commit whose connection is cut has an unknown outcome, and a statement before it did nothing', async () => {
    await open();
    await waitForStandby('ghost');
    const commit = errorOf(database.transaction((tx) => tx.run(addEntry, { entry: 'committed here' })));
    await expect.poll(commitsThatWait, bound).toBe(1);
    relay.cut();
    expect(await commit).toBeInstanceOf(CommitUnknown);
    const cutBefore = database.transaction(async (tx) => {
      await tx.run(addEntry, { entry: 'never' });
      relay.cut();
      await tx.run(addEntry, { entry: 'never' });
    });
    expect(await errorOf(cutBefore)).toBeInstanceOf(DatabaseUnavailable);
    await waitForStandby('');
    await expect.poll(entries, bound).toEqual(['committed here']);
  });
});

describe('the two pools of a node', () => {
  const both = async () => [await serverOf(database), await serverOf(database.lookups)];

  test('both leave a server on which a commit waits in vain, once another has its address', async () => {
    await open(3);
    expect(await both()).toEqual(['primary', 'primary']);
    await waitForStandby('ghost');
    relay.moveTo(clusters[1]!.connection);
    // Silent: the open connections still lead to the old server.
    expect(await both()).toEqual(['primary', 'primary']);
    const inDoubt = () => errorOf(database.run(addEntry, { entry: 'in doubt' }));
    expect(await givenUp(inDoubt)).toBeInstanceOf(CommitUnknown);
    expect(await serverOf(database.lookups)).toBe('other');
    expect(await serverOf(database)).toBe('other');
    await database.run(addEntry, { entry: 'there' });
    expect(await onOther('select entry from fail_over_entry')).toEqual([{ entry: 'there' }]);
  });

  test.each([
    ['lookups', () => database.lookups, () => database],
    ['statements', () => database, () => database.lookups],
  ])('both leave a server that ends a connection for %s', async (_, ended, other) => {
    await open();
    expect(await both()).toEqual(['primary', 'primary']);
    relay.moveTo(clusters[1]!.connection);
    const [{ pid } = {}] = await ended().run(whereAmI, {});
    await end(pid);
    await expect.poll(() => serverOf(other()), bound).toBe('other');
    expect(await serverOf(ended())).toBe('other');
  });

  test('both leave a server as soon as one new connection reaches another', async () => {
    await open();
    expect(await both()).toEqual(['primary', 'primary']);
    relay.moveTo(clusters[1]!.connection);
    expect(await both()).toEqual(['primary', 'primary']);
    // As the readiness check does.
    await database.serverState();
    expect(await both()).toEqual(['other', 'other']);
  });

  test('both leave a server that no longer accepts writes', async () => {
    await open();
    expect(await both()).toEqual(['primary', 'primary']);
    relay.moveTo(clusters[1]!.connection);
    const demoted = database.transaction(async (tx) => {
      await tx.run(becomeReadOnly, {});
      await tx.run(addEntry, { entry: 'never' });
    });
    expect(await errorOf(demoted)).toMatchObject({ message: expect.stringContaining('accepts no writes') });
    expect(await both()).toEqual(['other', 'other']);
  });
});

const becomeReadOnly = statement({
  name: 'test_become_read_only',
  parameters: {},
  row: {},
  text: 'set transaction read only',
});

test('a statement whose session is ended by an operator did nothing', async () => {
  await open();
  for (const run of [
    (work: (db: Pick<DatabasePool, 'run'>) => Promise<unknown>) => work(database),
    (work: (db: Pick<DatabasePool, 'run'>) => Promise<unknown>) => database.transaction(work),
  ]) {
    const ended = errorOf(run((db) => db.run(addSlowly, { entry: 'never' })));
    await expect.poll(() => onPrimary(slowProcesses), bound).toHaveLength(1);
    const [{ pid } = {}] = await onPrimary(slowProcesses);
    await end(pid as number);
    expect(await ended).toBeInstanceOf(DatabaseUnavailable);
  }
  expect(await entries()).toEqual([]);
});

const slowProcesses = `select pid from pg_stat_activity where application_name like 'mandate %' and wait_event = 'PgSleep'`;
const addSlowly = statement({
  name: 'test_add_slowly',
  parameters: { entry: 'text' },
  row: {},
  text: 'insert into fail_over_entry select :entry from pg_sleep(60)',
  timeoutMs: 60_000,
});
