// A database as an earlier version has it, to be migrated on.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { DatabasePool } from '../../../src/platform/database/database.ts';

const folder = new URL('../../../src/platform/database/migrations/', import.meta.url);

const namesOf = async () => (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
const textOf = (name: string) => readFile(new URL(name, folder), 'utf8');

export async function migrationText(ending: string): Promise<string> {
  return textOf((await namesOf()).find((name) => name.endsWith(ending)) ?? ending);
}

/** Only so many migrations. */
export async function migrateFirst(database: DatabasePool, count: number): Promise<void> {
  const names = await namesOf();
  await database.withClient(async (client) => {
    await client.query(
      'create table migration (number int primary key, name text, sha256 text, applied_at timestamptz default now())',
    );
    for (const [index, name] of names.slice(0, count).entries()) {
      const text = await textOf(name);
      await client.query(text);
      const sha256 = createHash('sha256').update(text).digest('hex');
      await client.query('insert into migration values ($1, $2, $3)', [index + 1, name, sha256]);
    }
  });
}
