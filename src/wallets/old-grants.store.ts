// Grants nobody can use any more, used or not.
import { oldRows } from '../database/old-rows.ts';

export const oldGrants = oldRows({
  table: 'payout_grant',
  keys: ['grant_id'],
  isOver: 'old.valid_until < :before',
});
