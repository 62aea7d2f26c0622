// A PostgreSQL of the simulation's own: nobody else is in it, or what others have open would show in snapshots. One world after
// the other is in it, each in a new database, copied from a migrated one.
import pg from 'pg';
import { openDatabase, type Connection } from '../../../src/platform/database/database.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { startEmbedded } from '../../../src/sandbox/postgres/server.ts';
import { recordBeforeDrop } from '../../../test/histories/record-before-drop.ts';
import { temporaryFolder, throwAwaySettings } from '../../../test/support/database/test-cluster.ts';

export type Place = Exclude<Connection, { readonly url: string }>;

export type Cluster = {
  newDatabase(): Promise<{ place: Place; drop(): Promise<void> }>;
  stop(): Promise<void>;
};

const template = 'simulation_template';

const settings = {
  ...throwAwaySettings,
  // Written out at once, though not to the disk: until a commit is, its marks on rows wait for a process that comes by the clock.
  synchronous_commit: 'on',
  max_connections: '100',
  // Who is the victim of a deadlock is decided by the simulation, not by who looks first.
  deadlock_timeout: '1h',
  // Plans follow from the rows alone.
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  max_parallel_workers_per_gather: '0',
  synchronize_seqscans: 'off',
  shared_buffers: '64MB',
  checkpoint_timeout: '1d',
  max_wal_size: '8GB',
};

const aheadOfTheClock = `update webhook_event_number_counter set last_base =
  extract(epoch from timestamptz '2050-01-01Z' - timestamptz '2025-01-01Z')::bigint * 8192`;

/** A server of its own. */
export async function startCluster(): Promise<Cluster & { readonly place: Place }> {
  const { folder, remove } = temporaryFolder();
  const { connection } = await startEmbedded({
    dataFolder: folder,
    log: () => {},
    settings,
    machine: { openFolder: folder },
  });
  const cluster = await enterCluster(connection);
  await makeTemplate(connection);
  return {
    ...cluster,
    place: connection,
    async stop() {
      await cluster.stop();
      await remove();
    },
  };
}

/** One that was started by somebody else, who stops it. No other process may have a world in it meanwhile. */
export async function enterCluster(place: Place): Promise<Cluster> {
  const administration = new pg.Client(place);
  await administration.connect();
  let made = 0;
  return {
    async newDatabase() {
      const name = `world_${process.pid}_${++made}`;
      await administration.query(`create database ${name} template ${template} strategy wal_log`);
      await lookFromHereOn({ ...place, database: name });
      return {
        place: { ...place, database: name },
        async drop() {
          await recordBeforeDrop({ ...place, database: name });
          await administration.query(`drop database ${name} with (force)`);
        },
      };
    },
    stop: () => administration.end(),
  };
}

/** Transactions are numbered by the server: how many there were in other worlds must not decide when the log is looked through. */
async function lookFromHereOn(place: Place): Promise<void> {
  const client = new pg.Client(place);
  await client.connect();
  await client.query('update webhook_feed set seen = pg_current_snapshot()');
  await client.end();
}

async function makeTemplate(place: Place): Promise<void> {
  const administration = new pg.Client(place);
  await administration.connect();
  await administration.query(`create database ${template}`);
  await administration.end();
  const database = openDatabase({ connection: { ...place, database: template }, maxConnections: 3 });
  await migrate(database);
  // Numbers of notices run with the server's clock, and never back: from there on they run by themselves.
  await database.withClient((client) => client.query(aheadOfTheClock));
  await database.end();
}
