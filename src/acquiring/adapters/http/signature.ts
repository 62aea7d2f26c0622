// The HMAC-SHA-256 signature of messages between Mandate and a bank, in both directions.
// docs/bank-protocol.md describes it and has a test vector.
import { createHmac, timingSafeEqual } from 'node:crypto';

export type SignedMessage = {
  readonly method: string;
  /** Path and query exactly as in the request line. */
  readonly target: string;
  readonly body: Uint8Array;
};

export const signatureHeader = 'mandate-bank-signature';
export const versionHeader = 'mandate-bank-version';
export const protocolVersion = '1';

/** How far the two clocks may differ, and how long a recorded message can be replayed. */
export const replayWindowSeconds = 300;

/** Rejects most invented secrets: `openssl rand -base64 32` prints 44 characters. */
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

/** Only the body can contain a line feed, so two messages never give the same text. */
function macOf(secret: string, { method, target, body }: SignedMessage, time: string): Buffer {
  return createHmac('sha256', secret).update(`${time}\n${method}\n${target}\n`).update(body).digest();
}
