// The columns of a statement in its text.
import type { Columns } from './statement.ts';

export function columnList(columns: Columns, table?: string): string {
  return Object.keys(columns)
    .map((name) => (table === undefined ? name : `${table}.${name}`))
    .join(', ');
}

export function parameterList(columns: Columns): string {
  return Object.keys(columns)
    .map((name) => `:${name}`)
    .join(', ');
}
