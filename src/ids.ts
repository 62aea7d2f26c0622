// New identifiers: the second of their creation, and about 100 random bits. The newest rows are together at the end of every index, and
// an identifier cannot be guessed.
import { randomBytes } from 'node:crypto';

export type Ids = { next(): string };

export const randomIds: Ids = {
  next: () => secondsText(Date.now()) + randomText(17),
};

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Evenly distributed base-62 text; 43 characters carry 256 bits, 17 carry 101. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      // 248 is the largest multiple of 62 in a byte; larger bytes would favour the first characters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62];
    }
  }
  return text;
}

/** The second as six base-62 digits, with which an identifier begins. Text order is time order until the year 3769. */
export function secondsText(epochMs: number): string {
  let seconds = Math.floor(epochMs / 1000);
  let text = '';
  for (let digit = 0; digit < 6; digit++) {
    text = alphabet[seconds % 62] + text;
    seconds = Math.floor(seconds / 62);
  }
  return text;
}
