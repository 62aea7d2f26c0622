// mandate migrate: bring the database up to date before nodes start.
import { withFoundation } from './foundation.ts';

export async function migrateDatabase(): Promise<void> {
  await withFoundation(async () => console.log('The database is up to date.'));
}
