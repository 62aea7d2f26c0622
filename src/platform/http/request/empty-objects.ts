// PHP writes an empty array and an empty object alike, as []. Where the schema declares an object that may be empty, such as contactInfo or
// metadata, [] is read as {}; elsewhere {} would be refused too.
import type { TSchema } from 'typebox';

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
};

/** Changes what is within the value, and leaves the value itself. Undefined if the schema has no such object. */
type Fill = (value: unknown) => void;

/** For a parsed body: every later part of the pipeline sees the objects, also fingerprints. */
export function emptyObjectsFiller(schema: TSchema): Fill {
  return fillerOf(schema as Schema) ?? (() => {});
}

function fillerOf({ properties = {}, items, anyOf }: Schema): Fill | undefined {
  if (anyOf) return inTurn(anyOf.flatMap((branch) => fillerOf(branch) ?? []));
  const fillItem = items && fillerOf(items);
  if (fillItem) return (value) => void (Array.isArray(value) && value.forEach(fillItem));
  return inTurn(Object.entries(properties).flatMap(([name, member]) => fillerOfMember(name, member) ?? []));
}

function fillerOfMember(name: string, schema: Schema): Fill | undefined {
  const fill = fillerOf(schema);
  const mayBeEmpty = schema.type === 'object' && (schema.required ?? []).length === 0;
  if (!fill && !mayBeEmpty) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return;
    const members = value as Record<string, unknown>;
    if (mayBeEmpty && isEmptyList(members[name])) members[name] = {};
    else fill?.(members[name]);
  };
}

function inTurn(fills: readonly Fill[]): Fill | undefined {
  if (fills.length === 0) return undefined;
  return (value) => {
    for (const fill of fills) fill(value);
  };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
