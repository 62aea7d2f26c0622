// Purges expired grants, used or not.
import { purgeOf } from '../../platform/database/purge.ts';

export const oldGrants = purgeOf({
  table: 'payout_grant',
  keys: ['grant_id'],
  isOver: 'old.valid_until < :before',
});
