// SQL as visible text next to the function that needs it, with its parameters and column types declared once. TypeScript types follow
// from that, and test/architecture/statements.test.ts compares them with the migrated schema.
import { defined } from '../../defined.ts';
import { instantFromDatabase, type Instant } from '../../clock.ts';
import { objectOf, UnreadableError, type Codec } from './codec.ts';

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
type ColumnType = ColumnName | `${ColumnName}?`;
/** A column whose values the program keeps in another form, or as a narrower type. */
type StoredColumn<Type extends ColumnType = ColumnType, T = unknown> = {
  readonly type: Type;
  readonly codec: {
    /** May read another column of the row. */
    readonly read: (stored: unknown, row: Readonly<Record<string, unknown>>) => T;
    readonly write: ((value: never) => unknown) | undefined;
  };
};
/** A column's type; with `?` it may be null. */
export type Column = ColumnType | StoredColumn;
export type Columns = Readonly<Record<string, Column>>;

type ColumnValue<C extends Column> =
  C extends StoredColumn<infer Type, infer T>
    ? Type extends `${string}?`
      ? T | null
      : T
    : C extends `${infer Name extends ColumnName}?`
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
  /** The columns of a row that have a codec. */
  readonly codecs: readonly (readonly [column: string, codec: StoredColumn['codec']])[];
  /** How long to wait for the response, if not as long as usual. */
  readonly timeoutMs?: number;
  /** The same for many callers at once; see `batches/`. */
  readonly together?: Statement;
  /** Its parameters are those of one change in the list that `together` takes. */
  readonly writes?: true;
  /** Of a batch, it returns no row for a caller whose row another transaction holds. */
  readonly leavesOut?: 'taken' | 'held';
};

/** A column that is written and read by a codec. */
export function stored<const Type extends ColumnType, T>(
  type: Type,
  codec: StoredColumn<Type, T>['codec'],
): StoredColumn<Type, T> {
  return { type, codec };
}

/** Objects of several kinds as JSON. The kind stands in a text column of the same row, not among the members. */
export function storedBeside<T extends object>(
  column: string,
  tag: keyof T,
  { read, write }: Codec<T>,
): StoredColumn<'json', T> {
  return {
    type: 'json',
    codec: {
      read: (json, row) => read({ ...objectOf(json), [tag]: row[column] }),
      write(value: T) {
        const { [tag]: _, ...rest } = write ? (write(value) as T) : value;
        return rest;
      },
    },
  };
}

export function typeOf(column: Column): ColumnType {
  return typeof column === 'string' ? column : column.type;
}

type Nullable<Type> = Type extends `${string}?` ? Type : Type extends ColumnName ? `${Type}?` : never;
type Optional<C> = {
  [K in keyof C]: C[K] extends StoredColumn<infer Type, infer T>
    ? StoredColumn<Nullable<Type>, T>
    : Nullable<C[K]>;
};

/** The same columns as a left join returns them. */
export function optional<C extends Columns>(of: C): Optional<C> {
  const entries = Object.entries(of).map(([name, column]) => [name, nullable(column)]);
  return Object.fromEntries(entries) as Optional<C>;
}

/** Whether the left join found a row. */
export function isJoined<C extends Columns, Row extends object>(of: C, row: Row): row is Row & Values<C> {
  return Object.entries(of).every(
    ([name, column]) => typeOf(column).endsWith('?') || (row as Record<string, unknown>)[name] !== null,
  );
}

function nullable(column: Column): Column {
  if (typeof column !== 'string') return { ...column, type: nullableType(column.type) };
  return nullableType(column);
}

function nullableType(type: ColumnType): ColumnType {
  return type.endsWith('?') ? type : `${type as ColumnName}?`;
}

/** The names of columns, for the text of a statement. */
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

/** A parameter in the text of a definition. */
export const parameterPattern = /(?<![:\w]):([a-z]\w*)/g;

const statements = new Map<string, Statement>();

/** Every statement whose module is loaded, for the test that prepares them all. */
export function allStatements(): readonly Statement[] {
  return [...statements.values()];
}

/** Parameters are written as `:name` in the text. The statement's name is also its name on the server. */
export function statement<const Parameters extends Columns, const Row extends Columns>(definition: {
  name: string;
  parameters: Parameters;
  row: Row;
  text: string;
  timeoutMs?: number;
}): Statement<Parameters, Row> {
  const parameterNames: string[] = [];
  const text = definition.text.replace(parameterPattern, (_, name: string) => {
    const column = definition.parameters[name];
    if (column === undefined) throw new Error(`Statement ${definition.name} has no parameter :${name}.`);
    if (!parameterNames.includes(name)) parameterNames.push(name);
    return `$${parameterNames.indexOf(name) + 1}::${typeOf(column).replace('?', '')}`;
  });
  const unused = Object.keys(definition.parameters).filter((name) => !parameterNames.includes(name));
  if (unused.length > 0) throw new Error(`Statement ${definition.name} does not use :${unused.join(', :')}.`);
  if (statements.has(definition.name))
    throw new Error(`Two statements are named ${definition.name}. Rename one.`);
  const { name, parameters, row, timeoutMs } = definition;
  const codecs = Object.entries(row).flatMap(([column, type]: [string, Column]) =>
    typeof type === 'string' ? [] : [[column, type.codec] as const],
  );
  const made: Statement<Parameters, Row> = {
    name,
    text,
    parameterNames,
    parameters,
    row,
    codecs,
    ...defined({ timeoutMs }),
  };
  statements.set(name, made);
  return made;
}

/** A value as the driver sends it. */
export function parameterOf(value: unknown, column: Column | undefined): unknown {
  if (value === null || column === undefined) return value;
  const write = typeof column === 'string' ? undefined : column.codec.write;
  const written = write ? write(value as never) : value;
  if (typeOf(column).startsWith('json')) return JSON.stringify(written);
  return typeof written === 'bigint' ? written.toString() : written;
}

/** Replaces stored values by what they stand for, in place: the driver has just created the row and no other code has it. */
export function readRow({ name, codecs }: Statement, row: Record<string, unknown>): void {
  for (const [column, { read }] of codecs) {
    const value = row[column];
    if (value === null) continue;
    try {
      row[column] = read(value, row);
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      const ids = Object.entries(row).filter(([key, id]) => key.endsWith('_id') && typeof id === 'string');
      const whose = ids.map(([key, id]) => `${key} ${String(id)}`).join(', ');
      const where = `${column}${error.path}`;
      throw new Error(
        `Statement ${name} read a row that cannot be used (${whose}): ${where} ${error.problem}`,
        {
          cause: error,
        },
      );
    }
  }
}

// These replace the driver's own parsers, by type number. Every other type stays text.
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
