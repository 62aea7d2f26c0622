// mandate migrate: create the tables and keys of the service, or bring them up to date, before nodes start.
import { withFoundation } from './foundation.ts';

export async function migrateDatabase(): Promise<void> {
  await withFoundation(async () => console.log('The database is up to date.'), { mayCreate: true });
}
