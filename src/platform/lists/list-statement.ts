// The statement that lists rows of a party page by page, newest first, with filters.
import { columnList, statement, type Columns } from '../database/statement.ts';

const pageParameters = { before_at: 'timestamptz?', before_id: 'text?', limit: 'int4' } as const;

/** Range filters of lists with amounts, in addition to filters by column. */
export const searchFilters = {
  created_from: 'timestamptz?',
  created_to: 'timestamptz?',
  amount_from: 'int8?',
  amount_to: 'int8?',
} as const;

const searches: Readonly<Record<string, string>> = {
  created_from: 'created_at >=',
  created_to: 'created_at <',
  amount_from: 'amount_minor >=',
  amount_to: 'amount_minor <=',
};

/** Lists a party's rows page by page, newest first. A filter is a column or one of `searchFilters`; null does not filter. */
export function listStatement<const Filters extends Columns, const Row extends Columns>(list: {
  readonly name: string;
  readonly table: string;
  readonly idColumn: string;
  readonly filters: Filters;
  readonly row: Row;
  /** For rows with more than the columns of the table. */
  readonly select?: string;
  readonly source?: string;
  /** For filters that are no comparison with a column. */
  readonly conditions?: Readonly<Record<string, string>>;
}) {
  const { name, table, idColumn, filters, row, select = columnList(row), source = table } = list;
  const conditions = Object.keys(filters).map((filter) => {
    const compared = `${table}.${searches[filter] ?? `${filter} =`} :${filter}`;
    return `and (:${filter} is null or ${list.conditions?.[filter] ?? compared})`;
  });
  return statement({
    name,
    parameters: { party_id: 'text', ...filters, ...pageParameters },
    row,
    text: `select ${select} from ${source} where ${table}.party_id = :party_id ${conditions.join('\n')}
           and (:before_at is null or (${table}.created_at, ${table}.${idColumn}) < (:before_at, :before_id))
           order by ${table}.created_at desc, ${table}.${idColumn} desc limit :limit`,
  });
}
