// Separates what an endpoint declares from what else a client sent. An endpoint gets the first alone, so that no spread of a request
// can carry an undeclared member into a command.
import type { TSchema } from 'typebox';

declare const declared: unique symbol;
/** Of a value that a client sent, only what the schema declares. Nothing but a reader makes one. */
export type DeclaredOnly = { readonly [declared]: true };

export type UnknownMember = {
  /** The path of the object that has the member: empty, or `payer.contactInfo`. */
  readonly within: string;
  /** As the client sent it. */
  readonly name: string;
  /** What the schema declares in its place. */
  readonly known: readonly string[];
};
/** The first few, and how many there are. */
export type UnknownMembers = { readonly first: UnknownMember[]; count: number };

const maxKept = 20;

export function noUnknownMembers(): UnknownMembers {
  return { first: [], count: 0 };
}

type Read = (value: unknown, path: string, unknown: UnknownMembers) => unknown;

/**
 * A copy with the declared members of every level, in the order they were sent. Metadata is kept whole,
 * and a value that does not fit the schema is read as far as it fits.
 */
export function declaredReader(
  schema: TSchema,
): (value: unknown, unknown: UnknownMembers) => DeclaredOnly | undefined {
  const read = readerOf(schema as Schema);
  return (value, unknown) => read(value, '', unknown) as DeclaredOnly | undefined;
}

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
};

const asItIs: Read = (value) => value;
/** Keywords that declare members in a way no reader understands. */
const unreadable = ['$ref', 'allOf', 'oneOf', 'patternProperties', 'prefixItems', 'unevaluatedProperties'];

function readerOf(schema: Schema): Read {
  const keyword = unreadable.find((name) => name in schema);
  if (keyword !== undefined) throw new Error(`A schema of a request cannot use ${keyword}.`);
  if (schema.anyOf) return readerOfChoice(schema.anyOf);
  if (schema.items) return readerOfList(readerOf(schema.items), schema.maxItems);
  if (schema.type === 'object' && schema.additionalProperties !== true) return readerOfObject(schema);
  return asItIs;
}

function readerOfObject({ properties = {} }: Schema): Read {
  const known = Object.keys(properties);
  const readers = new Map(Object.entries(properties).map(([name, member]) => [name, readerOf(member)]));
  return (value, within, unknown) => {
    if (!isObject(value)) return undefined;
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const read = readers.get(name);
      if (read === undefined) note(unknown, { within, name, known });
      else if (read === asItIs) copy[name] = value[name];
      else copy[name] = read(value[name], within === '' ? name : `${within}.${name}`, unknown);
    }
    return copy;
  };
}

/** A list that is too long is refused by its check, so the rest of it is not read. */
function readerOfList(read: Read, maxItems: number | undefined): Read {
  if (read === asItIs) return asItIs;
  return (value, path, unknown) =>
    Array.isArray(value)
      ? value.slice(0, maxItems).map((item, index) => read(item, `${path}[${index}]`, unknown))
      : undefined;
}

/** The branch is the one that the member names which is fixed in all of them, such as `payerType`. */
function readerOfChoice(branches: readonly Schema[]): Read {
  const readers = branches.map(readerOf);
  if (readers.every((read) => read === asItIs)) return asItIs;
  const [first] = branches;
  const name = Object.keys(first?.properties ?? {}).find((one) => distinguishes(one, branches));
  if (name === undefined) throw new Error('The branches of a request schema need a member that tells which.');
  const byValue = new Map(
    branches.flatMap((branch, index) =>
      fixedValues(branch, name).map((value) => [value, readers[index]] as const),
    ),
  );
  return (value, path, unknown) =>
    isObject(value) ? byValue.get(value[name])?.(value, path, unknown) : undefined;
}

function distinguishes(name: string, branches: readonly Schema[]): boolean {
  const values = branches.map((branch) => fixedValues(branch, name));
  const all = values.flat();
  return values.every(({ length }) => length > 0) && new Set(all).size === all.length;
}

function fixedValues({ properties = {} }: Schema, name: string): readonly unknown[] {
  const { const: only, enum: several = [] } = properties[name] ?? {};
  return only === undefined ? several : [only];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function note(unknown: UnknownMembers, member: UnknownMember): void {
  unknown.count += 1;
  if (unknown.first.length < maxKept) unknown.first.push(member);
}
