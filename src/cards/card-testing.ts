// Limits card testing: a payer may enter a few different cards and then waits, while the request pipeline limits merchants' servers.
// Counts are per node and in memory, because a table of who used which cards would be worth stealing.
import { createHash } from 'node:crypto';
import { networkOf } from '../platform/http/request/client-address.ts';
import { rateLimit } from '../platform/http/request/rate-limit.ts';

export type Payer = {
  readonly address: string;
  /** What the browser says about itself. */
  readonly fingerprint: string;
  /** The invoice or customer whose access token was sent. */
  readonly kind: string;
  readonly entityId: string;
};

export type CardTesting = {
  /** The seconds to wait; if undefined, the card counts. Without a card it is only an attempt. */
  waitSeconds(payer: Payer, cardHash: Buffer | undefined): number | undefined;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Different cards within a time, for each way to recognise a payer. */
const rules = [
  // A client that writes its own requests can invent everything except its address.
  { of: networkIn, maxCards: 3, withinMs: 10 * minuteMs },
  // For an attacker who tries by hand on the page, slowly enough for the rule above. It applies per network, because the same kind of
  // browser has the same fingerprint for strangers.
  {
    of: (payer: Payer) => `browser ${shortened(payer.fingerprint)} at ${networkIn(payer)}`,
    maxCards: 5,
    withinMs: hourMs,
  },
  // For an attacker with many addresses, who needs a new invoice for every three cards. Longer than an invoice's token lives.
  { of: entityIf('invoice'), maxCards: 3, withinMs: 72 * hourMs },
  // The same for a customer's token.
  { of: entityIf('customer'), maxCards: 3, withinMs: 24 * hourMs },
] as const;

const attemptBurst = 10;
const attemptsPerMinute = 1;
const maxNames = 100_000;

export const unlimitedCards: CardTesting = { waitSeconds: () => undefined };

export function limitCards(nowMs: () => number): CardTesting {
  const attempts = rateLimit(attemptsPerMinute / 60, attemptBurst, nowMs);
  /** The cards seen for each name, the one seen longest ago first. */
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

/** A fingerprint may be long, and it is kept in memory. */
function shortened(fingerprint: string): string {
  return createHash('sha256').update(fingerprint).digest('base64').slice(0, 22);
}

/** A Map keeps the order of setting, so the names that were not seen for longest go first. */
function forgetBeyond(limit: number, names: Map<string, unknown>): void {
  for (const name of names.keys()) {
    if (names.size <= limit) return;
    names.delete(name);
  }
}
