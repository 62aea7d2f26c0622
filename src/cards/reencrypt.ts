// The change of the cards' key while everything goes on: a new key seals from now on, and the cards under older ones are
// sealed anew, batch by batch. It can be stopped at any moment; the next run goes on with what is left.
import type { Database } from '../platform/database/database.ts';
import type { DataKey, Keyring } from '../platform/keys/keyring.ts';
import {
  beginning,
  countUnderOlderKeys,
  swapCiphertext,
  readUnderOlderKeys,
  type SealedCardRow,
} from './store/reencryption.ts';
import { resealCard } from './encrypted-card.ts';

/** `left` while cards are sealed anew, then how long until every node has certainly taken up the new key. */
export type Progress = { readonly done: number; readonly left: number; readonly waitMs: number };

export type Rewrapped = {
  readonly generation: number;
  /** An earlier run was interrupted; this one has finished its work instead of making yet another key. */
  readonly resumed: boolean;
  readonly done: number;
  /** Cards that do not open with the key they name: damaged, or written by somebody else. They are left as they are. */
  readonly unreadable: readonly string[];
};

export type RewrapOptions = {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly report?: (progress: Progress) => void;
  /** How long another node may go on with the key before. */
  readonly nodesLearnWithinMs: number;
};

const cardsAtOnce = 500;
const lookAgainMs = 1_000;

export async function reencryptCards(options: RewrapOptions): Promise<Rewrapped> {
  const { db, keyring, report = () => {}, nodesLearnWithinMs } = options;
  let learntAtMs = performance.now() + nodesLearnWithinMs;
  const waitMs = () => Math.max(0, learntAtMs - performance.now());
  let done = 0;

  /** Once over everything under older keys. Answers what could not be read, and whether something was there besides. */
  async function pass(): Promise<{ unreadable: string[]; found: boolean }> {
    const newest = keyring.newest('card');
    let left = await countUnderOlderKeys(db, newest.generation);
    const unreadable: string[] = [];
    let found = false;
    for (let after = beginning; ;) {
      const rows = await readUnderOlderKeys(db, newest.generation, after, cardsAtOnce);
      const last = rows.at(-1);
      if (!last) return { unreadable, found };
      const anew = await sealAnew(rows, newest, keyring);
      unreadable.push(...anew.unreadable);
      found ||= anew.cards.length > 0;
      done += await swapCiphertext(db, newest.generation, anew.cards);
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
      return { generation: keyring.newest('card').generation, resumed, done, unreadable };
    }
    if (!found)
      await new Promise((resolve) => setTimeout(resolve, Math.min(lookAgainMs, nodesLearnWithinMs)));
  }
}

async function sealAnew(rows: readonly SealedCardRow[], newest: DataKey, keyring: Keyring) {
  const cards: { cardId: string; was: Buffer; sealed: Buffer }[] = [];
  const unreadable: string[] = [];
  for (const row of rows) {
    const key = await keyring.find('card', row.generation);
    try {
      if (!key) throw new Error('there is no such key');
      cards.push({ cardId: row.cardId, was: row.sealed, sealed: resealCard(key, newest, row, row.sealed) });
    } catch {
      unreadable.push(row.cardId);
    }
  }
  return { cards, unreadable };
}
