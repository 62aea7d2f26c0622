// Keyed hashes of a card. A hash without a key would reveal the number: next to a mask, only a hundred thousand are left to try.
import { createHmac } from 'node:crypto';

export function numberHash(key: Buffer, number: string): Buffer {
  return createHmac('sha256', key).update(`pan-fingerprint-v1|${number}`).digest();
}

export function cardMatchHash(key: Buffer, card: { number: string; expiry?: string }): Buffer {
  return createHmac('sha256', key)
    .update(`card-identity-v1|${card.number}|${card.expiry ?? ''}`)
    .digest();
}
