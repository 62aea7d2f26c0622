// mandate migrate: the database brought up to date, for those who do it apart from starting nodes.
import { withFoundation } from './foundation.ts';

export async function migrateDatabase(): Promise<void> {
  await withFoundation(async () => console.log('The database is up to date.'));
}
