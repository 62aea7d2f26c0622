// A database that returns recorded rows for every statement, so that the code for stored rows reads them.
import type { Database } from '../../src/platform/database/database.ts';
import {
  readRow,
  typeOf,
  type Column,
  type Columns,
  type Statement,
} from '../../src/platform/database/statement.ts';
import type { RecordedRow } from './recorded.ts';

export function databaseOf(rows: readonly RecordedRow[]): Database {
  const run = (statement: Statement) =>
    Promise.resolve(
      rows.map((recorded) => {
        const row = answered(statement, recorded);
        readRow(statement, row);
        return row;
      }),
    );
  return { run } as unknown as Database;
}

function answered({ name, row: columns }: { name: string; row: Columns }, row: RecordedRow): RecordedRow {
  return Object.fromEntries(
    Object.entries(columns).map(([column, type]) => {
      const recorded = row[column];
      if (recorded === undefined || (recorded === null && !typeOf(type).endsWith('?')))
        throw new Error(`${name} reads ${column}, but the recorded row has ${String(recorded)}`);
      return [column, recorded === null ? null : valueOf(type, recorded)];
    }),
  );
}

function valueOf(type: Column, recorded: unknown): unknown {
  switch (typeOf(type).replace('?', '')) {
    case 'int8':
      return BigInt(recorded as number);
    case 'bytea':
      return Buffer.from((recorded as string).slice(2), 'hex');
    case 'json':
      // A caller may change the row it read.
      return structuredClone(recorded);
    default:
      return recorded;
  }
}
