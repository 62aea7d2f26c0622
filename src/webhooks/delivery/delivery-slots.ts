// The delivery slots of a node, and the webhook whose turn it is. Each webhook has a few slots, fewer while it only fails, and never
// more than its share. Some slots are reserved for webhooks with nothing in progress, so that slow receivers leave room for quick ones.

export type DeliverySlots<Item> = {
  /** Goes behind what is waiting already. */
  enqueue(webhookId: string, item: Item): void;
  /** Takes a slot for the webhook whose turn it is; undefined while none may send more. */
  next(): { readonly webhookId: string; readonly item: Item } | undefined;
  /** Frees a slot. What was not sent at all says nothing about the receiver. */
  free(webhookId: string, outcome: 'delivered' | 'failed' | 'notSent'): void;
  /** How much more to claim: in all, of a webhook with nothing to send here, and of those that have. */
  demand(): {
    readonly limit: number;
    readonly limitEach: number;
    readonly busy: readonly { readonly webhook_id: string; readonly free: number }[];
  };
  /** Whether the webhook has fewer waiting than it could soon send. */
  isRunningLow(webhookId: string): boolean;
  drain(): Item[];
};

type WebhookSlots<Item> = {
  waiting: Item[];
  inUse: number;
  failuresInARow: number;
  /** How much may wait follows what was lately sent in a second. */
  recent: { second: number; sent: number };
};

const slotsPerWebhook = 10;
/** For a receiver that has failed this often in a row, until it answers. */
const slotsWhenFailing = 2;
const maxFailuresInARow = 10;
const sharedSlots = 1_000;
/** Beyond those, for webhooks with nothing in progress. */
const reservedSlots = 200;
const maxWaiting = 400;
const maxDemand = 400;

export function openDeliverySlots<Item>(): DeliverySlots<Item> {
  const webhooks = new Map<string, WebhookSlots<Item>>();
  /** Webhooks that may have something to send and a free slot, the one that waits longest first. */
  const turns = new Set<string>();
  let inUse = 0;
  let busyCount = 0;

  function slotsOf(webhookId: string): WebhookSlots<Item> {
    const known = webhooks.get(webhookId);
    if (known) return known;
    const fresh = { waiting: [], inUse: 0, failuresInARow: 0, recent: { second: 0, sent: 0 } };
    webhooks.set(webhookId, fresh);
    return fresh;
  }

  function shareAmong(count: number): number {
    return Math.min(slotsPerWebhook, Math.max(1, Math.floor(sharedSlots / Math.max(1, count))));
  }

  function maxSlots(webhook: WebhookSlots<Item>): number {
    const share = shareAmong(busyCount);
    return isFailing(webhook) ? Math.min(slotsWhenFailing, share) : share;
  }

  return {
    enqueue(webhookId, item) {
      const webhook = slotsOf(webhookId);
      if (loadOf(webhook) === 0) busyCount += 1;
      webhook.waiting.push(item);
      turns.add(webhookId);
    },

    next() {
      for (const webhookId of turns) {
        if (inUse >= sharedSlots + reservedSlots) return undefined;
        const webhook = slotsOf(webhookId);
        if (webhook.waiting.length === 0 || webhook.inUse >= maxSlots(webhook)) {
          // It is back when one of its slots is free, or when it has more.
          turns.delete(webhookId);
          continue;
        }
        if (inUse >= sharedSlots && webhook.inUse > 0) continue;
        const [item] = webhook.waiting.splice(0, 1);
        if (item === undefined) continue;
        turns.delete(webhookId);
        turns.add(webhookId);
        webhook.inUse += 1;
        inUse += 1;
        return { webhookId, item };
      }
      return undefined;
    },

    free(webhookId, outcome) {
      const webhook = slotsOf(webhookId);
      webhook.inUse -= 1;
      inUse -= 1;
      if (outcome !== 'notSent') count(webhook, outcome === 'delivered');
      turns.add(webhookId);
      if (loadOf(webhook) > 0) return;
      busyCount -= 1;
      if (webhook.failuresInARow === 0) webhooks.delete(webhookId);
      turns.delete(webhookId);
    },

    demand() {
      const isFull = inUse >= sharedSlots;
      const busy = [...webhooks].flatMap(([webhook_id, webhook]) => {
        if (loadOf(webhook) === 0 && !isFailing(webhook)) return [];
        const limit = Math.min(maxWaiting, Math.max(2 * maxSlots(webhook), Math.floor(webhook.recent.sent)));
        return [{ webhook_id, free: isFull ? 0 : Math.max(0, limit - loadOf(webhook)) }];
      });
      return {
        limit: Math.max(0, Math.min(maxDemand, sharedSlots + reservedSlots - inUse)),
        limitEach: isFull ? 1 : 2 * shareAmong(busyCount),
        busy: isFull ? busy.filter(({ webhook_id }) => loadOf(slotsOf(webhook_id)) > 0) : busy,
      };
    },

    isRunningLow(webhookId) {
      const webhook = webhooks.get(webhookId);
      return webhook === undefined || webhook.waiting.length < maxSlots(webhook);
    },

    drain() {
      const left = [...webhooks.values()].flatMap((webhook) => webhook.waiting.splice(0));
      turns.clear();
      return left;
    },
  };
}

function loadOf<Item>(webhook: WebhookSlots<Item>): number {
  return webhook.waiting.length + webhook.inUse;
}

function isFailing<Item>(webhook: WebhookSlots<Item>): boolean {
  return webhook.failuresInARow >= maxFailuresInARow;
}

function count<Item>(webhook: WebhookSlots<Item>, isDelivered: boolean): void {
  webhook.failuresInARow = isDelivered ? 0 : webhook.failuresInARow + 1;
  const second = Math.floor(performance.now() / 1_000);
  if (webhook.recent.second !== second)
    webhook.recent = { second, sent: webhook.recent.second === second - 1 ? webhook.recent.sent / 2 : 0 };
  webhook.recent.sent += 1;
}
