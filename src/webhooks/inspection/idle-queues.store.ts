// Purges queues that have delivered everything and whose objects have not changed for a long time.
// A later event creates the queue again.
import { purgeOf } from '../../platform/database/purge.ts';

export const idleQueues = purgeOf({
  table: 'webhook_queue',
  keys: ['aggregate_id', 'webhook_id'],
  isOver: `old.wake_at is null and old.stuck_at is null and old.resume_at is null and old.next_position > old.last_position
    and not exists (select from event where event.aggregate_id = old.aggregate_id and event.created_at >= :before)`,
});
