// A migrated database in a private PostgreSQL that syncs to disk. Closing it removes everything.
import { openDatabase, type DatabasePool } from '../../src/platform/database/database.ts';
import { startEmbedded, type EmbeddedServer } from '../../src/sandbox/postgres/server.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { temporaryFolder } from '../../test/support/database/test-cluster.ts';

export type PrivateDatabase = {
  readonly db: DatabasePool;
  readonly connection: EmbeddedServer['connection'];
  /** For files of the measurement; removed with the database. */
  readonly folder: string;
  close(): Promise<void>;
};

export async function openPrivateDatabase(options: {
  readonly connections: number;
  /** Settings of PostgreSQL. */
  readonly settings?: Readonly<Record<string, string>>;
}): Promise<PrivateDatabase> {
  const { folder, remove } = temporaryFolder();
  const { connections, settings = {} } = options;
  const server = await startEmbedded({
    dataFolder: folder,
    log: () => {},
    machine: { openFolder: folder },
    settings,
  });
  const { connection } = server;
  const db = openDatabase({ connection, maxConnections: connections });
  await migrate(db);
  return {
    db,
    connection,
    folder,
    async close() {
      await db.end();
      await server.stop();
      await remove();
    },
  };
}
