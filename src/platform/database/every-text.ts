// Reads every text that a database stores, of any table, for a search of all of it. Rows are read a portion at a time.
import type pg from 'pg';

export type StoredText = {
  readonly table: string;
  /** The primary key: `invoice_id=1a payment_id=2`. */
  readonly id: string;
  readonly column: string;
  readonly text: string;
};

const portionRows = 200;

type Column = {
  readonly name: string;
  readonly is_key: boolean;
  readonly is_bytes: boolean;
  readonly has_text: boolean;
};
type Table = { readonly name: string; readonly columns: readonly Column[] };

/** `seen` gets each portion of a table. Each table is read as it was when its turn came. */
export async function readEveryText(
  client: pg.ClientBase,
  seen: (table: string, rows: number, texts: readonly StoredText[]) => void,
): Promise<void> {
  for (const table of await tablesOf(client)) {
    await client.query('begin isolation level repeatable read read only');
    try {
      const values = table.columns.map(({ name, is_bytes }) =>
        is_bytes ? `encode(${name}, 'hex')` : `${name}::text`,
      );
      await client.query(
        `declare every_text no scroll cursor for select json_build_array(${values.join(', ')})::text as row from ${table.name}`,
      );
      for (;;) {
        const { rows } = await client.query<{ row: string }>(`fetch ${portionRows} from every_text`);
        seen(
          table.name,
          rows.length,
          rows.flatMap(({ row }) => textsIn(table, JSON.parse(row) as Values)),
        );
        if (rows.length < portionRows) break;
      }
    } finally {
      await client.query('rollback');
    }
  }
}

type Values = readonly (string | null)[];

function textsIn({ name, columns }: Table, values: Values): StoredText[] {
  const id = columns.flatMap((column, index) => (column.is_key ? [`${column.name}=${values[index]}`] : []));
  return columns.flatMap((column, index) => {
    const value = values[index];
    if (!column.has_text || typeof value !== 'string') return [];
    const text = column.is_bytes ? Buffer.from(value, 'hex').toString('latin1') : value;
    return [{ table: name, id: id.join(' '), column: column.name, text }];
  });
}

/** Numbers, flags and times hold no text of a caller, and are read only as keys. */
async function tablesOf(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `select quote_ident(relname) as name, json_agg(json_build_object('name', quote_ident(attname),
       'is_key', coalesce(attnum = any(indkey::int2[]), false), 'is_bytes', typname = 'bytea',
       'has_text', typcategory not in ('B', 'D', 'N', 'T') and typname not in ('_timestamptz', '_int4', '_int8', '_bool'))
       order by attnum)::text as columns
     from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
     join pg_type on pg_type.oid = atttypid
     left join pg_index on indrelid = pg_class.oid and indisprimary
     where relkind = 'r' and relnamespace = current_schema()::regnamespace
     group by relname order by relname`,
  );
  return rows.map(({ name, columns }) => ({
    name,
    columns: (JSON.parse(columns) as Column[]).filter(({ is_key, has_text }) => is_key || has_text),
  }));
}
