// Called before a database of a test or a simulated world is dropped. When the variable names a folder, it writes the
// histories worth keeping there, for tools/tests/record-histories.ts.
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
