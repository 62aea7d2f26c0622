// Rotates the cards' key while the service runs: a new key encrypts from now on, and older cards are re-encrypted in batches. A run can
// be stopped at any time, and the next one continues.
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

/** `left` is for the re-encryption; `waitMs` is how long until every node certainly uses the new key. */
export type Progress = { readonly done: number; readonly left: number; readonly waitMs: number };

export type Reencryption = {
  readonly keyVersion: number;
  /** An earlier run was interrupted, and this one has completed its work instead of creating another key. */
  readonly resumed: boolean;
  readonly done: number;
  /** Cards that the key they name cannot decrypt: damaged, or not written by this service. They are left as they are. */
  readonly unreadable: readonly string[];
};

export type ReencryptionOptions = {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly report?: (progress: Progress) => void;
  /** Which of these cards a destination names: cards of older versions say themselves what they are for. */
  readonly paidOutTo: (cardIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** How long another node may still use the previous key. */
  readonly nodesLearnWithinMs: number;
};

const batchSize = 500;
const pollIntervalMs = 1_000;

export async function reencryptCards(options: ReencryptionOptions): Promise<Reencryption> {
  const { db, keyring, paidOutTo, report = () => {}, nodesLearnWithinMs } = options;
  let learntAtMs = performance.now() + nodesLearnWithinMs;
  const waitMs = () => Math.max(0, learntAtMs - performance.now());
  let done = 0;

  /** One pass over everything under older keys. Returns what could not be decrypted, and whether anything else was found. */
  async function pass(): Promise<{ unreadable: string[]; found: boolean }> {
    const newest = keyring.newest('card');
    let left = await countUnderOlderKeys(db, newest.keyVersion);
    const unreadable: string[] = [];
    let found = false;
    for (let after = beginning; ;) {
      const rows = await readUnderOlderKeys(db, newest.keyVersion, after, batchSize);
      const last = rows.at(-1);
      if (!last) return { unreadable, found };
      const batch = await reencryptBatch(rows, newest, keyring, paidOutTo);
      unreadable.push(...batch.unreadable);
      found ||= batch.cards.length > 0;
      done += await swapCiphertext(db, newest.keyVersion, batch.cards);
      left -= rows.length;
      after = last;
      report({ done, left: Math.max(0, left), waitMs: waitMs() });
    }
  }

  const { found: resumed } = await pass();
  // An interrupted run of an older version may have left a key that binds no purposes.
  const renewed = await keyring.renew();
  if (!resumed && !renewed.includes('card')) await keyring.rotate('card');
  if (!resumed || renewed.includes('card')) {
    learntAtMs = performance.now() + nodesLearnWithinMs;
  }
  for (;;) {
    const isLearnt = waitMs() === 0;
    const { unreadable, found } = await pass();
    report({ done, left: 0, waitMs: waitMs() });
    // Nothing was found after the last moment at which a node could have written under an older key.
    if (isLearnt && !found) {
      return { keyVersion: keyring.newest('card').keyVersion, resumed, done, unreadable };
    }
    if (!found)
      await new Promise((resolve) => setTimeout(resolve, Math.min(pollIntervalMs, nodesLearnWithinMs)));
  }
}

async function reencryptBatch(
  rows: readonly EncryptedCardRow[],
  newest: DataKey,
  keyring: Keyring,
  paidOutTo: ReencryptionOptions['paidOutTo'],
) {
  const named = await paidOutTo(rows.map(({ cardId }) => cardId));
  const cards: { cardId: string; was: Buffer; ciphertext: Buffer }[] = [];
  const unreadable: string[] = [];
  for (const row of rows) {
    const key = await keyring.find('card', row.keyVersion);
    try {
      if (!key) throw new Error(`Version ${row.keyVersion} of the data key "card" is missing.`);
      cards.push({
        cardId: row.cardId,
        was: row.ciphertext,
        ciphertext: reencryptCard(
          key,
          newest,
          { ...row, isPaidOutTo: named.has(row.cardId) },
          row.ciphertext,
        ),
      });
    } catch {
      unreadable.push(row.cardId);
    }
  }
  return { cards, unreadable };
}
