// Makes a right body wrong in one field after the other, in each way the OpenAPI document forbids and each way a database cannot store.
// For tests that want every field refused.
import { resolved, type Document, type Schema } from './openapi.ts';

export type WrongBody = { readonly what: string; readonly body: unknown };

type Wrong = { readonly path: string; readonly how: string; readonly value: unknown };
const missing = Symbol('missing');

/** Fields that the right body leaves out are added wrong. If there is a choice of shapes, that of the right body counts. */
export function wrongBodies(schema: Schema, document: Document, right: unknown): WrongBody[] {
  return wrongValues(schema, document, right, '').map(({ path, how, value }) => ({
    what: `${path || 'the body'} ${how}`,
    body: path === '' ? value : withValue(right, path.split('.'), value),
  }));
}

function wrongValues(schema: Schema, document: Document, right: unknown, path: string): Wrong[] {
  const found = chosen(resolved(schema, document), document, right);
  const here = wrongOnesOf(found).map(([how, value]) => ({ path, how, value }));
  const join = (name: string) => (path === '' ? name : `${path}.${name}`);
  const within = Object.entries(found.properties ?? {}).flatMap(([name, member]) => {
    const rightMember = (right as Record<string, unknown> | undefined)?.[name];
    const isNeeded = found.required?.includes(name) ?? false;
    return [
      ...(isNeeded ? [{ path: join(name), how: 'is missing', value: missing }] : []),
      ...wrongValues(member, document, rightMember, join(name)),
    ];
  });
  const items = found.items
    ? wrongValues(found.items, document, (right as unknown[] | undefined)?.[0], join('0'))
    : [];
  return [...here, ...within, ...items];
}

/** The shape whose fixed members are those of the right value; the first one if there is none. */
export function chosen(schema: Schema, document: Document, right: unknown): Schema {
  const shapes = schema.oneOf?.map((shape) => resolved(shape, document));
  if (!shapes) return schema;
  const fits = (shape: Schema) =>
    Object.entries(shape.properties ?? {}).every(([name, member]) => {
      const only = resolved(member, document);
      const values = only.const === undefined ? only.enum : [only.const];
      return !values || values.includes((right as Record<string, unknown> | undefined)?.[name]);
    });
  return shapes.find(fits) ?? shapes[0] ?? schema;
}

function wrongOnesOf(schema: Schema): [how: string, value: unknown][] {
  const { type, minLength = 0, maxLength, minimum, maximum, pattern, format } = schema;
  const values = schema.const === undefined ? schema.enum : [schema.const];
  if (values) return [...notOfType('string'), ['is not a value of the list', 'nothing of this']];
  switch (type) {
    case 'string':
      return [
        ...notOfType('string'),
        ['has a character that cannot be stored', 'a\u0000b'],
        ['has half a character', 'a\ud800b'],
        ...(minLength > 0 || pattern || format ? [['is empty', ''] as [string, unknown]] : []),
        ...(maxLength === undefined ? [] : [['is too long', 'x'.repeat(maxLength + 1)] as [string, unknown]]),
        ...(pattern || format ? [['does not fit', '\u0007 !'] as [string, unknown]] : []),
      ];
    case 'integer':
      return [
        ...notOfType('integer'),
        ['is not a whole number', 1.5],
        ['is too large for an integer', 1e300],
        ...(minimum === undefined ? [] : [['is too small', minimum - 1] as [string, unknown]]),
        ...(maximum === undefined ? [] : [['is too large', maximum + 1] as [string, unknown]]),
      ];
    case 'object':
      // PHP writes {} as [], so an object that may be empty takes that list, and no other.
      return notOfType(type, (schema.required ?? []).length === 0 ? [7] : []);
    case 'boolean':
    case 'array':
      return notOfType(type);
    default:
      return [];
  }
}

function notOfType(
  type: 'string' | 'integer' | 'boolean' | 'array' | 'object',
  list: readonly unknown[] = [],
): [string, unknown][] {
  const examples: Record<string, unknown> = {
    string: 'text',
    integer: 7,
    boolean: true,
    array: list,
    object: {},
    null: null,
  };
  return Object.entries(examples).flatMap(([name, value]) =>
    name === type ? [] : [[`is of the type ${name}`, value]],
  );
}

function withValue(body: unknown, [name = '', ...deeper]: readonly string[], value: unknown): unknown {
  if (Array.isArray(body) || (body === undefined && name === '0')) {
    return [withMember(body?.[0], deeper, value), ...((body as unknown[] | undefined)?.slice(1) ?? [])];
  }
  const { [name]: before, ...rest } = (body ?? {}) as Record<string, unknown>;
  if (deeper.length === 0) return value === missing ? rest : { ...rest, [name]: value };
  return { ...rest, [name]: withValue(before, deeper, value) };
}

function withMember(body: unknown, path: readonly string[], value: unknown): unknown {
  return path.length === 0 ? value : withValue(body, path, value);
}
