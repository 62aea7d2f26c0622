// The signature on every message between us and a bank, in both directions: HMAC-SHA-256 over time, method, target and
// body. docs/bank-protocol.md has the recipe for other languages and a vector.
import { createHmac, timingSafeEqual } from 'node:crypto';

export type SignedMessage = {
  readonly method: string;
  /** Path and query exactly as they stand in the request line. */
  readonly target: string;
  readonly body: Uint8Array;
};

export const signatureHeader = 'mandate-bank-signature';
export const versionHeader = 'mandate-bank-version';
export const protocolVersion = '1';

/** How far the clocks of both sides may be apart, and how long a message that was overheard could be sent again. */
export const replayWindowSeconds = 300;

/** A secret a person made up is too short; `openssl rand -base64 32` gives 44 characters. */
export const minSecretCharacters = 32;

export function sign(secret: string, message: SignedMessage, nowSeconds: number): string {
  return `t=${nowSeconds},v1=${macOf(secret, message, String(nowSeconds)).toString('hex')}`;
}

export function isSigned(
  secret: string,
  message: SignedMessage,
  header: string | undefined,
  nowSeconds: number,
): boolean {
  const [, time, mac] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? [];
  if (time === undefined || mac === undefined) return false;
  if (Math.abs(nowSeconds - Number(time)) > replayWindowSeconds) return false;
  return timingSafeEqual(Buffer.from(mac, 'hex'), macOf(secret, message, time));
}

/** No part but the body can hold a line feed, so no two messages have the same text. */
function macOf(secret: string, { method, target, body }: SignedMessage, time: string): Buffer {
  return createHmac('sha256', secret).update(`${time}\n${method}\n${target}\n`).update(body).digest();
}
