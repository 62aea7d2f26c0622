// Loads what is to be sent from claimed queues. A queue without that is recorded immediately, whatever becomes of the others.
import { laterBy } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Topic } from '../../platform/events/domain/topic.ts';
import { deliverable } from '../domain/queue-rules.ts';
import { messagesFor, type Selection } from '../feed/messages.store.ts';
import { failed, nothingToSend, ownFault, unclaimed, type Item } from './queue-writes.ts';
import type { ClaimedQueue, QueueWrite } from './queues.store.ts';
import type { SendDeps } from './send-head.ts';
import type { WebhookTarget } from './sign-message.ts';

export type LoadDeps = Pick<SendDeps, 'clock' | 'log' | 'targetOf'> & {
  readonly db: Database;
  readonly topics: readonly Topic[];
  readonly delaysSeconds: readonly number[];
};

export async function loadItems(
  claimed: readonly ClaimedQueue[],
  lease: { readonly ms: number; readonly untilMs: number },
  deps: LoadDeps,
  record: (write: QueueWrite) => void,
): Promise<Item[]> {
  const { clock } = deps;
  const targets = await targetsOf(claimed, deps);
  for (const queue of claimed)
    if (targets.get(queue.webhookId) === 'unloadable')
      record(failed(queue, { what: ownFault }, { ...deps, now: clock.now() }));
  const selections = claimed.flatMap((queue) => {
    const target = targets.get(queue.webhookId);
    // The purge deletes the queues of a deleted webhook.
    return target && target !== 'unloadable' ? [{ queue, ...selectionOf(queue, target.webhook) }] : [];
  });
  const lists = await messagesFor(deps.db, deps.topics, selections, clock.now(), (objectId, error) =>
    deps.log.error({ err: error, objectId }, 'webhook events could not be built'),
  );
  const items: Item[] = [];
  for (const [index, { queue }] of selections.entries()) {
    const messages = lists[index];
    const [first, ...others] = messages ?? [];
    if (first) items.push({ queue, messages: [first, ...others], leaseUntilMs: lease.untilMs });
    else record(messages ? nothingToSend(queue) : unclaimed(queue, laterBy(clock.now(), lease.ms)));
  }
  return items;
}

/** A webhook that cannot be loaded must not block the others. */
async function targetsOf(claimed: readonly ClaimedQueue[], { targetOf, log }: LoadDeps) {
  const ids = [...new Set(claimed.map(({ webhookId }) => webhookId))];
  const load = (webhookId: string) =>
    targetOf(webhookId).catch((error: unknown) => {
      log.error({ err: error, webhookId }, 'webhook could not be loaded');
      return 'unloadable' as const;
    });
  return new Map(await Promise.all(ids.map(async (id) => [id, await load(id)] as const)));
}

/** Selects the webhook's event types between the cursor and the end of the queue. */
function selectionOf(
  { aggregateId, cursor }: ClaimedQueue,
  { topic, eventTypes }: WebhookTarget['webhook'],
): Selection {
  return {
    aggregateId,
    topic,
    select: (webhookEvents) =>
      deliverable(
        cursor,
        webhookEvents.filter(({ registeredType }) => eventTypes.includes(registeredType)),
      ),
  };
}
