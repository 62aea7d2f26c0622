// Whoever waits for a row that another transaction holds stands at it, in this database. Other tests have theirs on the same server,
// and what the server tells of sessions stays the same within a transaction.
export const countWaiting = `select count(*)::int as count from pg_locks
  where locktype = 'tuple' and database = (select oid from pg_database where datname = current_database())`;
