// External IDs in SQL: a merchant's own ID for what a create request makes. Each belongs to one operation of one party and is
// stored with the fingerprint of its request.
import type { Database } from './database.ts';
import { columnList, statement, type Columns, type Values } from './statement.ts';

/** What was created under an external ID, and the fingerprint of the request that created it. */
export type FoundByExternalId<Value> = { readonly value: Value; readonly fingerprint: Buffer };

/**
 * The part of a create that claims the external ID if there is a row of `changed`, with its party_id. A taken one fails the whole
 * statement, with an error that `isExternalIdTaken` recognises.
 */
export function recordExternalId(operation: string, entityId: string): string {
  return `insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
      select changed.party_id, '${operation}', :external_id, ${entityId}, :fingerprint
      from changed where :external_id is not null`;
}

/** `join` names the table of what was created, and how entity_id finds its row. */
export function readByExternalId<const Row extends Columns>(read: {
  readonly name: string;
  readonly operation: string;
  readonly row: Row;
  readonly select: string;
  readonly join?: string;
}) {
  const { name, operation, row, select, join } = read;
  return statement({
    name,
    parameters: { party_id: 'text', external_id: 'text' },
    row: { ...row, request_fingerprint: 'bytea' },
    text: `select ${select}, claim.fingerprint as request_fingerprint
           from external_id as claim ${join === undefined ? '' : `join ${join}`}
           where claim.party_id = :party_id and claim.operation = '${operation}' and claim.external_id = :external_id`,
  });
}

/** The same for a table whose ID column is named after it. */
export function findByExternalId<const Row extends Columns, Value>(
  table: string,
  operation: string,
  row: Row,
  valueOf: (row: Values<Row>) => Value,
  /** For a row with more than the columns of its table, or a table that two operations write. */
  more: { readonly select?: string; readonly join?: string; readonly name?: string } = {},
) {
  const { select = columnList(row, table), join = '', name = `read_${table}_by_external_id` } = more;
  const read = readByExternalId({
    name,
    operation,
    row,
    select,
    join: `${table} on ${table}_id = entity_id ${join}`,
  });
  return async (
    db: Database,
    partyId: string,
    externalId: string,
  ): Promise<FoundByExternalId<Value> | undefined> => {
    const [found] = await db.run(read, { party_id: partyId, external_id: externalId });
    // Declared as bytea, which the compiler cannot see through a generic row.
    return found && { value: valueOf(found), fingerprint: found.request_fingerprint as Buffer };
  };
}
