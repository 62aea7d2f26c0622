// Grants nobody can use any more, used or not.
import { oldRows } from '../../platform/database/purge.ts';

export const oldGrants = oldRows({
  table: 'payout_grant',
  keys: ['grant_id'],
  isOver: 'old.valid_until < :before',
});
