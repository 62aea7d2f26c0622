// One PostgreSQL for a whole test run: fast because it may lose everything, and gone when the run ends, however it ends.
// It is started by the same code as the program's private server.
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../../src/sandbox/postgres/server.ts';
import type { EmbeddedServer } from '../../../src/sandbox/postgres/server.ts';
import { watchFolder } from '../processes/watchdog.ts';

export type TestCluster = { readonly connection: EmbeddedServer['connection']; stop(): Promise<void> };

/** What makes a server forgetful and quick. */
export const throwAwaySettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  plan_cache_mode: 'force_generic_plan',
  // Its worker may be in a database at the very moment that is dropped, and only a superuser may end it.
  autovacuum: 'off',
  // By it the checks of simulations know what was there first.
  track_commit_timestamp: 'on',
};

const maxConnections = 200;

/** A folder for databases that vanishes with its content. Open to the user whom root hands the server to. */
export function temporaryFolder(): { folder: string; remove: () => Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'mandate-test-'));
  chmodSync(folder, 0o755);
  return { folder, remove: watchFolder(folder) };
}

export async function startTestCluster(): Promise<TestCluster> {
  const { folder, remove } = temporaryFolder();
  try {
    const { connection } = await startEmbedded({
      dataFolder: folder,
      log: () => {},
      settings: { ...throwAwaySettings, max_connections: String(maxConnections) },
      // Where the temporary folder is closed to the server's user, an error is better than data left elsewhere.
      machine: { openFolder: folder },
    });
    return { connection, stop: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
