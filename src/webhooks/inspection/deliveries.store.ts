// The deliveries of one aggregate's events, over all its webhooks.
import { positionOf } from '../../platform/events/domain/topic.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, statement } from '../../platform/database/statement.ts';
import { attemptColumns } from './attempt-columns.ts';

/** The latest ones, oldest first. */
const readDeliveries = statement({
  name: 'read_webhook_deliveries',
  parameters: { aggregate_id: 'text', from_position: 'int8', to_position: 'int8', limit: 'int4' },
  row: {
    webhook_id: 'text',
    ...attemptColumns,
  },
  text: `select * from (
           select tried.webhook_id, ${columnList(attemptColumns)}
           from webhook_queue as queue cross join lateral (
             select * from webhook_attempt
             where webhook_attempt.webhook_id = queue.webhook_id and webhook_attempt.aggregate_id = :aggregate_id
               and position between :from_position and :to_position
             order by attempted_at desc limit :limit
           ) as tried
           where queue.aggregate_id = :aggregate_id
           order by attempted_at desc, webhook_id desc, position desc, attempt desc limit :limit
         ) as latest
         order by attempted_at, webhook_id, position, attempt`,
});

const readWaiting = statement({
  name: 'read_waiting_queues_of',
  parameters: { aggregate_id: 'text' },
  row: {
    webhook_id: 'text',
    next_position: 'int8',
    last_position: 'int8',
    waiting_since: 'timestamptz?',
    attempts: 'int4',
    last_failure: 'text?',
    wake_at: 'timestamptz?',
    stuck_at: 'timestamptz?',
  },
  text: `select webhook_id, next_position, last_position, waiting_since, attempts, last_failure, wake_at, stuck_at
         from webhook_queue
         where aggregate_id = :aggregate_id and (wake_at is not null or stuck_at is not null)
         order by webhook_id`,
});

const mostAttempts = 1_000;

/** Between these positions in the log. `isMore`: there were earlier attempts. */
export async function deliveriesOf(
  db: Database,
  aggregateId: string,
  { from, to }: { readonly from: number; readonly to: number },
) {
  const found = await db.run(readDeliveries, {
    aggregate_id: aggregateId,
    from_position: BigInt(from),
    to_position: BigInt(to),
    limit: mostAttempts + 1,
  });
  const waiting = await db.run(readWaiting, { aggregate_id: aggregateId });
  return { tried: found.slice(-mostAttempts), waiting, isMore: found.length > mostAttempts };
}

const readAccepted = statement({
  name: 'read_accepted_delivery',
  parameters: { aggregate_id: 'text', event_types: 'json', from_position: 'int8', until_position: 'int8' },
  row: { accepted: 'bool' },
  text: `select exists (
           select from webhook_queue as queue cross join lateral (
             select from webhook_attempt
             where webhook_attempt.webhook_id = queue.webhook_id and webhook_attempt.aggregate_id = :aggregate_id
               and position >= :from_position and position < :until_position and status between 200 and 299
               and event_type in (select json_array_elements_text(:event_types))
             limit 1
           ) as accepted
           where queue.aggregate_id = :aggregate_id
         ) as accepted`,
});

/** Whether a receiver has accepted one of these webhook events of an event in the log. */
export async function hasAccepted(
  db: Pick<Database, 'run'>,
  {
    aggregateId,
    eventTypes,
    sequence,
  }: { aggregateId: string; eventTypes: readonly string[]; sequence: number },
): Promise<boolean> {
  const [row] = await db.run(readAccepted, {
    aggregate_id: aggregateId,
    event_types: eventTypes,
    from_position: BigInt(positionOf({ sequence, index: 0 })),
    until_position: BigInt(positionOf({ sequence: sequence + 1, index: 0 })),
  });
  return row?.accepted ?? false;
}
