// The address of the page on which a payer looks after a subscription. It is signed with the time until which it is valid, and not stored.
import { epochMsOf, laterBy, type Instant } from '../clock.ts';
import type { LinkSecrets } from '../platform/keys/link-secrets.ts';

/** Followed by the ID and the secret of a link. */
export const payerPath = '/subscription';

export type PayerLink = { readonly url: string; readonly expiresAt: Instant };

const lifeMs = 30 * 24 * 3_600_000;

/** Any person who has it can act in the payer's name. */
export function payerLinkOf(
  { linkSecrets, publicUrl }: { readonly linkSecrets: LinkSecrets; readonly publicUrl: () => string },
  subscriptionId: string,
  now: Instant,
): PayerLink {
  const expiresAt = laterBy(now, lifeMs);
  const seconds = Math.floor(epochMsOf(expiresAt) / 1_000);
  const secret = linkSecrets.secretOf('subscription', signedOf(subscriptionId, seconds));
  return { url: `${publicUrl()}${payerPath}/${subscriptionId}/${seconds}.${secret}`, expiresAt };
}

/** Until when the link is valid. Undefined if it is not one of the subscription. */
export async function endOfPayerLink(
  linkSecrets: LinkSecrets,
  subscriptionId: string,
  text: string,
): Promise<number | undefined> {
  const [, seconds = '', secret = ''] = /^([1-9]\d{0,11})\.([\w.-]+)$/.exec(text) ?? [];
  const isSigned = await linkSecrets.isSecret('subscription', signedOf(subscriptionId, seconds), secret);
  return isSigned ? Number(seconds) * 1_000 : undefined;
}

function signedOf(subscriptionId: string, seconds: number | string): string {
  return `${subscriptionId}.${seconds}`;
}
