// The purges of every module: rows that nothing needs any more. Rows about money, consent or events are never among them.
// app/table-retention.ts says how long each table keeps its rows.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { KeyOfRow, Purge } from '../platform/database/purge.ts';
import { statement, type Values } from '../platform/database/statement.ts';
import { oldExchanges } from '../acquiring/exchange-log/store/old-exchanges.ts';
import { oldDeclines } from '../recurring/store/old-declines.ts';
import { oldGrants } from '../payouts/store/old-grants.ts';
import { idleQueues } from '../webhooks/inspection/idle-queues.store.ts';

const portionRows = 1_000;

/** In the order in which they run. */
export const purges: readonly Purge[] = [idleQueues, oldDeclines, oldGrants, oldExchanges];

/** The row counts are PostgreSQL's own estimate, because counting would read every row. */
const readSizes = statement({
  name: 'read_table_sizes',
  parameters: {},
  row: { name: 'text', rows: 'int8', bytes: 'int8' },
  text: `select relname::text as name, greatest(reltuples, 0)::int8 as rows, pg_total_relation_size(oid) as bytes
         from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
         order by pg_total_relation_size(oid) desc, relname`,
});

export function tableSizes(db: Database): Promise<Values<typeof readSizes.row>[]> {
  return db.run(readSizes, {});
}

/** Purges portion by portion, each in its own transaction. */
export async function purge(
  db: Database,
  rows: Purge,
  { before, isDry, report = () => {} }: { before: Instant; isDry: boolean; report?: (found: bigint) => void },
): Promise<bigint> {
  let all = 0n;
  for (let after: KeyOfRow | 'the beginning' | null = 'the beginning'; after !== null;) {
    const { found, last }: { found: bigint; last: KeyOfRow | null } = await rows.portion(db, {
      before,
      after,
      limit: portionRows,
      isDry,
    });
    all += found;
    after = last;
    report(all);
  }
  return all;
}
