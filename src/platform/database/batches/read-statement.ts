// A statement that reads a row by its key, in two texts: for one caller, and for many at once. The second follows from the first.
import { parameterPattern, statement, typeOf, type Columns, type Statement } from '../statement.ts';

export type ReadStatement<Parameters extends Columns = Columns, Row extends Columns = Columns> = Statement<
  Parameters,
  Row
> & { readonly together: Statement };

type Definition<Parameters extends Columns, Row extends Columns> = {
  name: string;
  parameters: Parameters;
  row: Row;
  text: string;
};

/** It writes nothing and returns one row at most. Outside a transaction, several callers are answered by one run of it. */
export function readStatement<const Parameters extends Columns, const Row extends Columns>(
  definition: Definition<Parameters, Row>,
): ReadStatement<Parameters, Row> {
  return read(definition, '');
}

/** For transactions: its text ends with a lock of the row. Several callers pass over a row that another transaction holds. */
export function lockStatement<const Parameters extends Columns, const Row extends Columns>(
  definition: Definition<Parameters, Row>,
): ReadStatement<Parameters, Row> {
  return { ...read(definition, ' skip locked'), leavesOut: 'held' };
}

function read<const Parameters extends Columns, const Row extends Columns>(
  definition: Definition<Parameters, Row>,
  more: '' | ' skip locked',
): ReadStatement<Parameters, Row> {
  const { name, parameters, row, text } = definition;
  if ('asker' in row || 'asker' in parameters)
    throw new Error(`Statement ${name} has a name that batches need: asker.`);
  const asked = Object.entries<Columns[string]>(parameters).map(([column, type]) => {
    if (typeOf(type).startsWith('json')) throw new Error(`Statement ${name} asks with JSON in :${column}.`);
    return `${column} ${typeOf(type).replace('?', '')}`;
  });
  const together = statement({
    name: `${name}_together`,
    parameters: { asked: 'json' },
    row: { asker: 'int4', ...row },
    // With `offset 0` PostgreSQL plans the inner part on its own: by the index that one caller uses, whatever the tables hold.
    text: `select asker, found.*
           from json_to_recordset(:asked) as asked (asker int4, ${asked.join(', ')})
           cross join lateral (${text.replace(parameterPattern, 'asked.$1')}${more} offset 0) as found`,
  });
  return { ...statement(definition), together };
}

export function isReadStatement<P extends Columns, R extends Columns>(
  one: Statement<P, R>,
): one is ReadStatement<P, R> {
  return one.together !== undefined && one.writes !== true;
}
