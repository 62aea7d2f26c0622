// Queues that have told everything they had to tell, of objects nothing has happened to for long. What happens to one again makes a
// queue anew, which begins there.
import { purgeOf } from '../../platform/database/purge.ts';

export const idleQueues = purgeOf({
  table: 'webhook_queue',
  keys: ['aggregate_id', 'webhook_id'],
  isOver: `old.wake_at is null and old.stuck_at is null and old.resume_at is null and old.next_position > old.last_position
    and not exists (select from event where event.aggregate_id = old.aggregate_id and event.created_at >= :before)`,
});
