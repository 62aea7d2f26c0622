// Asks the banks what they can do, so that requests need not wait to know it. Each node asks for itself.
import type { Database } from '../platform/database/database.ts';
import type { Banks } from './banks.ts';
import { listBanks } from './store/banks.ts';

/** Asks again only what is stale, and waits for what was never heard. A bank whose secret cannot be read fails where it is used. */
export async function learnAbilities(
  db: Pick<Database, 'run'>,
  banks: Pick<Banks, 'bankNamed'>,
): Promise<void> {
  const rows = await db.run(listBanks, {});
  await Promise.allSettled(rows.map(async ({ bank_id }) => (await banks.bankNamed(bank_id))?.abilities()));
}
