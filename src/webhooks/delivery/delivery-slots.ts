// Shares a node's delivery slots among webhooks: a few each, fewer while a webhook only fails.
// Some slots are reserved for webhooks with nothing in progress, so that slow receivers cannot block fast ones.

export type DeliverySlots<Item> = {
  /** Adds an item to the end of the webhook's queue. */
  enqueue(webhookId: string, item: Item): void;
  /** Takes a slot for the next webhook in turn; undefined while none may send more. */
  next(): { readonly webhookId: string; readonly item: Item } | undefined;
  /** Frees a slot. `notSent` does not count for or against the receiver. */
  free(webhookId: string, outcome: 'delivered' | 'failed' | 'notSent'): void;
  /** How many queues to claim: in all, per webhook with nothing here, and per busy webhook. */
  demand(): {
    readonly limit: number;
    readonly limitEach: number;
    readonly busy: readonly { readonly webhook_id: string; readonly free: number }[];
  };
  /** True when the webhook has fewer items waiting than slots. */
  isRunningLow(webhookId: string): boolean;
  drain(): Item[];
};

type WebhookSlots<Item> = {
  waiting: Item[];
  inUse: number;
  failuresInARow: number;
  /** Deliveries per second; they decide how many items may wait. */
  recent: { second: number; sent: number };
};

const slotsPerWebhook = 10;
/** For a receiver with `maxFailuresInARow` failures, until a delivery succeeds. */
const slotsWhenFailing = 2;
const maxFailuresInARow = 10;
const sharedSlots = 1_000;
/** In addition to the shared slots, for webhooks with nothing in progress. */
const reservedSlots = 200;
const maxWaiting = 400;
const maxDemand = 400;

export function openDeliverySlots<Item>(): DeliverySlots<Item> {
  const webhooks = new Map<string, WebhookSlots<Item>>();
  /** Webhooks that may have an item and a free slot, longest waiting first. */
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
          // The webhook returns when it frees a slot or gets an item.
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
