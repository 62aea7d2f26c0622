// Which PostgreSQL: the one DATABASE_URL names, or a private one started from the data folder.
import type { Config } from './config.ts';
import type { Logger } from '../platform/log.ts';
import { openDatabase, type DatabasePool } from '../platform/database/database.ts';
import { startEmbedded, type EmbeddedServer } from '../sandbox/postgres/server.ts';
import { defined } from '../defined.ts';

export type OpenedDatabase = { readonly database: DatabasePool; close(): Promise<void> };

/** The private PostgreSQL is made where there is none, or must be there. */
export type DatabaseWish = { readonly mayCreate: boolean };

export async function connectDatabase(
  config: Config,
  log: Logger,
  { mayCreate }: DatabaseWish,
): Promise<OpenedDatabase> {
  const { databaseUrl, databaseConnections: maxConnections, preparedStatements: prepares } = config;
  const onConnectionError = (error: Error) => log.warn({ err: error }, 'a database connection was lost');

  if (databaseUrl !== undefined) {
    const connection = { url: databaseUrl };
    const database = openDatabase({ connection, maxConnections, prepares, onConnectionError });
    return { database, close: () => database.end() };
  }

  const start = () =>
    startEmbedded({
      dataFolder: config.dataFolder,
      mayCreate,
      ...defined({ binFolder: config.postgresBin }),
      log: (message, fields) => log.info({ ...fields }, message),
    });
  let server: EmbeddedServer = await start();
  let reviving: Promise<void> | undefined;
  // Somebody killed our private server: whoever notices first starts it again, the others wait for that.
  const revive = () =>
    (reviving ??= start()
      .then((started) => void (server = started))
      .finally(() => (reviving = undefined)));

  const { connection } = server;
  const database = openDatabase({ connection, maxConnections, revive, onConnectionError });
  return {
    database,
    async close() {
      await database.end();
      await server.stop();
    },
  };
}
