// Registers a webhook of a shop or an identity, with its first keys.
import { defined } from '../../defined.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { decideCreate, isOfShop, webhookIdOf, type Webhook } from '../domain/webhook.ts';
import type { WebhookDeps } from '../webhooks.ts';
import { urlProblem } from './address-guard.ts';
import type { PooledKeyPairs } from './key-pair-pool.ts';
import type { WebhookWithKeys } from './schema.ts';
import { findWebhooks, storeNewWebhook } from './webhooks.store.ts';

type Registered = {
  readonly stored: WebhookWithKeys;
  /** Real time, which the keys follow even under a test clock. */
  readonly at: Webhook['createdAt'];
  readonly signingSecret: string;
};

export async function register(
  { db, clock, ids, webhooks }: WebhookDeps<'db' | 'clock' | 'ids' | 'webhooks'>,
  pairs: PooledKeyPairs,
  wanted: Omit<Webhook, 'id'>,
): Promise<Outcome<Registered, 'invalidRequest' | 'webhookLimitExceeded'>> {
  const id = webhookIdOf(ids.next());
  const problem = urlProblem(wanted.url, webhooks.rule);
  const existing = (await findWebhooks(db, [wanted.partyId])).filter(
    ({ webhook }) => isOfShop(webhook) === isOfShop(wanted) && webhook.owner.id === wanted.owner.id,
  );
  const decision = decideCreate(
    { id, ...wanted },
    {
      topic: webhooks.topics.find(({ name }) => name === wanted.topic),
      existing: existing.length,
      ...defined({ urlProblem: problem }),
    },
  );
  if (!decision.ok) return decision;
  const at = clock.now();
  const { keys, sharedSecret } = webhooks.encryptKeys(id, pairs.take(), { keyVersion: 1, signsFrom: at });
  if (!(await storeNewWebhook(db, decision.value, keys))) return refuse('webhookLimitExceeded');
  return accept({ stored: { webhook: decision.value, keys: [keys] }, at, signingSecret: sharedSecret });
}
