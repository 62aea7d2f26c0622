// SQL as visible text beside the function that needs it. A statement names its parameters and declares the types of
// its columns once; from that come the TypeScript types, and a test that prepares every statement on the migrated
// schema and compares (test/architecture/statements.test.ts).
import { instantFromDatabase, type Instant } from '../../clock.ts';

type ColumnTypes = {
  text: string;
  bool: boolean;
  int4: number;
  int8: bigint;
  json: unknown;
  bytea: Buffer;
  timestamptz: Instant;
};
type ColumnName = keyof ColumnTypes;
/** A column's type; with `?` it may be null. */
export type Column = ColumnName | `${ColumnName}?`;
export type Columns = Readonly<Record<string, Column>>;

type ColumnValue<C extends Column> = C extends `${infer Name extends ColumnName}?`
  ? ColumnTypes[Name] | null
  : C extends ColumnName
    ? ColumnTypes[C]
    : never;
export type Values<C extends Columns> = { [K in keyof C]: ColumnValue<C[K]> };

export type Statement<Parameters extends Columns = Columns, Row extends Columns = Columns> = {
  readonly name: string;
  /** With `$1`-style parameters, as the server takes it. */
  readonly text: string;
  readonly parameterNames: readonly string[];
  readonly parameters: Parameters;
  readonly row: Row;
  /** How long its answer is waited for, where that is not as long as usual. */
  readonly timeoutMs?: number;
};

type Optional<C> = {
  [K in keyof C]: C[K] extends `${string}?` ? C[K] : C[K] extends string ? `${C[K]}?` : never;
};

/** The same columns as they come from the far side of a left join. */
export function optional<C extends Readonly<Record<string, string>>>(of: C): Optional<C> {
  const entries = Object.entries(of).map(([name, type]) => [name, type.endsWith('?') ? type : `${type}?`]);
  return Object.fromEntries(entries) as Optional<C>;
}

const statements = new Map<string, Statement>();

/** Every statement of the program whose module is loaded, for the test that prepares them all. */
export function allStatements(): readonly Statement[] {
  return [...statements.values()];
}

/** Parameters stand in the text as `:name`. The name of the statement is also its name on the server. */
export function statement<const Parameters extends Columns, const Row extends Columns>(definition: {
  name: string;
  parameters: Parameters;
  row: Row;
  text: string;
  timeoutMs?: number;
}): Statement<Parameters, Row> {
  const parameterNames: string[] = [];
  const text = definition.text.replace(/(?<![:\w]):([a-z]\w*)/g, (_, name: string) => {
    const type = definition.parameters[name];
    if (type === undefined) throw new Error(`statement ${definition.name} has no parameter :${name}`);
    if (!parameterNames.includes(name)) parameterNames.push(name);
    return `$${parameterNames.indexOf(name) + 1}::${type.replace('?', '')}`;
  });
  const unused = Object.keys(definition.parameters).filter((name) => !parameterNames.includes(name));
  if (unused.length > 0) throw new Error(`statement ${definition.name} does not use :${unused.join(', :')}`);
  if (statements.has(definition.name)) throw new Error(`there are two statements named ${definition.name}`);
  const { name, parameters, row, timeoutMs } = definition;
  const patience = timeoutMs === undefined ? {} : { timeoutMs };
  const made: Statement<Parameters, Row> = { name, text, parameterNames, parameters, row, ...patience };
  statements.set(name, made);
  return made;
}

// The driver's own parsers, by type number: text forms into the types above. Everything else stays text.
const parsers: Record<number, (text: string) => unknown> = {
  16: (text) => text === 't',
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  20: BigInt,
  23: Number,
  114: (text) => JSON.parse(text) as unknown,
  1184: instantFromDatabase,
};

export const typeParsers = {
  getTypeParser: (type: number) => parsers[type] ?? ((text: string) => text),
};
