// Builds and sends one message to one webhook, signed with the current keys.
import { epochMsOf, type Instant } from '../../clock.ts';
import type { PostResponse, Post, Sender } from './http-sender.ts';
import { contentSignature, standardSignatures, type SigningKeys } from './signature.ts';
import { keysAt, type PublishedKey, type Webhook } from '../domain/webhook.ts';

export type WebhookTarget = {
  readonly webhook: Pick<Webhook, 'url' | 'partyId' | 'topic' | 'eventTypes'>;
  readonly keys: readonly (Pick<PublishedKey, 'keyVersion' | 'signsFrom'> & SigningKeys)[];
};

export async function postTo(sender: Sender, ...what: Parameters<typeof postOf>): Promise<PostResponse> {
  return sender.post(await postOf(...what));
}

export async function postOf(
  { webhook, keys }: WebhookTarget,
  message: { readonly id: string; readonly body: string },
  attempt: { readonly now: Instant; readonly requestId: string },
): Promise<Post> {
  const body = Buffer.from(message.body);
  const { current, signing } = keysAt(keys, attempt.now);
  const second = Math.floor(epochMsOf(attempt.now) / 1_000);
  return {
    url: new URL(webhook.url),
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Mandate-Webhooks/1',
      'x-request-id': attempt.requestId,
      'content-signature': await contentSignature(body, current.rsa),
      'webhook-id': message.id,
      'webhook-timestamp': String(second),
      'webhook-signature': standardSignatures({ id: message.id, second, body }, signing),
    },
  };
}
