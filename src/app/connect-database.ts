// Opens the PostgreSQL that DATABASE_URL names, or a private one in the data folder.
import type { Config } from './config.ts';
import type { Logger } from '../platform/log.ts';
import type { SetUp } from '../not-set-up.ts';
import { openDatabase, type DatabasePool } from '../platform/database/database.ts';
import { startEmbedded, type EmbeddedServer } from '../sandbox/postgres/server.ts';
import { defined } from '../defined.ts';

export type OpenedDatabase = { readonly database: DatabasePool; close(): Promise<void> };

export async function connectDatabase(
  config: Config,
  log: Logger,
  { mayCreate }: SetUp,
): Promise<OpenedDatabase> {
  const { databaseUrl, databaseConnections: maxConnections, preparedStatements: prepares } = config;
  const onConnectionError = (error: Error) =>
    log.debug({ because: error.message }, 'database connection lost');

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
  let restarting: Promise<void> | undefined;
  let isClosing = false;
  // The private server was killed. The first caller to find that out restarts it, and the others wait for that.
  const restartServer = () => {
    if (isClosing) return Promise.reject(new Error('the private PostgreSQL is no longer used'));
    return (restarting ??= start()
      .then((started) => void (server = started))
      .finally(() => (restarting = undefined)));
  };

  const { connection } = server;
  const database = openDatabase({ connection, maxConnections, restartServer, onConnectionError });
  return {
    database,
    async close() {
      isClosing = true;
      await database.end();
      // The server would outlive its last user. If its start fails, its callers get the error.
      await restarting?.catch(() => undefined);
      await server.stop();
    },
  };
}
