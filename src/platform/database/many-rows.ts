// Many rows as one parameter: a statement that writes a batch reads it with `json_populate_recordset`.
import { stored, type Column, type Columns, type Values } from './statement.ts';

/** For writing alone. A column that a row lacks is null. */
export function manyRows<const C extends Columns>(columns: C) {
  return stored('json', {
    read: (rows): readonly Values<C>[] => rows as readonly Values<C>[],
    write: (rows: readonly Values<C>[]) =>
      rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, inJson(value, columns[name])])),
      ),
  });
}

/** A value as a member of such a row. */
export function inJson(value: unknown, column: Column | undefined): unknown {
  const write = typeof column === 'object' ? column.codec.write : undefined;
  const written = value !== null && write ? write(value as never) : value;
  if (Buffer.isBuffer(written)) return `\\x${written.toString('hex')}`;
  return typeof written === 'bigint' ? written.toString() : written;
}
