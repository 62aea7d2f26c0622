// A transaction that waits for a locked row holds a tuple lock, in this database only. Other tests use the same server, and
// pg_stat_activity does not change within a transaction.
import { statement } from '../../../src/platform/database/statement.ts';

export const countWaiting = `select count(*)::int as count from pg_locks
  where locktype = 'tuple' and database = (select oid from pg_database where datname = current_database())`;

/** Otherwise the server ends the session of a transaction if a test lets five seconds pass before its next statement. */
export const stayOpen = statement({
  name: 'test_stay_open',
  parameters: {},
  row: {},
  text: 'set local idle_in_transaction_session_timeout = 0',
});
