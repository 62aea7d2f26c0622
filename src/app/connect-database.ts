// Which PostgreSQL: the one DATABASE_URL names, or a private one started from the data folder.
import type { Logger } from '../platform/log.ts';
import { openDatabase, type DatabasePool } from '../platform/database/database.ts';
import { startEmbedded, type EmbeddedServer } from '../sandbox/postgres/server.ts';
import { defined } from '../defined.ts';

export type OpenedDatabase = { readonly database: DatabasePool; close(): Promise<void> };

export async function connectDatabase(
  options: {
    databaseUrl: string | undefined;
    dataFolder: string;
    mayCreate: boolean;
    postgresBin: string | undefined;
    maxConnections: number;
    prepares: boolean;
  },
  log: Logger,
): Promise<OpenedDatabase> {
  const { databaseUrl, maxConnections, prepares } = options;
  const onConnectionError = (error: Error) => log.warn({ err: error }, 'a database connection was lost');

  if (databaseUrl !== undefined) {
    const connection = { url: databaseUrl };
    const database = openDatabase({ connection, maxConnections, prepares, onConnectionError });
    return { database, close: () => database.end() };
  }

  const start = () =>
    startEmbedded({
      dataFolder: options.dataFolder,
      mayCreate: options.mayCreate,
      ...defined({ binFolder: options.postgresBin }),
      log: (message, fields) => log.info({ ...fields }, message),
    });
  let server: EmbeddedServer = await start();
  let reviving: Promise<void> | undefined;
  // Somebody killed our private server: whoever notices first starts it again, the others wait for that.
  const revive = () =>
    (reviving ??= start()
      .then((started) => void (server = started))
      .finally(() => (reviving = undefined)));

  const database = openDatabase({
    connection: server.connection,
    maxConnections,
    revive,
    onConnectionError,
  });
  return {
    database,
    async close() {
      await database.end();
      await server.stop();
    },
  };
}
