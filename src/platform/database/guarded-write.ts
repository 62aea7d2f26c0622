// Writes what depends on a version together with what follows from it, in other tables.
import type { Database } from './database.ts';

/** Rolls back what was written before. */
class VersionConflict extends Error {}

/**
 * `write` runs a statement that is guarded by a version and returns its rows. Without rows another writer was faster, and `alsoWrite`,
 * which runs before it in the same transaction, has written nothing either.
 */
export async function guardedWrite<Row>(
  db: Database,
  write: (on: Database) => Promise<readonly Row[]>,
  alsoWrite?: (tx: Database) => Promise<void>,
): Promise<readonly Row[]> {
  if (!alsoWrite) return write(db);
  const both = async (tx: Database) => {
    await alsoWrite(tx);
    const rows = await write(tx);
    if (rows.length === 0) throw new VersionConflict();
    return rows;
  };
  return db.transaction(both).catch((error: unknown) => {
    if (error instanceof VersionConflict) return [];
    throw error;
  });
}
