// Webhooks of shops: made, listed, read, deleted. There is no changing one: what it is told would change in mid-queue.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { urlProblem } from './address-guard.ts';
import { withKeyPairs } from './key-pair-pool.ts';
import { findWebhook, findWebhooks, removeWebhook, storeNewWebhook } from './webhooks.store.ts';
import { decideCreate, isOfShop, webhookIdOf, type Webhook } from '../domain/webhook.ts';
import {
  NewWebhook,
  webhookBody,
  webhookExample,
  WebhookParams,
  WebhookPath,
  WebhookSchema,
} from './schema.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { WebhookOperations } from '../webhooks.ts';

export const createWebhook = endpoint({
  operation: 'createWebhook',
  access: { scope: 'webhooks:write' },
  method: 'POST',
  path: '/v2/processing/webhooks',
  tag: 'Webhooks',
  summary: 'Create a webhook',
  description:
    'From now on what you subscribe to is sent to your address, signed, in order for each invoice, customer or series of recurring charges. Keep the ' +
    '`signingSecret`: it is in this answer alone. At most 10 for each shop.',
  body: WebhookParams,
  bodyExample: webhookExample,
  status: 201,
  response: NewWebhook,
  errors: ['invalidPartyID', 'invalidShopID', 'webhookLimitExceeded'],
  prepare: withKeyPairs,
  handle: async (
    { caller, body, now },
    {
      db,
      clock,
      ids,
      merchants,
      webhooks,
    }: { db: Database; clock: Clock; ids: Ids; merchants: Merchants; webhooks: WebhookOperations },
    pairs,
  ) => {
    const { partyId } = caller;
    if (body.partyID !== undefined && body.partyID !== partyId) return refuse('invalidPartyID');
    const { topic, shopID, eventTypes } = body.scope;
    if (!(await merchants.shop(partyId, shopID))) return refuse('invalidShopID');
    const id = webhookIdOf(ids.next());
    const owner = { id: shopID };
    const wanted: Webhook = { id, partyId, topic, owner, eventTypes, url: body.url, createdAt: now };
    const problem = urlProblem(body.url, webhooks.rule);
    const existing = await findWebhooks(db, [partyId]);
    const decision = decideCreate(wanted, {
      topic: webhooks.topics.find(({ name }) => name === topic),
      existing: existing.filter(({ webhook }) => isOfShop(webhook) && webhook.owner.id === shopID).length,
      ...defined({ urlProblem: problem }),
    });
    if (!decision.ok) return decision;
    const signsFrom = clock.now();
    const { keys, sharedSecret } = webhooks.encryptKeys(id, pairs.take(), { keyVersion: 1, signsFrom });
    if (!(await storeNewWebhook(db, decision.value, keys))) return refuse('webhookLimitExceeded');
    const stored = { webhook: decision.value, keys: [keys] };
    return accept({ ...webhookBody(stored, signsFrom), signingSecret: sharedSecret });
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
  handle: async ({ caller }, { db, clock }: { db: Database; clock: Clock }) => {
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
  handle: async ({ caller, params }, { db, clock }: { db: Database; clock: Clock }) => {
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
  description: 'What still waits for it is dropped; what is just being sent may arrive.',
  params: WebhookPath,
  status: 204,
  errors: ['webhookNotFound'],
  handle: async ({ caller, params }, { db, webhooks }: { db: Database; webhooks: WebhookOperations }) => {
    const stored = await findWebhook(db, caller.partyId, params.webhookID);
    if (!stored || !isOfShop(stored.webhook)) return refuse('webhookNotFound');
    if (!(await removeWebhook(db, caller.partyId, params.webhookID))) return refuse('webhookNotFound');
    db.afterCommit(() => webhooks.forget(params.webhookID));
    return accept(undefined);
  },
});
