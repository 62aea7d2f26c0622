// The deliveries of one aggregate's events, over all its webhooks.
import type { Instant } from '../../clock.ts';
import { list, text } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, statement, stored } from '../../platform/database/statement.ts';
import { attemptColumns } from './attempt-columns.ts';

/**
 * Attempts are stored by their time alone, so of each webhook only the first 500 after each event are looked through. What was delivered
 * much later by a busy webhook is missing; its queue says what is still to be delivered.
 */
const readDeliveries = statement({
  name: 'read_webhook_deliveries',
  parameters: { aggregate_id: 'text', since: stored('json', list(text)) },
  row: { webhook_id: 'text', ...attemptColumns },
  text: `select distinct tried.webhook_id, ${columnList(attemptColumns)}
         from webhook_queue as queue
         cross join json_array_elements_text(:since) as event (at)
         cross join lateral (
           select * from webhook_attempt
           where webhook_attempt.webhook_id = queue.webhook_id and attempted_at >= event.at::timestamptz
           order by attempted_at limit 500
         ) as tried
         where queue.aggregate_id = :aggregate_id and tried.aggregate_id = :aggregate_id
         order by attempted_at, webhook_id, position, attempt`,
});

const readWaiting = statement({
  name: 'read_waiting_queues_of',
  parameters: { aggregate_id: 'text' },
  row: {
    webhook_id: 'text',
    next_position: 'int8',
    waiting_since: 'timestamptz?',
    attempts: 'int4',
    last_failure: 'text?',
    wake_at: 'timestamptz?',
    stuck_at: 'timestamptz?',
  },
  text: `select webhook_id, next_position, waiting_since, attempts, last_failure, wake_at, stuck_at
         from webhook_queue
         where aggregate_id = :aggregate_id and (wake_at is not null or stuck_at is not null)
         order by webhook_id`,
});

const mostEvents = 20;

export async function deliveriesOf(db: Database, aggregateId: string, eventTimes: readonly Instant[]) {
  const since = [...new Set(eventTimes)].slice(-mostEvents);
  const tried = await db.run(readDeliveries, { aggregate_id: aggregateId, since });
  const waiting = await db.run(readWaiting, { aggregate_id: aggregateId });
  return { tried, waiting };
}
