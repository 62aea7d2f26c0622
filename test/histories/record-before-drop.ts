// Whoever made a database for a test or for a world calls this before dropping it: when the variable names a folder, what is worth
// keeping of the histories in it is written there. tools/tests/record-histories.ts asks for that.
import type pg from 'pg';

export const folderVariable = 'RECORD_HISTORIES_INTO';

export async function recordBeforeDrop(
  connection: pg.ClientConfig & { readonly database: string },
): Promise<void> {
  const folder = process.env[folderVariable];
  if (folder === undefined) return;
  const { recordInto } = await import('./read-database.ts');
  await recordInto(folder, connection);
}
