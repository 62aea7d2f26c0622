// A transaction that waits for a locked row holds a tuple lock, in this database only. Other tests use the same server, and
// pg_stat_activity does not change within a transaction.
export const countWaiting = `select count(*)::int as count from pg_locks
  where locktype = 'tuple' and database = (select oid from pg_database where datname = current_database())`;
