// Finds card numbers in what a request would store. One rule covers every string that the schema of a body declares, so no operation
// can forget it.
import type { TSchema } from 'typebox';

/** Whether a text holds the number of a card. */
export type HoldsCardNumber = (text: string) => boolean;

/**
 * The keyword `x-cardNumbers` of a string: with `entered` a card number belongs there, with `page` the endpoint keeps and checks a part.
 * With `sought` a caller finds the object that has such an ID, and with `made` the service has made the text.
 */
export type CardNumbers = 'entered' | 'page' | 'sought' | 'made';

export type FoundNumbers = {
  /** The path of the first field with a number; never the number, also where it is the name of a member. */
  readonly field: string | undefined;
  /** The paths of the caller's own IDs with one: a caller may number orders in any way. */
  readonly ids: readonly string[];
};

type Schema = {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly 'x-cardNumbers'?: CardNumbers;
};

type Find = (value: unknown, path: string, ids: string[]) => string | undefined;

const nothing: FoundNumbers = { field: undefined, ids: [] };
const idMember = 'externalID';

/** For the declared members of a body or a query. */
export function cardNumberFinder(
  schema: TSchema | undefined,
  holdsCardNumber: HoldsCardNumber,
): (body: unknown) => FoundNumbers {
  const find = schema && finderOf(schema as Schema, holdsCardNumber);
  if (!find) return () => nothing;
  return (body) => {
    const ids: string[] = [];
    const field = find(body, '', ids);
    return field === undefined && ids.length === 0 ? nothing : { field, ids };
  };
}

/** Undefined if no value of the schema can hold a number that is not declared there. */
function finderOf(schema: Schema, holds: HoldsCardNumber): Find | undefined {
  if (schema.const !== undefined || schema.enum || schema.format === 'date-time') return undefined;
  if (schema['x-cardNumbers']) return undefined;
  if (schema.anyOf) return finderOfChoice(schema.anyOf, holds);
  if (schema.items) return finderOfList(finderOf(schema.items, holds));
  if (schema.type === 'string') return (text, path) => (isHeld(text, holds) ? path : undefined);
  if (schema.type === 'object' && schema.additionalProperties !== true) return finderOfObject(schema, holds);
  return schema.type === 'object' || schema.type === undefined ? finderOfAnything(holds) : undefined;
}

function isHeld(text: unknown, holds: HoldsCardNumber): boolean {
  return typeof text === 'string' && holds(text);
}

function finderOfObject({ properties = {} }: Schema, holds: HoldsCardNumber): Find | undefined {
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const find = finderOf(member, holds);
    return find ? [{ name, find }] : [];
  });
  if (members.length === 0) return undefined;
  return (value, path, ids) => {
    if (!isObject(value)) return undefined;
    for (const { name, find } of members) {
      const member = value[name];
      if (member === undefined) continue;
      const found = find(member, path === '' ? name : `${path}.${name}`, ids);
      if (found === undefined) continue;
      if (name !== idMember) return found;
      ids.push(found);
    }
    return undefined;
  };
}

function finderOfList(find: Find | undefined): Find | undefined {
  if (!find) return undefined;
  return (value, path, ids) => {
    if (!Array.isArray(value)) return undefined;
    for (const [index, item] of value.entries()) {
      const found = find(item, `${path}[${index}]`, ids);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** Every branch looks at the members it declares. */
function finderOfChoice(branches: readonly Schema[], holds: HoldsCardNumber): Find | undefined {
  const finders = branches.flatMap((branch) => finderOf(branch, holds) ?? []);
  if (finders.length === 0) return undefined;
  return (value, path, ids) => {
    for (const find of finders) {
      const found = find(value, path, ids);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** Metadata: names, strings and numbers at any depth. */
function finderOfAnything(holds: HoldsCardNumber): Find {
  const find = (value: unknown, path: string): string | undefined => {
    if (typeof value === 'string') return holds(value) ? path : undefined;
    if (typeof value === 'number') return holds(String(value)) ? path : undefined;
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [name, member] of Object.entries(value)) {
      if (holds(name)) return path;
      const found = find(member, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return find;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
