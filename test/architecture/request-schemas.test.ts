// The schemas of requests: each can be read member by member, and only the listed members carry data that no schema describes.
import { expect, test } from 'vitest';
import { routes, sandboxRoutes } from '../../src/app/routes.ts';
import { declaredReader } from '../../src/platform/http/request/declared-members.ts';

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
};

const endpoints = [...routes, ...sandboxRoutes];

/** The members whose value the contract keeps as it was sent, or refuses whatever it is. */
const opaque = {
  'metadata, the merchant’s own data': ['metadata', 'invoice.metadata', 'payment.metadata'],
  'the parameters of a search, which are checked as its query is, and refused if it has no such one': [
    'filters',
  ],
  'split payments, which are refused': ['allocation', 'invoice.allocation'],
};

/** The paths of everything in a schema that is neither a scalar nor described. */
function opaquePaths(schema: Schema, path: string): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap((branch) => opaquePaths(branch, path));
  if (schema.items) return opaquePaths(schema.items, path);
  if (schema.properties && !schema.additionalProperties) {
    return Object.entries(schema.properties).flatMap(([name, member]) =>
      opaquePaths(member, path === '' ? name : `${path}.${name}`),
    );
  }
  const isScalar = ['string', 'integer', 'number', 'boolean'].includes(schema.type ?? '');
  return isScalar || schema.enum !== undefined || schema.const !== undefined ? [] : [path];
}

test.each(endpoints.map((endpoint) => [endpoint.operation, endpoint] as const))(
  'the request of %s is read member by member',
  (_, { params, query, body }) => {
    const schemas = [params, query, body].flatMap((schema) => schema ?? []);
    expect(() => schemas.map(declaredReader)).not.toThrow();
  },
);

test('only metadata and refused members are passed on as they were sent', () => {
  const found = endpoints.flatMap(({ params, query, body }) =>
    [params, query, body].flatMap((schema) => (schema ? opaquePaths(schema as Schema, '') : [])),
  );
  expect([...new Set(found)].sort()).toEqual(Object.values(opaque).flat().sort());
});

/** The paths of lists and texts of any length. */
function unboundedPaths(schema: Schema, path: string): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap((branch) => unboundedPaths(branch, path));
  if (schema.items)
    return [...(schema.maxItems === undefined ? [path] : []), ...unboundedPaths(schema.items, `${path}[]`)];
  if (schema.type === 'object')
    return Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
      unboundedPaths(member, `${path}.${name}`),
    );
  const isText = schema.type === 'string' && schema.enum === undefined && schema.const === undefined;
  const isBounded =
    schema.maxLength !== undefined || schema.format === 'date' || isBoundedPattern(schema.pattern);
  return isText && !isBounded ? [path] : [];
}

/** Anchored at both ends, and outside its sets of characters without a repetition of any length. */
function isBoundedPattern(pattern = ''): boolean {
  const outside = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  return /^\^.*\$$/.test(outside) && !/[*+]|\{\d+,\}/.test(outside);
}

test('every list and every text of a request has a largest length', () => {
  const found = endpoints.flatMap(({ operation, params, query, body }) =>
    [params, query, body].flatMap((schema) => (schema ? unboundedPaths(schema as Schema, operation) : [])),
  );
  expect(found).toEqual([]);
});
