// Whoever has a list of stolen numbers wants to know which of them still work, and tries them on somebody's payment page.
// So a payer, as far as one can be told from another, may enter a few different cards and then has to wait. A merchant's
// server is not counted: it speaks for many payers, and has limits of its own at the door.
//
// It is kept in the node's memory: the limits are per node and start anew with it. A table would hold them exactly, and
// would itself be worth stealing: it would say who has used which cards.
import { createHash } from 'node:crypto';
import { networkOf } from '../platform/http/request/client-address.ts';
import { rateLimit } from '../platform/http/request/rate-limit.ts';

export type Payer = {
  readonly address: string;
  /** What the browser says of itself. */
  readonly fingerprint: string;
  /** The invoice or customer whose access token was sent. */
  readonly kind: string;
  readonly entityId: string;
};

export type CardTesting = {
  /** The seconds to wait, or undefined: then the card counts. Without a card it is only an attempt. */
  waitSeconds(payer: Payer, cardHash: Buffer | undefined): number | undefined;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Different cards within a time, for each thing a payer is told by. */
const rules = [
  // Whoever writes the requests himself can make up everything else, but not where they come from.
  { of: networkIn, maxCards: 3, withinMs: 10 * minuteMs },
  // Whoever tries by hand on the page, slowly enough for the rule above. Only at one network: a browser says what kind it is,
  // so that strangers with the same telephone would make each other wait, and an attacker whomever he likes.
  {
    of: (payer: Payer) => `browser ${shortened(payer.fingerprint)} at ${networkIn(payer)}`,
    maxCards: 5,
    withinMs: hourMs,
  },
  // Whoever has many addresses: he needs a new invoice for every three cards. Longer than its token lives.
  { of: entityIf('invoice'), maxCards: 3, withinMs: 72 * hourMs },
  // The same, where a customer's token is what he has.
  { of: entityIf('customer'), maxCards: 3, withinMs: 24 * hourMs },
] as const;

const attemptsAtOnce = 10;
const attemptsPerMinute = 1;
const maxNames = 100_000;

export const unlimitedCards: CardTesting = { waitSeconds: () => undefined };

export function limitCards(nowMs: () => number): CardTesting {
  const attempts = rateLimit(attemptsPerMinute / 60, attemptsAtOnce, nowMs);
  /** By what a payer is told by: the cards, the one seen longest ago first. */
  const seen = new Map<string, Map<string, number>>();

  function recentOf(name: string, withinMs: number): Map<string, number> {
    const cards = seen.get(name) ?? new Map<string, number>();
    for (const [card, atMs] of cards) if (nowMs() - atMs >= withinMs) cards.delete(card);
    return cards;
  }

  return {
    waitSeconds(payer, cardHash) {
      const tooOften = attempts.take(networkOf(payer.address));
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

function networkIn(payer: Payer): string {
  return `address ${networkOf(payer.address)}`;
}

function entityIf(kind: 'invoice' | 'customer') {
  return (payer: Payer) => (payer.kind === kind ? `${kind} ${payer.entityId}` : undefined);
}

/** A browser may say much about itself, and it is kept in memory. */
function shortened(fingerprint: string): string {
  return createHash('sha256').update(fingerprint).digest('base64').slice(0, 22);
}

/** A Map is in the order of setting: what goes is what has not been seen for longest. */
function forgetBeyond(most: number, names: Map<string, unknown>): void {
  for (const name of names.keys()) {
    if (names.size <= most) return;
    names.delete(name);
  }
}
