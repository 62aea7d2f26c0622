// One PostgreSQL for a whole test run: fast because it may lose everything, and removed however the run ends. The code of the
// program's private server starts it.
import { chmodSync } from 'node:fs';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { startEmbedded } from '../../../src/sandbox/postgres/server.ts';
import type { EmbeddedServer } from '../../../src/sandbox/postgres/server.ts';
import { makeTemporaryFolder } from '../../../tools/temporary-folders.ts';
import { watchFolder } from '../processes/watchdog.ts';

export type TestCluster = { readonly connection: EmbeddedServer['connection']; stop(): Promise<void> };

/** Settings that make a server fast and not durable. */
export const throwAwaySettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  plan_cache_mode: 'force_generic_plan',
  // Its worker may be in a database while that is dropped, and only a superuser may end it.
  autovacuum: 'off',
  // The simulations' checks use it to find which row came first.
  track_commit_timestamp: 'on',
};

/** Hashing the password of a role as often as usual takes half of the time in which a connection is opened. */
const manyConnections = { max_connections: '200', scram_iterations: '1' };

/** The database that every test file copies. */
export const templateName = 'mandate_template';

/** A folder for databases that is removed with its content. The user that runs the server for root can enter it. */
export function temporaryFolder(): { folder: string; remove: () => Promise<void> } {
  const folder = makeTemporaryFolder('test');
  chmodSync(folder, 0o755);
  return { folder, remove: watchFolder(folder) };
}

export async function startTestCluster(settings: Record<string, string> = {}): Promise<TestCluster> {
  const { folder, remove } = temporaryFolder();
  try {
    const { connection } = await startEmbedded({
      dataFolder: folder,
      log: () => {},
      settings: { ...throwAwaySettings, ...manyConnections, ...settings },
      // If the server's user cannot enter the folder, an error is better than data left elsewhere.
      machine: { openFolder: folder },
    });
    return { connection, stop: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** With the rights that docs/operations/database.md gives the service. */
export const serviceRole = 'mandate_service';

/** A role that may log in, with the password of the tables' owner. That owner may end its connections, to drop a database. */
export async function createRole(connection: TestCluster['connection'], name: string): Promise<void> {
  const administrator = { ...connection, user: 'postgres', database: 'postgres' };
  const administration = openDatabase({ connection: administrator, maxConnections: 1 });
  await administration.withClient((client) =>
    client.query(
      `create role ${client.escapeIdentifier(name)} login password ${client.escapeLiteral(connection.password)};
       grant ${client.escapeIdentifier(name)} to ${client.escapeIdentifier(connection.user)}`,
    ),
  );
  await administration.end();
}
