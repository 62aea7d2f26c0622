// A database is for one mode, because money of one mode must not be booked in the other.
import type { Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { readHasLivemode, readModes } from './store/api-keys.ts';

/** Only reads. An empty database, or one of an older version without modes, is for either. */
export async function requireSameMode(
  database: Pick<Database, 'run'>,
  livemode: boolean,
  clock: Clock,
): Promise<void> {
  const [installation] = await database.run(readHasLivemode, {});
  if (!installation?.has_livemode) return;
  const [row] = await database.run(readModes, { now: clock.now() });
  if (!livemode && row?.is_live) {
    throw new Error(
      'This database is in live mode: it has live API keys or shops. Set MANDATE_MODE=live to use it.',
    );
  }
  if (livemode && row?.party_id) {
    throw new Error(
      `This database has ${row.test_keys} active sandbox API keys. Use another database for live mode, or revoke the keys: ` +
        `"mandate keys list --party ${row.party_id}" shows them, "mandate keys revoke" revokes one.`,
    );
  }
}
