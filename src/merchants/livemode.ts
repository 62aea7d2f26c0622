// Money of one mode must not be booked in the other: which mode a database is for.
import type { Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { readHasLivemode, readModes } from './store/api-keys.ts';

/** Only looks, also at a database of an older version or at an empty one, which is for either. */
export async function requireSameMode(
  database: Pick<Database, 'run'>,
  livemode: boolean,
  clock: Clock,
): Promise<void> {
  const [house] = await database.run(readHasLivemode, {});
  if (!house?.has_livemode) return;
  const [row] = await database.run(readModes, { now: clock.now() });
  if (!livemode && row?.is_live) {
    throw new Error(
      'this database is a live one, with live API keys or shops: set MANDATE_MODE=live to work with it',
    );
  }
  if (livemode && row?.party_id) {
    throw new Error(
      `this database has ${row.test_keys} sandbox API keys that still work; live mode wants a database of its own, ` +
        `or the keys revoked (mandate keys list --party ${row.party_id}, mandate keys revoke)`,
    );
  }
}
