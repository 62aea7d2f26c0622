// Webhooks of identities: create, list, get, delete, in the style of the wallets API.
// Their queues and attempts are listed by the operations for all webhooks.
import { Type, type Static } from 'typebox';
import type { Instant } from '../../clock.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { EntityID } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { withKeyPairs } from './key-pair-pool.ts';
import { register } from './register.ts';
import { findWebhook, findWebhooks, removeWebhook, type StoredWebhook } from './webhooks.store.ts';
import { isOfShop } from '../domain/webhook.ts';
import {
  eventTypes,
  keyMembers,
  keysBody,
  signingSecret,
  url,
  WebhookPath,
  type WebhookWithKeys,
} from './schema.ts';
import { defined } from '../../defined.ts';
import type { WebhookDeps } from '../webhooks.ts';

const Scope = Type.Object(
  {
    topic: Type.Enum(['WithdrawalsTopic', 'DestinationsTopic']),
    walletID: Type.Optional({
      ...EntityID,
      description: 'Only events of this wallet. Only with `WithdrawalsTopic`.',
    }),
    eventTypes,
  },
  { title: 'WalletWebhookScope' },
);

const WalletWebhookParams = Type.Object(
  { identityID: EntityID, scope: Scope, url },
  { title: 'WalletWebhookParams' },
);

const WalletWebhook = Type.Object(
  {
    id: EntityID,
    identityID: EntityID,
    active: Type.Boolean(),
    scope: Scope,
    url: Type.String(),
    ...keyMembers,
  },
  { title: 'WalletWebhook' },
);

const NewWalletWebhook = Type.Object(
  { ...WalletWebhook.properties, signingSecret },
  { title: 'NewWalletWebhook' },
);

const OfIdentity = Type.Object({ identityID: EntityID });

export const createWalletWebhook = endpoint({
  operation: 'createWalletWebhook',
  access: { scope: 'webhooks:write' },
  method: 'POST',
  path: '/wallet/v0/webhooks',
  tag: 'Webhooks',
  summary: 'Create a webhook of an identity',
  description: 'Like `createWebhook`, for events of the identity’s withdrawals or destinations.',
  body: WalletWebhookParams,
  bodyExample: {
    identityID: '1Bq5',
    scope: { topic: 'WithdrawalsTopic', eventTypes: ['WithdrawalSucceeded', 'WithdrawalFailed'] },
    url: 'https://shop.example/payouts',
  },
  status: 201,
  response: NewWalletWebhook,
  errors: ['noSuchIdentity', 'noSuchWallet', 'tooManyWalletWebhooks'],
  prepare: withKeyPairs,
  handle: async ({ caller, body, now }, deps: WebhookDeps<'db' | 'clock' | 'ids' | 'webhooks'>, pairs) => {
    const { partyId } = caller;
    const { topic, walletID, eventTypes: wantedTypes } = body.scope;
    if (walletID !== undefined && topic !== 'WithdrawalsTopic')
      return refuse('invalidRequest', { message: 'scope.walletID: only allowed with WithdrawalsTopic' });
    const owner = { id: body.identityID, ...defined({ part: walletID }) };
    const missing = await deps.webhooks.missingScope(deps.db, partyId, owner);
    if (missing) return refuse(missing);
    const wanted = { partyId, topic, owner, eventTypes: wantedTypes, url: body.url, createdAt: now };
    const registered = await register(deps, pairs, wanted);
    if (!registered.ok) {
      const { code, ...more } = registered.refusal;
      return code === 'webhookLimitExceeded' ? refuse('tooManyWalletWebhooks') : refuse(code, more);
    }
    const { stored, at, signingSecret: secret } = registered.value;
    return accept({ ...bodyOf(stored, at), signingSecret: secret });
  },
});

export const listWalletWebhooks = endpoint({
  operation: 'listWalletWebhooks',
  access: { scope: 'webhooks:read' },
  method: 'GET',
  path: '/wallet/v0/webhooks',
  tag: 'Webhooks',
  summary: 'List the webhooks of an identity',
  query: OfIdentity,
  status: 200,
  response: Type.Array(WalletWebhook),
  errors: ['noSuchIdentity'],
  handle: async ({ caller, query }, { db, clock, webhooks }: WebhookDeps<'db' | 'clock' | 'webhooks'>) => {
    if (await webhooks.missingScope(db, caller.partyId, { id: query.identityID }))
      return refuse('noSuchIdentity');
    const stored = await findWebhooks(db, [caller.partyId]);
    const theirs = stored.filter((one) => isOf(one, query.identityID));
    return accept(theirs.map((one) => bodyOf(one, clock.now())));
  },
});

export const getWalletWebhook = endpoint({
  operation: 'getWalletWebhook',
  access: { scope: 'webhooks:read' },
  method: 'GET',
  path: '/wallet/v0/webhooks/{webhookID}',
  tag: 'Webhooks',
  summary: 'Get a webhook of an identity',
  params: WebhookPath,
  query: OfIdentity,
  status: 200,
  response: WalletWebhook,
  errors: ['webhookNotFound', 'noSuchIdentity'],
  handle: async (
    { caller, params, query },
    { db, clock, webhooks }: WebhookDeps<'db' | 'clock' | 'webhooks'>,
  ) => {
    if (await webhooks.missingScope(db, caller.partyId, { id: query.identityID }))
      return refuse('noSuchIdentity');
    const stored = await findWebhook(db, caller.partyId, params.webhookID);
    if (!stored || !isOf(stored, query.identityID)) return refuse('webhookNotFound');
    return accept(bodyOf(stored, clock.now()));
  },
});

export const deleteWalletWebhook = endpoint({
  operation: 'deleteWalletWebhook',
  access: { scope: 'webhooks:write' },
  method: 'DELETE',
  path: '/wallet/v0/webhooks/{webhookID}',
  tag: 'Webhooks',
  summary: 'Delete a webhook of an identity',
  params: WebhookPath,
  query: OfIdentity,
  status: 204,
  errors: ['webhookNotFound', 'noSuchIdentity'],
  handle: async ({ caller, params, query }, { db, webhooks }: WebhookDeps<'db' | 'webhooks'>) => {
    const { partyId } = caller;
    if (await webhooks.missingScope(db, partyId, { id: query.identityID })) return refuse('noSuchIdentity');
    const stored = await findWebhook(db, partyId, params.webhookID);
    if (!stored || !isOf(stored, query.identityID)) return refuse('webhookNotFound');
    if (!(await removeWebhook(db, partyId, params.webhookID))) return refuse('webhookNotFound');
    db.afterCommit(() => webhooks.forget(params.webhookID));
    return accept(undefined);
  },
});

function isOf({ webhook }: Pick<StoredWebhook, 'webhook'>, identityId: string): boolean {
  return !isOfShop(webhook) && webhook.owner.id === identityId;
}

function bodyOf({ webhook, keys }: WebhookWithKeys, now: Instant): Static<typeof WalletWebhook> {
  const { id, owner, topic, url: to } = webhook;
  return {
    id,
    identityID: owner.id,
    active: true,
    scope: {
      topic: topic as 'WithdrawalsTopic' | 'DestinationsTopic',
      ...defined({ walletID: owner.part }),
      eventTypes: [...webhook.eventTypes],
    },
    url: to,
    ...keysBody(keys, now),
  };
}
