// External ids in SQL: a merchant's own id for what a create request makes. Each belongs to one operation of one party, and is stored
// with the fingerprint of the request it was used for.
import type { Database } from './database.ts';
import { columnList, statement, type Columns, type Values } from './statement.ts';

/** What was made under an external id, and the fingerprint of the request that made it. */
export type FoundByExternalId<Value> = { readonly value: Value; readonly fingerprint: Buffer };

const insertInto = 'insert into external_id (party_id, operation, external_id, entity_id, fingerprint)';

/**
 * The first common table expressions of a create: the external id is claimed, if there is one, and `claimed` has a row unless it is
 * taken. Uses :party_id, :external_id and what the two expressions use.
 */
export function claimExternalId(operation: string, entityId: string, fingerprint = ':fingerprint'): string {
  return `claim as (
      ${insertInto}
      select :party_id, '${operation}', :external_id, ${entityId}, ${fingerprint} where :external_id is not null
      on conflict do nothing returning entity_id
    ), claimed as (
      select where :external_id is null or exists (select from claim)
    )`;
}

/**
 * The same where a row of `changed`, with its party_id, decides whether anything is made. The whole statement fails when the
 * external id is taken; `isExternalIdTaken` knows the error.
 */
export function recordExternalId(operation: string, entityId: string): string {
  return `${insertInto}
      select changed.party_id, '${operation}', :external_id, ${entityId}, :fingerprint
      from changed where :external_id is not null`;
}

/** `join` names the table of what was made, and how it is found by entity_id. */
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

/** The same of a table whose rows are found by an id that is named after it. */
export function findByExternalId<const Row extends Columns, Value>(
  table: string,
  operation: string,
  row: Row,
  valueOf: (row: Values<Row>) => Value,
  /** Where a row has more than the columns of its table. */
  more: { readonly select?: string; readonly join?: string } = {},
) {
  const { select = columnList(row, table), join = '' } = more;
  const read = readByExternalId({
    name: `read_${table}_by_external_id`,
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
    // Declared as bytea; the compiler does not look into a row of columns it does not know.
    return found && { value: valueOf(found), fingerprint: found.request_fingerprint as Buffer };
  };
}
