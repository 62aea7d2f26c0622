// Asks PostgreSQL for the parameters and columns of a statement without running it, as when it is prepared. A domain is returned as
// its base type.
import type pg from 'pg';
import { typeOf, type Columns, type Statement } from '../../src/platform/database/statement.ts';

type Described = { readonly parameters: readonly string[]; readonly row: Readonly<Record<string, string>> };

/** PostgreSQL's numbers of the types a statement can declare. */
const typeNames: Record<number, string> = {
  16: 'bool',
  17: 'bytea',
  20: 'int8',
  23: 'int4',
  25: 'text',
  114: 'json',
  1184: 'timestamptz',
};

/** One message for each difference between what a statement declares and what PostgreSQL says. */
export async function differences(client: pg.ClientBase, statement: Statement): Promise<string[]> {
  const { name, parameterNames, parameters, row } = statement;
  let described: Described;
  try {
    described = await describe(client, statement.text);
  } catch (error) {
    return [`${name} cannot be prepared: ${String(error)}`];
  }
  const given = Object.fromEntries(described.parameters.map((type, place) => [parameterNames[place], type]));
  return [
    ...differencesOf(`${name} takes`, withoutNullability(parameters), given),
    ...differencesOf(`${name} gives`, withoutNullability(row), described.row),
  ];
}

function differencesOf(
  what: string,
  declared: Readonly<Record<string, string>>,
  actual: Readonly<Record<string, string>>,
): string[] {
  const names = new Set([...Object.keys(declared), ...Object.keys(actual)]);
  return [...names]
    .filter((name) => declared[name] !== actual[name])
    .map(
      (name) =>
        `${what} ${name}: declared ${declared[name] ?? 'not'}, in truth ${actual[name] ?? 'not there'}`,
    );
}

function withoutNullability(columns: Columns): Record<string, string> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, typeOf(column).replace('?', '')]),
  );
}

/** The driver lets an object of this file speak the protocol for the length of a query. */
function describe(client: pg.ClientBase, text: string): Promise<Described> {
  return new Promise((resolve, reject) => {
    let parameters: readonly string[] = [];
    let row: Readonly<Record<string, string>> = {};
    client.query({
      submit(connection: pg.Connection) {
        connection.once('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
          parameters = dataTypeIDs.map(nameOf);
        });
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }) {
        row = Object.fromEntries(fields.map(({ name, dataTypeID }) => [name, nameOf(dataTypeID)]));
      },
      handleError: reject,
      handleReadyForQuery: () => resolve({ parameters, row }),
    });
  });
}

function nameOf(type: number): string {
  return typeNames[type] ?? `type number ${type}`;
}
