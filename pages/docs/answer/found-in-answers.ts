// What an answer brings that the next request needs: ids by the name of the parameter they fit, and access tokens.
import { resolve, type Schema, type Schemas } from '../schema/schema.ts';

/** The id of an Invoice fits {invoiceID}. Looks at the answer, what it wraps, and the first member of a list. */
export function idsIn(schema: Schema, value: unknown, schemas: Schemas): Record<string, string> {
  const { name, schema: own } = resolve(schema, schemas);
  if (own.items && Array.isArray(value)) return value.length > 0 ? idsIn(own.items, value[0], schemas) : {};
  if (!isObject(value)) return {};
  const { id } = value;
  if (name !== undefined && (typeof id === 'string' || typeof id === 'number')) {
    return { [`${name.charAt(0).toLowerCase()}${name.slice(1)}ID`]: String(id) };
  }
  const found = Object.entries(own.properties ?? {}).map(([key, property]) =>
    idsIn(property, value[key], schemas),
  );
  return Object.assign({}, ...found) as Record<string, string>;
}

/** Access tokens are objects with a payload, or fields that hold such objects. */
export function tokenIn(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  for (const candidate of [value, ...Object.values(value)]) {
    if (isObject(candidate) && typeof candidate['payload'] === 'string') return candidate['payload'];
  }
  return undefined;
}

/** Undefined for what is not JSON: an empty answer, or the page of a proxy. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
