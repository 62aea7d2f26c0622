// Reads of a table by party: one row by ID, one by external ID, and a party's rows page by page.
import { findByExternalId } from '../database/external-id.ts';
import type { Database } from '../database/database.ts';
import { defined } from '../../defined.ts';
import { columnList, statement, type Columns, type Values } from '../database/statement.ts';
import { listStatement } from './list-statement.ts';

type Reads<Row extends Columns, Filters extends Columns, Stored, Value> = {
  readonly table: string;
  /** The API operation that claims the external ID. */
  readonly createdBy: string;
  readonly row: Row;
  /** For a row with more than the columns of its table. */
  readonly select?: string;
  readonly join?: string;
  readonly filters: Filters;
  readonly storedOf: (row: Values<Row>) => Stored;
  readonly valueOf: (stored: Stored) => Value;
};

export function readsOf<const Row extends Columns, const Filters extends Columns, Stored, Value>(
  reads: Reads<Row, Filters, Stored, Value>,
) {
  const { storedOf, valueOf } = reads;
  const { readOne, readPage } = statementsOf(reads);
  const { table, createdBy, row, select, join } = reads;
  return {
    /** `partyId` null finds rows of any party. */
    async find(db: Database, partyId: string | null, id: string): Promise<Stored | undefined> {
      const [found] = await db.run(readOne, { id, party_id: partyId });
      return found && storedOf(found);
    },
    findByExternalId: findByExternalId(
      table,
      createdBy,
      row,
      (found) => valueOf(storedOf(found)),
      defined({ select, join }),
    ),
    async list(db: Database, asked: Values<typeof readPage.parameters>): Promise<Value[]> {
      const rows = await db.run(readPage, asked);
      return rows.map((one) => valueOf(storedOf(one)));
    },
  };
}

function statementsOf<const Row extends Columns, const Filters extends Columns>(
  reads: Omit<Reads<Row, Filters, never, never>, 'storedOf' | 'valueOf'>,
) {
  const { table, row, select = columnList(row, table), join, filters } = reads;
  const idColumn = `${table}_id`;
  const joined = join === undefined ? '' : ` ${join}`;
  return {
    readOne: statement({
      name: `read_${table}`,
      parameters: { id: 'text', party_id: 'text?' },
      row,
      text: `select ${select} from ${table}${joined}
             where ${idColumn} = :id and (:party_id is null or ${table}.party_id = :party_id)`,
    }),
    readPage: listStatement({
      name: `list_${table}s`,
      table,
      idColumn,
      filters,
      row,
      select,
      source: table + joined,
    }),
  };
}
