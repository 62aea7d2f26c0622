// Reads the event log as one stream; the cursor is a snapshot, because transactions do not commit in order.
// One node at a time reads, and moves the queues in the same transaction, so that a crash loses and repeats nothing.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { anything, list } from '../../platform/database/codec.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { unseenEvents } from '../../platform/events/unseen.ts';
import { snapshotBefore, transactionsBetween } from '../domain/snapshot.ts';

const lockFeed = statement({
  name: 'lock_webhook_feed',
  parameters: {},
  row: { seen: 'text', mismatch_since: 'timestamptz?' },
  text: 'select seen, mismatch_since from webhook_feed for update skip locked',
});

const markMismatch = statement({
  name: 'mark_cluster_mismatch',
  parameters: { now: 'timestamptz' },
  row: {},
  text: 'update webhook_feed set mismatch_since = :now where mismatch_since is null',
});

const readFeed = statement({
  name: 'read_webhook_feed',
  parameters: {},
  row: { is_mismatch: 'bool', oldest: 'timestamptz?' },
  text: `select mismatch_since is not null as is_mismatch,
           (select created_at from event
            where written_in >= pg_snapshot_xmin(seen::pg_snapshot)
              and not pg_visible_in_snapshot(written_in, seen::pg_snapshot)
              and exists (select from webhook where webhook.party_id = event.party_id)
            order by written_in limit 1) as oldest
         from webhook_feed`,
});

const moveFeed = statement({
  name: 'move_webhook_feed',
  parameters: { seen: 'text' },
  row: {},
  text: 'update webhook_feed set seen = :seen',
});

const readNow = statement({
  name: 'read_snapshot',
  parameters: {},
  row: { snapshot: 'text' },
  text: 'select pg_current_snapshot()::text as snapshot',
});

/** Facts of any module; their topic reads them. */
const facts = list(anything);

/**
 * Returns at least one row. It includes all new events of the aggregates it finds, to keep their order, and their first
 * facts, which name the owner.
 */
const readNewEvents = statement({
  name: 'read_new_events',
  parameters: { seen: 'text', limit: 'int4', party_id: 'text?' },
  row: {
    snapshot: 'text',
    is_behind: 'bool',
    found: 'int8',
    found_until: 'text?',
    aggregate_id: 'text?',
    aggregate: 'text?',
    party_id: 'text?',
    sequence: 'int4?',
    written_in: 'text?',
    facts: stored('json?', facts),
    first_facts: stored('json?', facts),
  },
  text: `
    with found as materialized (${unseenEvents({
      columns: 'aggregate_id',
      where: `case when :party_id is null
                 then exists (select from webhook where webhook.party_id = event.party_id)
                 else event.party_id = :party_id end`,
    })}
    ), reached as (
      select count(*) as found, max(written_in) as until from found
    )
    select pg_current_snapshot()::text as snapshot,
      pg_snapshot_xmax((:seen)::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) as is_behind,
      reached.found, reached.until::text as found_until,
      fresh.aggregate_id, fresh.aggregate, fresh.party_id, fresh.sequence, fresh.written_in::text as written_in,
      fresh.facts, fresh.first_facts
    from reached left join lateral (
      select event.aggregate_id, event.aggregate, event.party_id, event.sequence, event.written_in, event.facts,
        first.facts as first_facts
      from (select distinct aggregate_id from found) as touched
      join event on event.aggregate_id = touched.aggregate_id
        and not pg_visible_in_snapshot(event.written_in, (:seen)::pg_snapshot)
      join event as first on first.aggregate_id = event.aggregate_id and first.sequence = 1
    ) as fresh on true
    order by fresh.aggregate_id, fresh.sequence`,
});

const moveQueues = statement({
  name: 'move_webhook_queues',
  parameters: { queues: 'json', now: 'timestamptz' },
  row: {},
  // A parked queue, or one without new positions, is not woken.
  text: `
    insert into webhook_queue as queue
      (aggregate_id, webhook_id, next_position, last_position, waiting_since, wake_at)
    select aggregate_id, webhook_id, first_position, last_position, :now, :now
    from json_to_recordset(:queues) as fresh
      (aggregate_id text, webhook_id text, first_position bigint, last_position bigint)
    order by aggregate_id, webhook_id
    on conflict (aggregate_id, webhook_id) do update
      set last_position = greatest(queue.last_position, excluded.last_position),
          waiting_since = case when excluded.last_position >= queue.next_position
                               then coalesce(queue.waiting_since, excluded.waiting_since) else queue.waiting_since end,
          wake_at = case when queue.stuck_at is null and excluded.last_position >= queue.next_position
                         then coalesce(queue.wake_at, excluded.wake_at) else queue.wake_at end`,
});

