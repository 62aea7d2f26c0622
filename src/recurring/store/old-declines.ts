// Declines the card networks have stopped counting: their rules look back a month.
import { oldRows } from '../../platform/database/purge.ts';

export const oldDeclines = oldRows({
  table: 'card_decline',
  keys: ['card_key', 'invoice_id', 'payment_id'],
  isBytes: true,
  isOver: 'old.attempted_at < :before',
});
