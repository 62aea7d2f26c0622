// The simulation's PostgreSQL server, which no other program uses: open transactions of others would show in snapshots.
// Worlds use it one after the other, each with a new database copied from a migrated one.
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
  // Commits are written immediately, though not to the disk. Otherwise hint bits on rows wait for a process that runs by the clock.
  synchronous_commit: 'on',
  max_connections: '100',
  // The simulation decides which transaction a deadlock ends, not the server process that detects it first.
  deadlock_timeout: '1h',
  // Plans depend on the rows alone.
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

/** Starts a server. */
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

/** Uses a server that another process started and stops. No other process may run a world in it meanwhile. */
export async function enterCluster(place: Place): Promise<Cluster> {
  const administration = new pg.Client(place);
  await administration.connect();
  let made = 0;
  return {
    async newDatabase() {
      const name = `world_${process.pid}_${++made}`;
      await administration.query(`create database ${name} template ${template} strategy wal_log`);
      await readLogFromNow({ ...place, database: name });
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

/** The server numbers transactions over all worlds, and those of earlier worlds must not decide when the log is read. */
async function readLogFromNow(place: Place): Promise<void> {
  const client = new pg.Client(place);
  await client.connect();
  for (const position of ['webhook_feed', 'search_position', 'search_list_position'])
    await client.query(`update ${position} set seen = pg_current_snapshot()`);
  await client.end();
}

async function makeTemplate(place: Place): Promise<void> {
  const administration = new pg.Client(place);
  await administration.connect();
  await administration.query(`create database ${template}`);
  await administration.end();
  const database = openDatabase({ connection: { ...place, database: template }, maxConnections: 3 });
  await migrate(database);
  // Event numbers follow the server's clock and never go back, so a base in the future makes them independent of it.
  await database.withClient((client) => client.query(aheadOfTheClock));
  await database.end();
}
