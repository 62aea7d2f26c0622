// The change of the cards' key while everything goes on: a new key seals from now on, and the cards under older ones are
// encrypted again, batch by batch. It can be stopped at any moment; the next run goes on with what is left.
import type { Database } from '../platform/database/database.ts';
import type { DataKey, Keyring } from '../platform/keys/keyring.ts';
import {
  beginning,
  countUnderOlderKeys,
  swapCiphertext,
  readUnderOlderKeys,
  type EncryptedCardRow,
} from './store/reencryption.ts';
import { reencryptCard } from './encrypted-card.ts';

/** `left` while cards are encrypted again, then how long until every node has certainly taken up the new key. */
export type Progress = { readonly done: number; readonly left: number; readonly waitMs: number };

export type Reencryption = {
  readonly keyVersion: number;
  /** An earlier run was interrupted; this one has finished its work instead of making yet another key. */
  readonly resumed: boolean;
  readonly done: number;
  /** Cards that do not open with the key they name: damaged, or written by somebody else. They are left as they are. */
  readonly unreadable: readonly string[];
};

export type ReencryptionOptions = {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly report?: (progress: Progress) => void;
  /** How long another node may go on with the key before. */
  readonly nodesLearnWithinMs: number;
};

const cardsAtOnce = 500;
const lookAgainMs = 1_000;

export async function reencryptCards(options: ReencryptionOptions): Promise<Reencryption> {
  const { db, keyring, report = () => {}, nodesLearnWithinMs } = options;
  let learntAtMs = performance.now() + nodesLearnWithinMs;
  const waitMs = () => Math.max(0, learntAtMs - performance.now());
  let done = 0;

  /** Once over everything under older keys. Answers what could not be read, and whether something was there besides. */
  async function pass(): Promise<{ unreadable: string[]; found: boolean }> {
    const newest = keyring.newest('card');
    let left = await countUnderOlderKeys(db, newest.keyVersion);
    const unreadable: string[] = [];
    let found = false;
    for (let after = beginning; ;) {
      const rows = await readUnderOlderKeys(db, newest.keyVersion, after, cardsAtOnce);
      const last = rows.at(-1);
      if (!last) return { unreadable, found };
      const anew = await reencryptBatch(rows, newest, keyring);
      unreadable.push(...anew.unreadable);
      found ||= anew.cards.length > 0;
      done += await swapCiphertext(db, newest.keyVersion, anew.cards);
      left -= rows.length;
      after = last;
      report({ done, left: Math.max(0, left), waitMs: waitMs() });
    }
  }

  const { found: resumed } = await pass();
  if (!resumed) {
    await keyring.rotate('card');
    learntAtMs = performance.now() + nodesLearnWithinMs;
  }
  for (;;) {
    const isLearnt = waitMs() === 0;
    const { unreadable, found } = await pass();
    report({ done, left: 0, waitMs: waitMs() });
    // Nothing was found after the last moment at which anybody could have written under an older key.
    if (isLearnt && !found) {
      return { keyVersion: keyring.newest('card').keyVersion, resumed, done, unreadable };
    }
    if (!found)
      await new Promise((resolve) => setTimeout(resolve, Math.min(lookAgainMs, nodesLearnWithinMs)));
  }
}

async function reencryptBatch(rows: readonly EncryptedCardRow[], newest: DataKey, keyring: Keyring) {
  const cards: { cardId: string; was: Buffer; ciphertext: Buffer }[] = [];
  const unreadable: string[] = [];
  for (const row of rows) {
    const key = await keyring.find('card', row.keyVersion);
    try {
      if (!key) throw new Error('there is no such key');
      cards.push({
        cardId: row.cardId,
        was: row.ciphertext,
        ciphertext: reencryptCard(key, newest, row, row.ciphertext),
      });
    } catch {
      unreadable.push(row.cardId);
    }
  }
  return { cards, unreadable };
}
