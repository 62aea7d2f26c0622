// Limits how many cards a payer may enter, before any is used; what the bank declines counts in payer-attempts.ts. These counts are per
// node and in memory.
import { networkOf } from '../platform/http/request/client-address.ts';
import { rateLimit } from '../platform/http/request/rate-limit.ts';

export type Payer = {
  /** Undefined if it does not count, as with a number of the simulated bank. */
  readonly address: string | undefined;
  /** The invoice or customer whose access token was sent. */
  readonly kind: string;
  readonly entityId: string;
};

export type CardTesting = {
  /** The seconds to wait; if undefined, the card counts. Without a card it is only an attempt. */
  waitSeconds(payer: Payer, cardHash: Buffer | undefined): number | undefined;
  /** On this node. */
  reset(): void;
};

const hourMs = 3_600_000;

/** Different cards within a time, by the token that was sent. Who pays with them is no matter: an office shares one address. */
const rules = [
  // For an attacker with many addresses, who needs a new invoice for every three cards. Longer than an invoice's token lives.
  { of: entityIf('invoice'), maxCards: 3, withinMs: 72 * hourMs },
  // The same for a customer's token.
  { of: entityIf('customer'), maxCards: 3, withinMs: 24 * hourMs },
] as const;

/** Far more than the payers of an office or a carrier enter: what the bank declines counts apart. */
const attemptBurst = 120;
const attemptsPerMinute = 60;
const maxNames = 100_000;

export const unlimitedCards: CardTesting = { waitSeconds: () => undefined, reset: () => {} };

export function limitCards(nowMs: () => number): CardTesting {
  const newRate = () => rateLimit({ calls: attemptsPerMinute, everyMs: 60_000 }, attemptBurst, nowMs);
  let attempts = newRate();
  /** The cards seen for each name, the one seen longest ago first. */
  const seen = new Map<string, Map<string, number>>();

  function recentOf(name: string, withinMs: number): Map<string, number> {
    const cards = seen.get(name) ?? new Map<string, number>();
    for (const [card, atMs] of cards) if (nowMs() - atMs >= withinMs) cards.delete(card);
    return cards;
  }

  return {
    reset() {
      attempts = newRate();
      seen.clear();
    },
    waitSeconds(payer, cardHash) {
      const { address } = payer;
      const tooOften = address === undefined ? undefined : attempts.take(networkOf(address));
      if (tooOften !== undefined || !cardHash) return tooOften;
      const card = cardHash.toString('base64');
      const counted = rules.flatMap(({ of, maxCards, withinMs }) => {
        const name = of(payer);
        return name === undefined ? [] : [{ name, maxCards, withinMs, cards: recentOf(name, withinMs) }];
      });
      for (const { cards, maxCards, withinMs } of counted) {
        if (cards.has(card) || cards.size < maxCards) continue;
        const [longestAgoMs = nowMs()] = cards.values();
        return Math.ceil((longestAgoMs + withinMs - nowMs()) / 1000);
      }
      for (const { name, cards } of counted) {
        cards.delete(card);
        cards.set(card, nowMs());
        seen.delete(name);
        seen.set(name, cards);
      }
      forgetBeyond(maxNames, seen);
      return undefined;
    },
  };
}

function entityIf(kind: 'invoice' | 'customer') {
  return (payer: Payer) => (payer.kind === kind ? `${kind} ${payer.entityId}` : undefined);
}

/** A Map keeps the order of setting, so the names that were not seen for longest go first. */
function forgetBeyond(limit: number, names: Map<string, unknown>): void {
  for (const name of names.keys()) {
    if (names.size <= limit) return;
    names.delete(name);
  }
}
