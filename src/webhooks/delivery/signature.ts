// The two signatures of a delivery. Content-Signature is RSA over the body; webhook-signature is Standard Webhooks 1.0,
// with a shared secret (v1) and with Ed25519 (v1a).
import { createHmac, sign, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

/** One key version of a webhook, decrypted. */
export type SigningKeys = {
  readonly rsa: KeyObject;
  readonly ed25519: KeyObject;
  readonly secret: Buffer;
};

const signInThread = promisify(sign) as (algorithm: string, data: Buffer, key: KeyObject) => Promise<Buffer>;

/** Signs in another thread, because it takes about 0.7 ms. */
export async function contentSignature(body: Buffer, key: KeyObject): Promise<string> {
  const signature = await signInThread('sha256', body, key);
  // base64url, but with padding: the documentation allows it.
  const digest = signature.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
  return `alg=RS256; digest=${digest}`;
}

export function standardSignatures(
  message: { readonly id: string; readonly second: number; readonly body: Buffer },
  keys: readonly Pick<SigningKeys, 'ed25519' | 'secret'>[],
): string {
  const signed = Buffer.concat([Buffer.from(`${message.id}.${message.second}.`), message.body]);
  // Shared secrets first, because the reference libraries support no other scheme.
  const shared = keys.map(
    ({ secret }) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  );
  const own = keys.map(({ ed25519 }) => `v1a,${sign(null, signed, ed25519).toString('base64')}`);
  return [...shared, ...own].join(' ');
}
