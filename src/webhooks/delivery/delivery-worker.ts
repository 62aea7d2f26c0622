// Delivers webhook events: a node claims queues for a lease, sends the head of each and stores the result.
// Only then does it send the next event, so delivery is in order within a queue and parallel between queues.
import { openLoop } from '../../platform/jobs/loop.ts';
import { logFailure } from '../../platform/jobs/outages.ts';
import { openDeliverySlots } from './delivery-slots.ts';
import { loadItems, type LoadDeps } from './load-items.ts';
import { openOutcomeWriter, type OutcomeDeps } from './outcome-writer.ts';
import { afterAttempt, restOf, unclaimed, type Item } from './queue-writes.ts';
import { claim, type QueueWrite } from './queues.store.ts';
import { sendHead, type SendDeps } from './send-head.ts';

export type DeliveryWorker = ReturnType<typeof openDeliveryWorker>;

/** How often due queues of other nodes are claimed. */
const claimEveryMs = 1_000;

export type DeliveryOptions = LoadDeps & SendDeps & OutcomeDeps & { readonly timeoutMs: number };

export function openDeliveryWorker(options: DeliveryOptions) {
  const { db, clock, log, timeoutMs } = options;
  /** Long enough for a slow receiver, after waiting for a slot. */
  const leaseMs = 3 * timeoutMs;
  /** The part of the lease for the work around the exchange and for clock differences. */
  const spareMs = leaseMs / 6;
  const slots = openDeliverySlots<Item>();
  const record = openOutcomeWriter(options);
  const loop = openLoop(claimDue, (error) =>
    logFailure(log, error, {}, 'webhook queues could not be claimed'),
  );
  let turn = 0;

  const isLeasedFor = (item: Item, ms: number): boolean => item.leaseUntilMs - performance.now() >= ms;
  const recordLater = (entry: QueueWrite): void => loop.attend(record(entry));
  const unclaim = ({ queue }: Item): void => recordLater(unclaimed(queue, clock.now()));

  async function claimDue(): Promise<void> {
    const bounds = slots.demand();
    if (bounds.limit === 0) return;
    const untilMs = performance.now() + leaseMs;
    turn = (turn + 1) % 1_000_000;
    const queues = await claim(db, clock.now(), { ...bounds, leaseMs, turn });
    if (queues.length === 0) return;
    const items = await loadItems(queues, { ms: leaseMs, untilMs }, options, recordLater);
    for (const item of items) slots.enqueue(item.queue.webhookId, item);
    pump();
    if (queues.length === bounds.limit) loop.wake();
  }

  /** Sends claimed items while slots are free. */
  function pump(): void {
    while (!loop.isStopping()) {
      const next = slots.next();
      if (!next) return;
      if (isLeasedFor(next.item, timeoutMs + spareMs)) loop.attend(send(next.item));
      else {
        // The lease could end before the receiver responds, so another node may deliver it.
        slots.free(next.webhookId, 'notSent');
        unclaim(next.item);
      }
    }
  }

  function refill(webhookId: string): void {
    pump();
    if (slots.isRunningLow(webhookId)) loop.wakeSoon();
  }

  async function send(item: Item): Promise<void> {
    const { webhookId } = item.queue;
    const sent = await sendHead(item, () => isLeasedFor(item, timeoutMs + spareMs / 2), options);
    if (sent === 'leaseOver') unclaim(item);
    // Another delivery may use the slot while the outcome is written.
    const outcome = typeof sent === 'string' ? 'notSent' : sent.attempt.failure ? 'failed' : 'delivered';
    slots.free(webhookId, outcome);
    refill(webhookId);
    if (typeof sent === 'string') return;
    const leaseUntilMs = performance.now() + leaseMs;
    const entry = afterAttempt(item, sent, { ...options, now: clock.now(), leaseMs });
    const rest = (await record(entry)) && restOf(item, entry, leaseUntilMs);
    if (rest) slots.enqueue(webhookId, rest);
    refill(webhookId);
  }

  return {
    start() {
      loop.every(claimEveryMs, loop.wake);
      loop.wake();
    },
    wake: loop.wake,
    whenIdle: loop.whenIdle,
    /** Unclaims the queues that are not being delivered. */
    async stop() {
      await loop.stop();
      slots.drain().forEach(unclaim);
      await loop.whenIdle();
    },
  };
}
