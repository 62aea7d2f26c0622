// Webhooks as the API shows them.
import { Type, type Static } from 'typebox';
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { DateTime, EntityID } from '../../platform/http/schemas.ts';
import { keysAt, topicsOfShop, type PublishedKey, type Webhook } from '../domain/webhook.ts';

export const eventTypes = Type.Array(Type.String({ maxLength: 100 }), {
  minItems: 1,
  maxItems: 100,
  description: 'The event types to send.',
});

const scopeMembers = {
  topic: Type.Enum([...topicsOfShop]),
  shopID: EntityID,
  eventTypes,
};
const Scope = Type.Object(scopeMembers, { title: 'WebhookScope' });

export const url = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'An absolute http or https URL. In live mode it must be public and use https.',
});

export const WebhookParams = Type.Object(
  { partyID: Type.Optional(EntityID), scope: Scope, url },
  { title: 'WebhookParams' },
);
export type WebhookParams = Static<typeof WebhookParams>;

export const keyMembers = {
  publicKey: Type.String({ description: 'Verifies `Content-Signature`. PEM, RSA.' }),
  nextPublicKey: Type.Optional(
    Type.String({ description: 'Verifies `Content-Signature` from `nextKeyFrom` on. Accept both keys now.' }),
  ),
  nextKeyFrom: Type.Optional(DateTime),
  signingPublicKey: Type.String({ description: 'Verifies the `v1a` part of `webhook-signature`.' }),
  nextSigningPublicKey: Type.Optional(Type.String()),
  previousPublicKey: Type.Optional(
    Type.String({
      description:
        'The key before the last rotation, shown for 24 hours. Accept it too: an attempt in progress may use it.',
    }),
  ),
  previousSigningPublicKey: Type.Optional(Type.String()),
};

export const WebhookSchema = Type.Object(
  {
    id: EntityID,
    partyID: EntityID,
    active: Type.Boolean(),
    scope: Scope,
    url: Type.String(),
    ...keyMembers,
  },
  { title: 'Webhook' },
);
export type WebhookBody = Static<typeof WebhookSchema>;

export const signingSecret = Type.String({
  description: 'Verifies the `v1` part of `webhook-signature`. Shown only once.',
});

export const NewWebhook = Type.Object(
  { ...WebhookSchema.properties, signingSecret },
  { title: 'NewWebhook' },
);

export const WebhookPath = Type.Object({ webhookID: EntityID });

export const webhookExample = {
  scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoicePaid', 'PaymentFailed'] },
  url: 'https://shop.example/webhooks',
} satisfies WebhookParams;

export type WebhookWithKeys = { readonly webhook: Webhook; readonly keys: readonly PublishedKey[] };

export function webhookBody({ webhook, keys }: WebhookWithKeys, now: Instant): WebhookBody {
  return {
    id: webhook.id,
    partyID: webhook.partyId,
    active: true,
    scope: {
      topic: webhook.topic as (typeof topicsOfShop)[number],
      shopID: webhook.owner.id,
      eventTypes: [...webhook.eventTypes],
    },
    url: webhook.url,
    ...keysBody(keys, now),
  };
}

export function keysBody(
  keys: readonly PublishedKey[],
  now: Instant,
): Omit<Static<ReturnType<typeof Type.Object<typeof keyMembers>>>, never> {
  const { current, next, previous } = keysAt(keys, now);
  return {
    publicKey: current.publicKey,
    signingPublicKey: current.signingPublicKey,
    ...defined({
      nextPublicKey: next?.publicKey,
      nextSigningPublicKey: next?.signingPublicKey,
      nextKeyFrom: next?.signsFrom,
      previousPublicKey: previous?.publicKey,
      previousSigningPublicKey: previous?.signingPublicKey,
    }),
  };
}
