// Webhooks of shops: create, list, get, delete. There is no update, because it would change the events in the queues.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { withKeyPairs } from './key-pair-pool.ts';
import { register } from './register.ts';
import { findWebhook, findWebhooks, removeWebhook } from './webhooks.store.ts';
import { isOfShop } from '../domain/webhook.ts';
import {
  NewWebhook,
  webhookBody,
  webhookExample,
  WebhookParams,
  WebhookPath,
  WebhookSchema,
} from './schema.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { WebhookDeps } from '../webhooks.ts';

export const createWebhook = endpoint({
  operation: 'createWebhook',
  access: { scope: 'webhooks:write' },
  method: 'POST',
  path: '/v2/processing/webhooks',
  tag: 'Webhooks',
  summary: 'Create a webhook',
  description:
    'Sends the events of these types to your URL from now on: signed, and in order for each invoice, customer or series of ' +
    'recurring charges. Store the `signingSecret`: only this response has it. A shop can have 10 webhooks.',
  body: WebhookParams,
  bodyExample: webhookExample,
  status: 201,
  response: NewWebhook,
  errors: ['invalidPartyID', 'invalidShopID', 'webhookLimitExceeded'],
  prepare: withKeyPairs,
  handle: async (
    { caller, body, now },
    deps: WebhookDeps<'db' | 'clock' | 'ids' | 'webhooks'> & { readonly merchants: Merchants },
    pairs,
  ) => {
    const { partyId } = caller;
    if (body.partyID !== undefined && body.partyID !== partyId) return refuse('invalidPartyID');
    const { topic, shopID, eventTypes } = body.scope;
    if (!(await deps.merchants.shop(partyId, shopID))) return refuse('invalidShopID');
    const owner = { id: shopID };
    const wanted = { partyId, topic, owner, eventTypes, url: body.url, createdAt: now };
    const registered = await register(deps, pairs, wanted);
    if (!registered.ok) return registered;
    const { stored, at, signingSecret } = registered.value;
    return accept({ ...webhookBody(stored, at), signingSecret });
  },
});

export const listWebhooks = endpoint({
  operation: 'listWebhooks',
  access: { scope: 'webhooks:read' },
  method: 'GET',
  path: '/v2/processing/webhooks',
  tag: 'Webhooks',
  summary: 'List the webhooks of your shops',
  status: 200,
  response: Type.Array(WebhookSchema),
  errors: [],
  handle: async ({ caller }, { db, clock }: WebhookDeps<'db' | 'clock'>) => {
    const stored = await findWebhooks(db, [caller.partyId]);
    return accept(
      stored.filter(({ webhook }) => isOfShop(webhook)).map((one) => webhookBody(one, clock.now())),
    );
  },
});

export const getWebhook = endpoint({
  operation: 'getWebhook',
  access: { scope: 'webhooks:read' },
  method: 'GET',
  path: '/v2/processing/webhooks/{webhookID}',
  tag: 'Webhooks',
  summary: 'Get a webhook',
  params: WebhookPath,
  status: 200,
  response: WebhookSchema,
  errors: ['webhookNotFound'],
  handle: async ({ caller, params }, { db, clock }: WebhookDeps<'db' | 'clock'>) => {
    const stored = await findWebhook(db, caller.partyId, params.webhookID);
    if (!stored || !isOfShop(stored.webhook)) return refuse('webhookNotFound');
    return accept(webhookBody(stored, clock.now()));
  },
});

export const deleteWebhook = endpoint({
  operation: 'deleteWebhook',
  access: { scope: 'webhooks:write' },
  method: 'DELETE',
  path: '/v2/processing/webhooks/{webhookID}',
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  description: 'Drops the webhook events that wait in its queues. A delivery in progress may still arrive.',
  params: WebhookPath,
  status: 204,
  errors: ['webhookNotFound'],
  handle: async ({ caller, params }, { db, webhooks }: WebhookDeps<'db' | 'webhooks'>) => {
    const stored = await findWebhook(db, caller.partyId, params.webhookID);
    if (!stored || !isOfShop(stored.webhook)) return refuse('webhookNotFound');
    if (!(await removeWebhook(db, caller.partyId, params.webhookID))) return refuse('webhookNotFound');
    db.afterCommit(() => webhooks.forget(params.webhookID));
    return accept(undefined);
  },
});
