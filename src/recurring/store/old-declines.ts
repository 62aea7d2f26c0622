// Declines the card networks have stopped counting: their rules look back a month.
import { purgeOf } from '../../platform/database/purge.ts';

export const oldDeclines = purgeOf({
  table: 'card_decline',
  keys: ['card_key', 'invoice_id', 'payment_id'],
  isBytes: true,
  isOver: 'old.attempted_at < :before',
});
