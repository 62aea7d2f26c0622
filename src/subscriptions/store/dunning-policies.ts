// Dunning policies of shops in SQL. A version is a row that is written once.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement, stored, type Values } from '../../platform/database/statement.ts';
import { isInTrial } from '../domain/dunning/policies.ts';
import type { DunningPolicy } from '../domain/dunning/dunning.ts';
import { dunningPolicy } from './codec.ts';

export type Shop = { readonly partyId: string; readonly shopId: string };
export type SavedPolicy = { readonly policy: DunningPolicy; readonly createdAt: Instant };

const row = { policy: stored('json', dunningPolicy), created_at: 'timestamptz' } as const;
const key = { party_id: 'text', shop_id: 'text', name: 'text' } as const;

const readPolicy = statement({
  name: 'read_dunning_policy',
  parameters: { ...key, version: 'int4?' },
  row,
  text: `select policy, created_at from dunning_policy
         where party_id = :party_id and shop_id = :shop_id and name = :name
           and version = coalesce(:version, version)
         order by version desc limit 1`,
});

/** The newest version of each. */
const listPolicies = statement({
  name: 'list_dunning_policies',
  parameters: { party_id: 'text', shop_id: 'text' },
  row,
  text: `select distinct on (name) policy, created_at from dunning_policy
         where party_id = :party_id and shop_id = :shop_id order by name, version desc`,
});

/** No row if another request has written this version. */
const insertPolicy = statement({
  name: 'insert_dunning_policy',
  parameters: { ...key, version: 'int4', policy: row.policy, created_at: 'timestamptz' },
  row: { version: 'int4' },
  text: `insert into dunning_policy (party_id, shop_id, name, version, policy, created_at)
         values (:party_id, :shop_id, :name, :version, :policy, :created_at)
         on conflict do nothing returning version`,
});

/** The newest version, or the one that is asked for. */
export async function findPolicy(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: Shop,
  name: string,
  version?: number,
): Promise<SavedPolicy | undefined> {
  const asked = { party_id: partyId, shop_id: shopId, name, version: version ?? null };
  const [found] = await db.run(readPolicy, asked);
  return found && fromRow(found);
}

/** The one that a subscription has which follows the policy of this name. A share may have the policy of a trial. */
export async function findPolicyFor(
  db: Pick<Database, 'run'>,
  shop: Shop,
  name: string,
  subscriptionId: string,
): Promise<DunningPolicy | undefined> {
  const found = await findPolicy(db, shop, name);
  const { trial } = found?.policy ?? {};
  if (!found || !trial || !isInTrial(found.policy, subscriptionId)) return found?.policy;
  return (await findPolicy(db, shop, trial.policy))?.policy;
}

export async function findPolicies(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: Shop,
): Promise<SavedPolicy[]> {
  return (await db.run(listPolicies, { party_id: partyId, shop_id: shopId })).map(fromRow);
}

/** False if another request was quicker. */
export async function storePolicy(
  db: Database,
  { partyId, shopId }: Shop,
  { policy, createdAt }: SavedPolicy,
): Promise<boolean> {
  const { name, version } = policy;
  const of = { party_id: partyId, shop_id: shopId, name, version };
  return (await db.run(insertPolicy, { ...of, policy, created_at: createdAt })).length > 0;
}

function fromRow({ policy, created_at: createdAt }: Values<typeof row>): SavedPolicy {
  return { policy, createdAt };
}
