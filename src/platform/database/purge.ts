// Deletes expired rows in portions along the key of their table, so that no statement waits for it and it can stop at any time.
// Each module says which of its rows are expired.
import type { Instant } from '../../clock.ts';
import type { Database } from './database.ts';
import { list, text } from './codec.ts';
import { statement, stored } from './statement.ts';

/** The key of a row, column by column, as text. */
const keyOfRow = list(text);
export type KeyOfRow = readonly string[];

export type Purge = {
  readonly table: string;
  /** Finds the expired rows of one portion. The next portion begins after `last`; null means the end. */
  readonly portion: (
    db: Database,
    asked: {
      readonly before: Instant;
      readonly after: KeyOfRow | 'the beginning';
      readonly limit: number;
      readonly isDry: boolean;
    },
  ) => Promise<{ readonly found: bigint; readonly last: KeyOfRow | null }>;
};

export function purgeOf({
  table,
  keys,
  isOver,
  isBytes = false,
}: {
  readonly table: string;
  readonly keys: readonly [string, ...string[]];
  /** An SQL condition on a row `old`, with the parameter :before. */
  readonly isOver: string;
  /** Whether the first key column is bytea instead of text. */
  readonly isBytes?: boolean;
}): Purge {
  const isTheRow = keys.map((key) => `old.${key} = seen.${key}`).join(' and ');
  const columns = keys.join(', ');
  const last = keys.map((key, index) => (isBytes && index === 0 ? `encode(${key}, 'hex')` : key));
  // A missing part becomes '', which sorts before every key.
  const after = keys.map((_, index) => {
    const part = `coalesce(:after ->> ${index}, '')`;
    return isBytes && index === 0 ? `decode(${part}, 'hex')` : part;
  });
  const retire = statement({
    name: `retire_${table}`,
    parameters: { before: 'timestamptz', after: stored('json', keyOfRow), limit: 'int4', is_dry: 'bool' },
    row: { found: 'int8', last: stored('json?', keyOfRow) },
    // Pages by the whole key: one card may have more rows than a portion. The delete checks the condition again, because
    // another request may have begun to need the row.
    text: `
      with seen as materialized (
        select ${columns} from ${table} where (${columns}) > (${after.join(', ')}) order by ${columns} limit :limit
      ), counted as (
        select count(*) as found from ${table} as old join seen on ${isTheRow} where ${isOver}
      ), gone as (
        delete from ${table} as old using seen where ${isTheRow} and not :is_dry and ${isOver}
      )
      select found,
        (select json_build_array(${last.join(', ')}) from seen order by ${keys.map((key) => `${key} desc`).join(', ')} limit 1) as last
      from counted`,
  });
  return {
    table,
    async portion(db, { isDry, after, ...asked }) {
      const from = after === 'the beginning' ? [] : after;
      const [row] = await db.run(retire, { ...asked, after: from, is_dry: isDry });
      if (!row) throw new Error(`The purge of ${table} returned no result.`);
      return { found: row.found, last: row.last };
    },
  };
}
