// Rows that nothing needs any more, found and deleted in portions along the key of their table, so that nobody waits for it and it can
// be stopped at any moment. What that is, each room says of its own tables.
import type { Instant } from '../clock.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

export type OldRows = {
  readonly table: string;
  /** What of a portion is old; the next begins after `last`, and null is the end. */
  readonly portion: (
    db: Database,
    asked: {
      readonly before: Instant;
      readonly after: string;
      readonly most: number;
      readonly isDry: boolean;
    },
  ) => Promise<{ readonly found: bigint; readonly last: string | null }>;
};

export function oldRows({
  table,
  keys,
  isOver,
  isBytes = false,
}: {
  readonly table: string;
  /** Of its primary key, all columns. */
  readonly keys: readonly [string, ...string[]];
  /** Of a row `old`, with the parameter :before. */
  readonly isOver: string;
  /** Where the first of the keys is no text. */
  readonly isBytes?: boolean;
}): OldRows {
  const [first] = keys;
  const isTheRow = keys.map((key) => `old.${key} = seen.${key}`).join(' and ');
  const retire = statement({
    name: `retire_${table}`,
    parameters: { before: 'timestamptz', after: 'text', most: 'int4', is_dry: 'bool' },
    row: { found: 'int8', last: 'text?' },
    // Looked at once more where it is deleted: somebody may have begun to need it.
    text: `
      with seen as materialized (
        select ${keys.join(', ')} from ${table}
        where ${first} > ${isBytes ? `decode(:after, 'hex')` : ':after'}
        order by ${first} fetch first (:most) rows with ties
      ), counted as (
        select count(*) as found from ${table} as old join seen on ${isTheRow} where ${isOver}
      ), gone as (
        delete from ${table} as old using seen where ${isTheRow} and not :is_dry and ${isOver}
      )
      select found, (select ${isBytes ? `encode(${first}, 'hex')` : first} from seen order by ${first} desc limit 1) as last
      from counted`,
  });
  return {
    table,
    async portion(db, { isDry, ...asked }) {
      const [row] = await db.run(retire, { ...asked, is_dry: isDry });
      if (!row) throw new Error(`${table} was not looked through`);
      return row;
    },
  };
}
