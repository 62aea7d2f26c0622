// A merchant can register webhooks for the payouts of its own identity, or of one of that identity's wallets.
import type { Database } from '../platform/database/database.ts';
import type { Owner } from '../platform/events/domain/topic.ts';
import { findIdentity } from '../identities/store/identities.ts';
import { findWallet } from './store/wallets.ts';

export async function missingScope(
  db: Database,
  partyId: string,
  { id, part: walletId }: Owner,
): Promise<'noSuchIdentity' | 'noSuchWallet' | undefined> {
  if (!(await findIdentity(db, partyId, id))) return 'noSuchIdentity';
  if (walletId === undefined) return undefined;
  const wallet = await findWallet(db, partyId, walletId);
  return wallet?.identityId === id ? undefined : 'noSuchWallet';
}
