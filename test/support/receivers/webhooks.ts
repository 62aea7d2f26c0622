// Many webhooks for tests: one is created over the API, and the others are copies with the same keys. A new RSA pair takes over 100 ms.
import { decrypt, encrypt } from '../../../src/platform/keys/master-key.ts';
import { loadWebhook, storeNewWebhook } from '../../../src/webhooks/registration/webhooks.store.ts';
import { webhookIdOf, type Webhook } from '../../../src/webhooks/domain/webhook.ts';
import type { Merchant, TestService } from '../service/test-service.ts';

export const webhooksUrl = '/v2/processing/webhooks';
/** No server listens there, so every delivery fails immediately. */
export const nowhere = 'http://127.0.0.1:9/webhook-events';

export async function makeWebhook(
  service: TestService,
  merchant: Merchant,
  shopID = 'TEST',
  url = nowhere,
): Promise<string> {
  const scope = { topic: 'InvoicesTopic', shopID, eventTypes: ['InvoicePaid'] };
  const body = { scope, url };
  const made = await service.call('POST', webhooksUrl, { token: merchant.apiKey, body });
  if (made.status !== 201) throw new Error(`the webhook was not created: ${made.status} ${made.text}`);
  return made.body.id;
}

/** Returns the IDs of that many copies, for a shop of any merchant or for an identity. */
export async function copyWebhook(
  service: TestService,
  webhookId: string,
  owner: { partyId: string; shopId: string } | { partyId: string; identityId: string },
  copies: number,
): Promise<string[]> {
  const { database, keyring, ports } = service;
  const stored = await loadWebhook(database, webhookId);
  const [key] = stored?.keys ?? [];
  const encryptionKey = keyring.newest('webhook_key');
  if (!stored || !key) throw new Error(`webhook ${webhookId} does not exist`);
  const plain = decrypt(encryptionKey.secret, key.ciphertext, `webhook ${webhookId} ${key.keyVersion}`);
  const ids = Array.from({ length: copies }, () => webhookIdOf(ports.ids.next()));
  for (const id of ids) {
    const webhook: Webhook = {
      ...stored.webhook,
      id,
      partyId: owner.partyId,
      ...('shopId' in owner
        ? { owner: { id: owner.shopId } }
        : {
            owner: { id: owner.identityId },
            topic: 'WithdrawalsTopic',
            eventTypes: ['WithdrawalFailed'],
          }),
    };
    const ciphertext = encrypt(encryptionKey.secret, plain, `webhook ${id} ${key.keyVersion}`);
    if (!(await storeNewWebhook(database, webhook, { ...key, ciphertext })))
      throw new Error('the webhook limit is reached');
  }
  return ids;
}
