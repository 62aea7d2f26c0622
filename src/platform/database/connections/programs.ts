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

/** Before something is written that they cannot read, or would take for something else. */
export async function refuseOlderPrograms(db: Pick<Database, 'run'>): Promise<void> {
  const others = await db.run(findOtherPrograms, {});
  if (others.some(({ name }) => name === unversioned))
    throw new Error(
      'A program of version 0.2.0 uses this database and could not read what is to be written. ' +
        'Stop or upgrade every node of that version, and run this again.',
    );
}
