// Purges exchanges once no refund, dispute or repeat can concern them: never before the 540 days of a dispute.
import { purgeOf } from '../../../platform/database/purge.ts';

export const oldExchanges = purgeOf({
  table: 'exchange',
  keys: ['aggregate_id', 'operation'],
  isOver: `old.begun_at < :before and old.begun_at < now() - interval '540 days'
             and old.state in ('approved', 'declined', 'takenBack', 'settled')`,
});
