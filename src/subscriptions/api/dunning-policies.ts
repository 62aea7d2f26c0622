// The dunning policies of a shop: when a failed charge of a subscription is retried. Each change is a new version.
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { Instant } from '../../clock.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { retryOnConflict, type Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { builtInName, checkPolicy, type DunningPolicy } from '../domain/dunning/dunning.ts';
import { decideMove } from '../domain/dunning/policies.ts';
import {
  findPolicies,
  findPolicy,
  findPolicyFor,
  storePolicy,
  type SavedPolicy,
  type Shop,
} from '../store/dunning-policies.ts';
import { findSubscription } from '../store/subscriptions.ts';
import { change, changeErrors, writing, type ChangeDeps } from './change-subscription.ts';
import {
  PoliciesPath,
  policyBody,
  policyExample,
  policyFrom,
  PolicyName,
  PolicyParams,
  PolicyPath,
  PolicySchema,
  PolicyVersion,
} from './dunning-policy-schema.ts';

type Deps = { readonly db: Database; readonly merchants: Merchants };

const tag = 'Subscriptions';
const listPath = '/v2/processing/shops/{shopID}/dunning-policies';
const path = `${listPath}/{policyName}`;
const maxPolicies = 100;

export const listDunningPolicies = endpoint({
  operation: 'listDunningPolicies',
  access: { scope: 'subscriptions:read' },
  method: 'GET',
  path: listPath,
  tag,
  summary: 'List the dunning policies of a shop',
  params: PoliciesPath,
  status: 200,
  response: Type.Array(PolicySchema),
  errors: ['shopNotFound'],
  handle: async ({ caller, params }, { db, merchants }: Deps) => {
    const shop = await merchants.shop(caller.partyId, params.shopID);
    return shop ? accept((await findPolicies(db, shopOf(shop))).map(policyBody)) : refuse('shopNotFound');
  },
});

export const getDunningPolicy = endpoint({
  operation: 'getDunningPolicy',
  access: { scope: 'subscriptions:read' },
  method: 'GET',
  path,
  tag,
  summary: 'Get a dunning policy',
  params: PolicyPath,
  query: Type.Object({
    version: Type.Optional(PolicyVersion),
  }),
  status: 200,
  response: PolicySchema,
  errors: ['shopNotFound', 'dunningPolicyNotFound'],
  handle: async ({ caller, params, query }, { db, merchants }: Deps) => {
    const shop = await merchants.shop(caller.partyId, params.shopID);
    if (!shop) return refuse('shopNotFound');
    const found = await findPolicy(db, shopOf(shop), params.policyName, query.version);
    return found ? accept(policyBody(found)) : refuse('dunningPolicyNotFound');
  },
});

export const putDunningPolicy = endpoint({
  operation: 'putDunningPolicy',
  access: { scope: 'subscriptions:write' },
  method: 'PUT',
  path,
  tag,
  summary: 'Save a policy',
  description: 'Other content makes a new version. Subscriptions have it from their next period on.',
  params: PolicyPath,
  body: PolicyParams,
  bodyExample: policyExample,
  status: 200,
  response: PolicySchema,
  errors: ['shopNotFound', 'invalidDunningPolicy'],
  handle: async ({ caller, params, body, now }, { db, merchants }: Deps) => {
    const shop = await merchants.shop(caller.partyId, params.shopID);
    if (!shop) return refuse('shopNotFound');
    const policy = policyFrom(params.policyName, body);
    const checked = checkPolicy(policy, now);
    if (!checked.ok) return checked;
    const attempt = () => save(db, shopOf(shop), policy, now);
    return retryOnConflict(`dunning policy ${policy.name}`, attempt);
  },
});

/** A repeat of the content changes nothing, and is answered with what is there. */
async function save(db: Database, shop: Shop, policy: DunningPolicy, now: Instant) {
  const wrong = (hint: string) => refuse('invalidDunningPolicy', { hint });
  const { name, trial } = policy;
  if (name === builtInName) return wrong(`${builtInName} is the built-in policy. Choose another name.`);
  const saved = await findPolicies(db, shop);
  const newest = saved.find((one) => one.policy.name === name);
  if (newest && isDeepStrictEqual({ ...newest.policy, version: policy.version }, policy))
    return accept(policyBody(newest));
  if (!newest && saved.length >= maxPolicies) return wrong(`A shop has ${maxPolicies} policies at most.`);
  const other = saved.find((one) => one.policy.name === trial?.policy);
  if (trial && (!other || trial.policy === name))
    return wrong(`\`trial\` needs another policy of the shop, and ${trial.policy} is none.`);
  const next: SavedPolicy = {
    policy: { ...policy, version: (newest?.policy.version ?? 0) + 1 },
    createdAt: now,
  };
  return (await storePolicy(db, shop, next)) ? accept(policyBody(next)) : 'versionConflict';
}

export const moveToDunningPolicy = endpoint({
  ...writing,
  operation: 'moveToDunningPolicy',
  method: 'PUT',
  path: '/v2/processing/subscriptions/{subscriptionID}/dunning-policy',
  summary: 'Change the dunning policy of a subscription',
  description: 'With its unpaid periods.',
  body: Type.Object({ policy: PolicyName }),
  bodyExample: { policy: 'gentle' },
  errors: [...changeErrors, 'dunningPolicyNotFound', 'invalidDunningPolicy'],
  handle: async (request, deps: ChangeDeps) => {
    const { caller, params, body } = request;
    const found = await findSubscription(deps.db, caller.partyId, params.subscriptionID);
    if (!found) return refuse('subscriptionNotFound');
    const { terms } = found.subscription;
    const policy = await findPolicyFor(deps.db, terms, body.policy, terms.id);
    if (!policy) return refuse('dunningPolicyNotFound');
    const to = { name: body.policy, policy };
    return change(request, deps, (subscription, now) => decideMove(subscription, to, now));
  },
});

function shopOf({ partyId, id }: { readonly partyId: string; readonly id: string }): Shop {
  return { partyId, shopId: id };
}
