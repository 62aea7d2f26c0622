// Which programs use the database, by what they say to the server.
import type { Database } from '../database.ts';
import { unversioned } from './program-name.ts';
import { statement } from '../statement.ts';

const findOtherPrograms = statement({
  name: 'find_other_programs',
  parameters: {},
  row: { name: 'text' },
  text: `select application_name as name from pg_stat_activity
         where datname = current_database() and application_name ~ '^mandate( [0-9]|$)' and pid <> pg_backend_pid()`,
});

export async function hasOtherPrograms(db: Pick<Database, 'run'>): Promise<boolean> {
  return (await db.run(findOtherPrograms, {})).length > 0;
}

export async function hasOlderPrograms(db: Pick<Database, 'run'>): Promise<boolean> {
  return (await db.run(findOtherPrograms, {})).some(({ name }) => name === unversioned);
}
