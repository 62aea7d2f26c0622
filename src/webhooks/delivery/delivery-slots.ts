// What a node has in hand, and whose turn it is: each webhook has a few places to send from, fewer while it only fails, and
// never more than its share of all there are. Some places are kept for webhooks that have nothing under way, so that any
// number of slow receivers leaves room for a quick one.

export type DeliverySlots<Item> = {
  /** Something to send, after what is waiting already. */
  enqueue(webhookId: string, item: Item): void;
  /** Whose turn it is, with a place taken for it; undefined while nobody may send more. */
  next(): { readonly webhookId: string; readonly item: Item } | undefined;
  /** The place is free again. What was not sent at all says nothing about the receiver. */
  free(webhookId: string, outcome: 'delivered' | 'failed' | 'notSent'): void;
  /** How much more is wanted: in all, of a webhook that has nothing in hand, and of those that have. */
  demand(): {
    readonly limit: number;
    readonly limitEach: number;
    readonly held: readonly { readonly webhook_id: string; readonly free: number }[];
  };
  /** Whether the webhook could send soon what it has not got. */
  isRunningLow(webhookId: string): boolean;
  /** All that is waiting, no longer in hand. */
  giveUp(): Item[];
};

type Hand<Item> = {
  waiting: Item[];
  underWay: number;
  failuresInARow: number;
  /** How much it may have waiting follows what it has lately sent in a second. */
  recent: { second: number; sent: number };
};

const placesPerWebhook = 10;
/** For a receiver that has failed this often in a row, until it answers. */
const placesWhenFailing = 2;
const maxFailuresInARow = 10;
const maxUnderWay = 1_000;
/** Beyond those, for webhooks with nothing under way. */
const placesKept = 200;
const maxInHand = 400;
const wantedAtOnce = 400;

export function openHands<Item>(): DeliverySlots<Item> {
  const slots = new Map<string, Hand<Item>>();
  /** Who may have something to send and a place for it; the one who waits longest first. */
  const turns = new Set<string>();
  let underWay = 0;
  /** Webhooks with anything in hand. */
  let busy = 0;

  function handOf(webhookId: string): Hand<Item> {
    const known = slots.get(webhookId);
    if (known) return known;
    const fresh = { waiting: [], underWay: 0, failuresInARow: 0, recent: { second: 0, sent: 0 } };
    slots.set(webhookId, fresh);
    return fresh;
  }

  function shareAmong(webhooks: number): number {
    return Math.min(placesPerWebhook, Math.max(1, Math.floor(maxUnderWay / Math.max(1, webhooks))));
  }

  function parameterList(hand: Hand<Item>): number {
    const share = shareAmong(busy);
    return isFailing(hand) ? Math.min(placesWhenFailing, share) : share;
  }

  return {
    enqueue(webhookId, item) {
      const hand = handOf(webhookId);
      if (loadOf(hand) === 0) busy += 1;
      hand.waiting.push(item);
      turns.add(webhookId);
    },

    next() {
      for (const webhookId of turns) {
        if (underWay >= maxUnderWay + placesKept) return undefined;
        const hand = handOf(webhookId);
        if (hand.waiting.length === 0 || hand.underWay >= parameterList(hand)) {
          // It is back when a place of its own is free, or when it has more.
          turns.delete(webhookId);
          continue;
        }
        if (underWay >= maxUnderWay && hand.underWay > 0) continue;
        const [item] = hand.waiting.splice(0, 1);
        if (item === undefined) continue;
        turns.delete(webhookId);
        turns.add(webhookId);
        hand.underWay += 1;
        underWay += 1;
        return { webhookId, item };
      }
      return undefined;
    },

    free(webhookId, outcome) {
      const hand = handOf(webhookId);
      hand.underWay -= 1;
      underWay -= 1;
      if (outcome !== 'notSent') count(hand, outcome === 'delivered');
      turns.add(webhookId);
      if (loadOf(hand) > 0) return;
      busy -= 1;
      if (hand.failuresInARow === 0) slots.delete(webhookId);
      turns.delete(webhookId);
    },

    demand() {
      const isFull = underWay >= maxUnderWay;
      const held = [...slots].flatMap(([webhook_id, hand]) => {
        if (loadOf(hand) === 0 && !isFailing(hand)) return [];
        const limit = Math.min(maxInHand, Math.max(2 * parameterList(hand), Math.floor(hand.recent.sent)));
        return [{ webhook_id, free: isFull ? 0 : Math.max(0, limit - loadOf(hand)) }];
      });
      return {
        limit: Math.max(0, Math.min(wantedAtOnce, maxUnderWay + placesKept - underWay)),
        limitEach: isFull ? 1 : 2 * shareAmong(busy),
        held: isFull ? held.filter(({ webhook_id }) => loadOf(handOf(webhook_id)) > 0) : held,
      };
    },

    isRunningLow(webhookId) {
      const hand = slots.get(webhookId);
      return hand === undefined || hand.waiting.length < parameterList(hand);
    },

    giveUp() {
      const left = [...slots.values()].flatMap((hand) => hand.waiting.splice(0));
      turns.clear();
      return left;
    },
  };
}

function loadOf<Item>(hand: Hand<Item>): number {
  return hand.waiting.length + hand.underWay;
}

function isFailing<Item>(hand: Hand<Item>): boolean {
  return hand.failuresInARow >= maxFailuresInARow;
}

function count<Item>(hand: Hand<Item>, isDelivered: boolean): void {
  hand.failuresInARow = isDelivered ? 0 : hand.failuresInARow + 1;
  const second = Math.floor(performance.now() / 1_000);
  if (hand.recent.second !== second)
    hand.recent = { second, sent: hand.recent.second === second - 1 ? hand.recent.sent / 2 : 0 };
  hand.recent.sent += 1;
}