export type NewEvent = {
  readonly aggregateId: string;
  readonly aggregate: string;
  readonly partyId: string;
  readonly sequence: number;
  readonly writtenIn: bigint;
  readonly facts: readonly unknown[];
  readonly firstFacts: readonly unknown[];
};

export type NewEvents = {
  readonly events: readonly NewEvent[];
  readonly seen: string;
  readonly more: boolean;
};

/**
 * The log was written in another PostgreSQL cluster, so its transaction numbers mean nothing here. The mismatch is stored,
 * because this cluster's numbers will pass the old ones, and the events until then would be lost unseen.
 */
export class ClusterMismatch extends Error {
  constructor() {
    super(
      'The event log was restored into another PostgreSQL cluster, so webhook events are not sent. ' +
        'Stop all nodes and run "mandate webhooks reset-cursor" once.',
    );
  }
}

/** New events of all parties with webhooks, or of one party. */
export async function newEvents(
  db: Pick<Database, 'run'>,
  seen: string,
  limit: number,
  partyId?: string,
): Promise<NewEvents> {
  const rows = await db.run(readNewEvents, { seen, limit, party_id: partyId ?? null });
  const [first] = rows;
  if (!first) throw new Error('the query for new events returned no row');
  if (first.is_behind) throw new ClusterMismatch();
  const more = Number(first.found) >= limit && first.found_until !== null;
  return {
    more,
    seen: more ? snapshotBefore(first.snapshot, BigInt(first.found_until) + 1n) : first.snapshot,
    events: rows.flatMap((row) =>
      row.aggregate_id === null
        ? []
        : [
            {
              aggregateId: row.aggregate_id,
              aggregate: row.aggregate ?? '',
              partyId: row.party_id ?? '',
              sequence: row.sequence ?? 0,
              writtenIn: BigInt(row.written_in ?? 0),
              facts: row.facts ?? [],
              firstFacts: row.first_facts ?? [],
            },
          ],
    ),
  };
}

export async function currentSnapshot(db: Pick<Database, 'run'>): Promise<string> {
  const [row] = await db.run(readNow, {});
  if (!row) throw new Error('PostgreSQL returned no snapshot');
  return row.snapshot;
}

export type QueueMove = {
  readonly aggregate_id: string;
  readonly webhook_id: string;
  readonly first_position: number;
  readonly last_position: number;
};

/**
 * Without new events the cursor is written only after this many transactions. Every poll reads the events of all of them, and those of a
 * shared transaction are many.
 */
const maxTransactionsUnseen = 20n;
const eventsAtOnce = 500;

/**
 * Reads new events once, passes them to `route` and moves the queues it returns. Undefined when another node is reading.
 */
export async function pollOnce(
  db: Database,
  now: Instant,
  route: (events: readonly NewEvent[], tx: Database) => Promise<readonly QueueMove[]>,
): Promise<{ moved: number; more: boolean } | undefined> {
  const polling = db.transaction(async (tx) => {
    const [feed] = await tx.run(lockFeed, {});
    if (!feed) return undefined;
    if (feed.mismatch_since !== null) throw new ClusterMismatch();
    const { events, seen, more } = await newEvents(tx, feed.seen, eventsAtOnce);
    const queues = await route(events, tx);
    if (queues.length > 0) await tx.run(moveQueues, { queues, now });
    const isWorthIt = events.length > 0 || transactionsBetween(feed.seen, seen) > maxTransactionsUnseen;
    if (isWorthIt) await tx.run(moveFeed, { seen });
    return { moved: queues.length, more };
  });
  return polling.catch(async (error: unknown) => {
    if (error instanceof ClusterMismatch) await db.run(markMismatch, { now });
    throw error;
  });
}

/** Whether the feed is stopped by a cluster mismatch, and the time of the oldest unread event. */
export async function feedState(
  db: Pick<Database, 'run'>,
): Promise<{ isMismatch: boolean; oldest: Instant | undefined }> {
  const [row] = await db.run(readFeed, {});
  return { isMismatch: row?.is_mismatch ?? false, oldest: row?.oldest ?? undefined };
}
