// Purges declines that card networks no longer count.
import { purgeOf } from '../../platform/database/purge.ts';

export const oldDeclines = purgeOf({
  table: 'card_decline',
  keys: ['card_key', 'invoice_id', 'payment_id'],
  isBytes: true,
  isOver: 'old.attempted_at < :before',
});
