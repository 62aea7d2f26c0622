// The merchant's own keys of subscriptions that have not ended, in SQL: a second subscription with the same key is not created.
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import type { SubscriptionTerms } from '../domain/subscription.ts';

const keyColumns = { party_id: 'text', owner_id: 'text', unique_key: 'text' } as const;
const where = 'party_id = :party_id and owner_id = :owner_id and unique_key = :unique_key';

/** Waits for another transaction that claims the same key. */
const claimKey = statement({
  name: 'claim_subscription_key',
  parameters: { ...keyColumns, subscription_id: 'text' },
  row: { subscription_id: 'text' },
  text: `insert into subscription_key (party_id, owner_id, unique_key, subscription_id)
         values (:party_id, :owner_id, :unique_key, :subscription_id) on conflict do nothing returning subscription_id`,
});

const readKey = statement({
  name: 'read_subscription_key',
  parameters: keyColumns,
  row: { subscription_id: 'text' },
  text: `select subscription_id from subscription_key where ${where}`,
});

const releaseKey = statement({
  name: 'release_subscription_key',
  parameters: { ...keyColumns, subscription_id: 'text' },
  row: {},
  text: `delete from subscription_key where ${where} and subscription_id = :subscription_id`,
});

/** `versionConflict`: it has been released meanwhile. */
export async function claimUniqueKey(
  tx: Database,
  terms: SubscriptionTerms,
): Promise<'claimed' | 'versionConflict' | { readonly takenBy: string }> {
  const key = keyOf(terms);
  if (!key || (await tx.run(claimKey, { ...key, subscription_id: terms.id })).length > 0) return 'claimed';
  const [taken] = await tx.run(readKey, key);
  return taken ? { takenBy: taken.subscription_id } : 'versionConflict';
}

export async function releaseUniqueKey(tx: Database, terms: SubscriptionTerms): Promise<void> {
  const key = keyOf(terms);
  if (key) await tx.run(releaseKey, { ...key, subscription_id: terms.id });
}

function keyOf({ partyId, customerId, shopId, uniqueKey }: SubscriptionTerms) {
  return uniqueKey === undefined
    ? undefined
    : { party_id: partyId, owner_id: customerId ?? shopId, unique_key: uniqueKey };
}
