// Who wants to be told of what is new: events become moves of queues, by topic, owner and the types a webhook has.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { positionOf, type Topic } from '../events/topic.ts';
import { lookOnce, type NewEvent, type QueueMove } from './feed.store.ts';
import { findWebhooks, type StoredWebhook } from './webhook.store.ts';
import { concerns } from './webhook.ts';

export function routeOnce(
  db: Database,
  topics: readonly Topic[],
  now: Instant,
): Promise<{ moved: number; more: boolean } | undefined> {
  return lookOnce(db, now, async (events, tx) => {
    const partyIds = [...new Set(events.map(({ partyId }) => partyId))];
    const webhooks = partyIds.length === 0 ? [] : await findWebhooks(tx, partyIds);
    return movesOf(events, webhooks, topics);
  });
}

/** The stretch of positions each queue has to reach. */
function movesOf(
  events: readonly NewEvent[],
  webhooks: readonly StoredWebhook[],
  topics: readonly Topic[],
): QueueMove[] {
  const moves = new Map<string, QueueMove>();
  for (const event of events) {
    for (const topic of topics.filter(({ aggregate }) => aggregate === event.aggregate)) {
      const types = topic.typesOf(event.facts);
      if (types.length === 0) continue;
      const owners = topic.ownersOf(event.firstFacts);
      for (const { webhook, writtenIn } of webhooks) {
        if (webhook.partyId !== event.partyId || webhook.topic !== topic.name) continue;
        if (event.writtenIn <= writtenIn || !concerns(webhook, owners)) continue;
        types.forEach((type, place) => {
          if (!webhook.eventTypes.includes(type)) return;
          extend(moves, event.aggregateId, webhook.id, positionOf({ sequence: event.sequence, place }));
        });
      }
    }
  }
  return [...moves.values()];
}

function extend(
  moves: Map<string, QueueMove>,
  aggregate_id: string,
  webhook_id: string,
  position: number,
): void {
  const name = `${aggregate_id} ${webhook_id}`;
  const known = moves.get(name);
  moves.set(name, {
    aggregate_id,
    webhook_id,
    first_position: Math.min(known?.first_position ?? position, position),
    last_position: Math.max(known?.last_position ?? position, position),
  });
}
