// After a restore into another PostgreSQL cluster, the stored transaction numbers mean nothing.
// This marks all events as older than every transaction of the new cluster.
import { withoutTimeout, type Database, type DatabasePool } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';

const readMismatch = statement({
  name: 'read_cluster_mismatch',
  parameters: {},
  row: { is_mismatch: 'bool' },
  text: `
    select mismatch_since is not null
        or pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
        or exists (select from event where written_in >= pg_snapshot_xmax(pg_current_snapshot()))
        or exists (select from webhook
                   where written_in >= pg_snapshot_xmax(pg_current_snapshot())
                     or pg_snapshot_xmax(created_snapshot::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()))
        as is_mismatch
    from webhook_feed`,
});

/** Whether a transaction number is stored that this cluster has not reached. It works before a node has found that. */
export async function isFromAnotherCluster(db: Pick<Database, 'run'>): Promise<boolean> {
  const [row] = await db.run(readMismatch, {});
  return row?.is_mismatch ?? false;
}

/** Returns the number of events changed. No node may be running. */
export function resetCursor(db: DatabasePool): Promise<number> {
  return db.withClient(async (client) => {
    await client.query('begin');
    try {
      await client.query('set local statement_timeout = 0');
      await client.query(withoutTimeout('lock table event in access exclusive mode'));
      await client.query('alter table event disable trigger event_is_append_only');
      const { rowCount } = await client.query(
        withoutTimeout(
          `update event set written_in = '0' where written_in >= pg_snapshot_xmin(pg_current_snapshot())`,
        ),
      );
      await client.query('alter table event enable trigger event_is_append_only');
      await client.query(
        `update webhook set written_in = '0', created_snapshot = pg_current_snapshot()::text
         where created_snapshot is not null or written_in >= pg_snapshot_xmin(pg_current_snapshot())`,
      );
      await client.query('update webhook_feed set seen = pg_current_snapshot()::text, mismatch_since = null');
      await client.query('commit');
      return rowCount ?? 0;
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  });
}
