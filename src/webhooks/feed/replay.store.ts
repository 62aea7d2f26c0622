// Replays a period of the log: queues with events in it are rewound to its start and continue where they were after it.
// Waiting events stay in order, and parked queues are resumed.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { anything, list } from '../../platform/database/codec.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { maxWebhookEventsPerEvent, type Topic } from '../../platform/events/domain/topic.ts';
import { positionsPerChunk } from './message.ts';
import { matches, type Webhook } from '../domain/webhook.ts';

const readStretch = statement({
  name: 'read_replayed_stretch',
  parameters: {
    webhook_id: 'text',
    party_id: 'text',
    aggregate: 'text',
    since: 'timestamptz',
    until: 'timestamptz',
    after: 'text',
    limit: 'int4',
  },
  row: {
    aggregate_id: 'text',
    first_sequence: 'int4',
    last_sequence: 'int4',
    newest_sequence: 'int4?',
    first_facts: stored('json', list(anything)),
    facts: stored('json', list(list(anything))),
  },
  // The newest event that the feed has read, or that is older than the webhook. Later events arrive through the feed, and
  // must not count as sent.
  text: `
    select stretch.aggregate_id, first_sequence, last_sequence,
      (select max(sequence) from event, webhook, webhook_feed
       where event.aggregate_id = stretch.aggregate_id and webhook_id = :webhook_id
         and (pg_visible_in_snapshot(event.written_in, seen::pg_snapshot)
              or pg_visible_in_snapshot(event.written_in,
                   coalesce(created_snapshot, format('%1$s:%1$s:', webhook.written_in::text::numeric + 1))::pg_snapshot))
      ) as newest_sequence,
      first.facts as first_facts, stretch.facts
    from (
      select aggregate_id, min(sequence) as first_sequence, max(sequence) as last_sequence, json_agg(facts) as facts
      from event
      where created_at >= :since and created_at < :until and party_id = :party_id and aggregate = :aggregate
        and aggregate_id > :after
      group by aggregate_id order by aggregate_id limit :limit
    ) as stretch
    join event as first on first.aggregate_id = stretch.aggregate_id and first.sequence = 1
    order by stretch.aggregate_id`,
});

const rewindQueues = statement({
  name: 'rewind_webhook_queues',
  parameters: { webhook_id: 'text', stretches: 'json', now: 'timestamptz' },
  row: { aggregate_id: 'text' },
  text: `
    insert into webhook_queue as queue (aggregate_id, webhook_id, next_position, last_position, replay_until, resume_at,
      waiting_since, wake_at)
    select aggregate_id, :webhook_id, first, newest, least(last, newest), newest + 1, :now, :now
    from json_to_recordset(:stretches) as stretch (aggregate_id text, first bigint, last bigint, newest bigint)
    order by aggregate_id
    on conflict (aggregate_id, webhook_id) do update
      set next_position = least(queue.next_position, excluded.next_position),
          replay_until = case
            when excluded.next_position >= coalesce(queue.resume_at, queue.next_position) then queue.replay_until
            else greatest(queue.replay_until,
                          least(excluded.replay_until, coalesce(queue.resume_at, queue.next_position) - 1)) end,
          resume_at = case
            when excluded.next_position >= coalesce(queue.resume_at, queue.next_position) then queue.resume_at
            else coalesce(queue.resume_at, queue.next_position) end,
          -- Tells the node that has claimed the queue that it was rewound.
          rewinds = queue.rewinds + case
            when excluded.next_position >= coalesce(queue.resume_at, queue.next_position) then 0 else 1 end,
          waiting_since = coalesce(queue.waiting_since, excluded.waiting_since),
          wake_at = coalesce(queue.wake_at, excluded.wake_at),
          attempts = case when queue.stuck_at is null then queue.attempts else 0 end,
          stuck_at = null, stuck_reason = null
      returning aggregate_id`,
});

const readCursor = statement({
  name: 'read_replay_cursor',
  parameters: { party_id: 'text', base: 'int8', index: 'int4' },
  row: { created_at: 'timestamptz' },
  text: `select created_at from webhook_event_number as numbers
         join event on event.aggregate_id = numbers.aggregate_id and event.sequence = numbers.chunk * 64 + :index
         where base = :base and party_id = :party_id`,
});

const aggregatesAtOnce = 500;

/** Returns the number of queues with webhook events to replay. Repeating it only sends them again. */
export async function rewind(
  db: Database,
  webhook: Webhook,
  topic: Topic,
  stretch: { readonly since: Instant; readonly until: Instant; readonly now: Instant },
  reportUnreadable: (aggregateId: string, error: unknown) => void,
): Promise<number> {
  const { since, until, now } = stretch;
  let queues = 0;
  for (let after = ''; ;) {
    const rows = await db.run(readStretch, {
      webhook_id: webhook.id,
      party_id: webhook.partyId,
      aggregate: topic.aggregate,
      since,
      until,
      after,
      limit: aggregatesAtOnce,
    });
    const stretches = rows.flatMap((row) => {
      const { aggregate_id, first_sequence, last_sequence, newest_sequence } = row;
      if (newest_sequence === null || newest_sequence < first_sequence) return [];
      try {
        if (!matches(webhook, topic.ownersOf(row.first_facts))) return [];
        const types = row.facts.flatMap((facts) => topic.typesOf(facts));
        if (!types.some((type) => webhook.eventTypes.includes(type))) return [];
      } catch (error) {
        reportUnreadable(aggregate_id, error);
        return [];
      }
      const first = first_sequence * maxWebhookEventsPerEvent;
      return [{ aggregate_id, first, last: endOf(last_sequence), newest: endOf(newest_sequence) }];
    });
    if (stretches.length > 0) {
      const moved = await db.run(rewindQueues, { webhook_id: webhook.id, stretches, now });
      queues += moved.length;
    }
    const last = rows.at(-1);
    if (!last || rows.length < aggregatesAtOnce) return queues;
    after = last.aggregate_id;
  }
}

/** The time of the event with that number; undefined when the party has no such event. */
export async function timeOfEvent(
  db: Database,
  partyId: string,
  eventId: number,
): Promise<Instant | undefined> {
  const base = BigInt(Math.floor(eventId / positionsPerChunk));
  const index = Math.floor((eventId % positionsPerChunk) / maxWebhookEventsPerEvent);
  const [row] = await db.run(readCursor, { party_id: partyId, base, index });
  return row?.created_at;
}

function endOf(sequence: number): number {
  return sequence * maxWebhookEventsPerEvent + maxWebhookEventsPerEvent - 1;
}
