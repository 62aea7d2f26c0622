// Turns new events into queue moves, by the topic, owner and event types of each webhook.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { positionOf, type Topic } from '../../platform/events/domain/topic.ts';
import { pollOnce, type NewEvent, type QueueMove } from './feed.store.ts';
import { shows } from '../domain/snapshot.ts';
import { findWebhooks, type StoredWebhook } from '../registration/webhooks.store.ts';
import { matches } from '../domain/webhook.ts';

/** Called for each aggregate whose log cannot be read. */
type ReportUnreadable = (aggregateId: string, error: unknown) => void;

export function fanOutOnce(
  db: Database,
  topics: readonly Topic[],
  now: Instant,
  reportUnreadable: ReportUnreadable,
): Promise<{ moved: number; more: boolean } | undefined> {
  return pollOnce(db, now, async (events, tx) => {
    const partyIds = [...new Set(events.map(({ partyId }) => partyId))];
    const webhooks = partyIds.length === 0 ? [] : await findWebhooks(tx, partyIds);
    return byAggregate(events).flatMap(([aggregateId, ofOne]) => {
      // One unreadable log must not block the webhook events of others.
      try {
        return movesOf(ofOne, webhooks, topics);
      } catch (error) {
        reportUnreadable(aggregateId, error);
        return [];
      }
    });
  });
}

function byAggregate(events: readonly NewEvent[]): [string, NewEvent[]][] {
  const groups = new Map<string, NewEvent[]>();
  for (const event of events) {
    const known = groups.get(event.aggregateId);
    if (known) known.push(event);
    else groups.set(event.aggregateId, [event]);
  }
  return [...groups];
}

/** The range of new positions for each queue of an aggregate. */
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
      for (const { webhook, createdSnapshot } of webhooks) {
        if (webhook.partyId !== event.partyId || webhook.topic !== topic.name) continue;
        if (shows(createdSnapshot, event.writtenIn) || !matches(webhook, owners)) continue;
        types.forEach((type, index) => {
          if (!webhook.eventTypes.includes(type)) return;
          const position = positionOf({ sequence: event.sequence, index });
          const known = moves.get(webhook.id);
          moves.set(webhook.id, {
            aggregate_id: event.aggregateId,
            webhook_id: webhook.id,
            first_position: Math.min(known?.first_position ?? position, position),
            last_position: Math.max(known?.last_position ?? position, position),
          });
        });
      }
    }
  }
  return [...moves.values()];
}
