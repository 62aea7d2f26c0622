// Rows that nothing needs any more, found and deleted in portions along the key of their table, so that nobody waits for it and it can
// be stopped at any moment. What that is, each room says of its own tables.
import type { Instant } from '../../clock.ts';
import type { Database } from './database.ts';
import { list, text } from './codec.ts';
import { statement, stored } from './statement.ts';

/** The key of a row, column by column, as text. */
const keyOfRow = list(text);
export type KeyOfRow = readonly string[];

export type Purge = {
  readonly table: string;
  /** What of a portion is old; the next begins after `last`, and null is the end. */
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
  /** Of a row `old`, with the parameter :before. */
  readonly isOver: string;
  /** Where the first of the keys is no text. */
  readonly isBytes?: boolean;
}): Purge {
  const isTheRow = keys.map((key) => `old.${key} = seen.${key}`).join(' and ');
  const columns = keys.join(', ');
  const last = keys.map((key, index) => (isBytes && index === 0 ? `encode(${key}, 'hex')` : key));
  // Nothing comes before a key of empty parts.
  const after = keys.map((_, index) => {
    const part = `coalesce(:after ->> ${index}, '')`;
    return isBytes && index === 0 ? `decode(${part}, 'hex')` : part;
  });
  const retire = statement({
    name: `retire_${table}`,
    parameters: { before: 'timestamptz', after: stored('json', keyOfRow), limit: 'int4', is_dry: 'bool' },
    row: { found: 'int8', last: stored('json?', keyOfRow) },
    // By the whole key: of what hangs on one card there may be more than a portion. Looked at once more where it is deleted:
    // somebody may have begun to need it.
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
      if (!row) throw new Error(`${table} was not looked through`);
      return { found: row.found, last: row.last };
    },
  };
}
