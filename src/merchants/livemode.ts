// Money of one mode must not be booked in the other: which realm a mode works in, and which one a database is for.
import type { Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { readHasRealms, readRealms } from './store/api-keys.ts';
import type { Realm } from './domain/party.ts';

export function livemodeOf(mode: 'sandbox' | 'live'): Realm {
  return mode === 'live' ? 'live' : 'test';
}

/** Only looks, also at a database of an older version or at an empty one, which is for either. */
export async function requireSameMode(
  database: Pick<Database, 'run'>,
  realm: Realm,
  clock: Clock,
): Promise<void> {
  const [house] = await database.run(readHasRealms, {});
  if (!house?.has_realms) return;
  const [row] = await database.run(readRealms, { now: clock.now() });
  if (realm === 'test' && row?.is_live) {
    throw new Error(
      'this database is a live one, with live API keys or shops: set MANDATE_MODE=live to work with it',
    );
  }
  if (realm === 'live' && row?.party_id) {
    throw new Error(
      `this database has ${row.test_keys} sandbox API keys that still work; live mode wants a database of its own, ` +
        `or the keys revoked (mandate keys list --party ${row.party_id}, mandate keys revoke)`,
    );
  }
}
