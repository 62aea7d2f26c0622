// Parts of statements that the stores of this room share: the claim of a merchant's own name, and the place in a list.
import type { Columns } from '../database/statement.ts';

/**
 * The first common table expressions of a create: the merchant's own name for it is claimed, if there is one, and `named` has a
 * row only if nobody else has that name. Uses :party_id, :external_id, :fingerprint and the given id.
 */
export function claimName(operation: string, idParameter: string): string {
  return `claimed as (
      insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
      select :party_id, '${operation}', :external_id, :${idParameter}, :fingerprint where :external_id is not null
      on conflict do nothing returning entity_id
    ), named as (
      select where :external_id is null or exists (select from claimed)
    )`;
}

/** The condition of what stands behind the last page, newest first, with the order and the limit. */
export function onPage(table: string, idColumn: string): string {
  return `and (:before_at is null or (${table}.created_at, ${table}.${idColumn}) < (:before_at, :before_id))
    order by ${table}.created_at desc, ${table}.${idColumn} desc limit :most`;
}

export const pageParameters = { before_at: 'timestamptz?', before_id: 'text?', most: 'int4' } as const;

export function listOf(columns: Columns, table?: string): string {
  return Object.keys(columns)
    .map((name) => (table === undefined ? name : `${table}.${name}`))
    .join(', ');
}

export function placesOf(columns: Columns): string {
  return Object.keys(columns)
    .map((name) => `:${name}`)
    .join(', ');
}
