// Requests for every operation of the OpenAPI document. About half are right and pass the checks; the others are spoiled in their URL,
// headers or body, or come from a caller without access.
import fc from 'fast-check';
import { internalNames } from './internal-names.ts';
import { hostileText, hostileValue, spoiled } from './hostile-values.ts';
import { resolved, schemaOf, type Document, type Operation, type Schema } from './openapi.ts';

/** A request that names entities and callers by number; the sender looks them up in the world at that moment. */
export type HostileRequest = {
  readonly method: string;
  readonly path: string;
  readonly prefix: 'v1' | 'v2';
  readonly id: IdChoice;
  /** The ID of what is inside that entity, if the URL has one. */
  readonly innerId: string;
  readonly query: string;
  readonly body: Buffer | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly caller: number;
};
export type IdChoice =
  | { readonly of: 'own' | 'victim'; readonly number: number }
  | { readonly of: 'text'; readonly text: string };

/** The values that the world knows for the name of a member. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

export function hostileRequest(document: Document, known: Known): fc.Arbitrary<HostileRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return fc.oneof(
    ...operations.map((each) => ({
      // A body has the most to go wrong.
      weight: each.operation.requestBody ? 4 : 1,
      arbitrary: requestOf(each, document, known),
    })),
  );
}

function requestOf(
  { method, path, operation }: { method: string; path: string; operation: Operation },
  document: Document,
  known: Known,
): fc.Arbitrary<HostileRequest> {
  const bodySchema = schemaOf(operation.requestBody);
  const body = bodySchema ? spoiled(valueOf(bodySchema, document, known)) : spoiled(hostileValue);
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  return fc.record({
    method: mostly(
      24,
      fc.constant(method),
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE', 'QUERY'),
    ),
    path: fc.constant(path),
    prefix: fc.constantFrom('v1', 'v2'),
    id: idOf(path, known),
    innerId: mostly(
      8,
      innerIdOf(path, known),
      hostileText.map((text) => encodeURIComponent(text.toWellFormed())),
    ),
    query: queryOf(
      parameters.map(({ name, schema, required }) => ({
        name,
        value: valueOf(schema, document, known, name),
        required,
      })),
    ),
    body: bodySchema ? mostly(30, body, fc.constant(undefined)) : mostly(8, fc.constant(undefined), body),
    headers: fc.record({
      'x-request-id': mostly(12, fc.constant('storm'), fc.oneof(fc.constant(undefined), headerText)),
      'x-request-deadline': mostly(
        12,
        fc.constantFrom(undefined, '60s', '1m'),
        fc.oneof(wrongDeadline, headerText),
      ),
      'content-type': mostly(
        16,
        fc.constant('application/json'),
        fc.oneof(otherType, fc.constant(undefined), headerText),
      ),
      'idempotency-key': mostly(3, fc.constant(undefined), fc.oneof(smallKey, smallKey, headerText)),
      'x-forwarded-for': mostly(12, fc.constant(undefined), headerText),
      'x-http-method-override': mostly(30, fc.constant(undefined), fc.constantFrom('DELETE', 'GET')),
    }),
    caller: fc.nat(),
  });
}

function mostly<T>(weight: number, usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: unusual });
}

const headerText = hostileText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 4_000));
const wrongDeadline = fc.constantFrom('0s', '5h', 'soon', '-1s', '1e3s', '2020-01-01T00:00:00Z', '');
const otherType = fc.constantFrom(
  'text/plain',
  'application/xml',
  'json',
  '',
  'application/json; charset=utf-8',
);
const smallKey = fc.nat({ max: 300 }).map((number) => `key-${number}`);

/** An entity whose IDs the world knows by name, or an invoice. */
function idOf(path: string, known: Known): fc.Arbitrary<IdChoice> {
  const values = known[/\{(\w+)\}/.exec(path)?.[1] ?? ''];
  if (!values) return idChoice;
  return fc.oneof(
    idChoice,
    fc.record({ of: fc.constant('text' as const), text: fc.constantFrom(...values).map(String) }),
  );
}

/** The first of anything, if the world knows no IDs of that name. */
function innerIdOf(path: string, known: Known): fc.Arbitrary<string> {
  const [, inner = ''] = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  return fc.constantFrom(...(known[inner] ?? ['1'])).map(String);
}

const idChoice: fc.Arbitrary<IdChoice> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      of: fc.constant('own' as const),
      // The first, one that existed from the beginning, or any.
      number: fc.oneof(fc.constant(0), fc.nat({ max: 160 }), fc.nat({ max: 160 }), fc.nat()),
    }),
  },
  { weight: 2, arbitrary: fc.record({ of: fc.constant('victim' as const), number: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      of: fc.constant('text' as const),
      // Encoded correctly, or not at all.
      text: fc.oneof(
        hostileText.map((text) => encodeURIComponent(text.toWellFormed())),
        fc.constantFrom('%', '%ZZ', '%E0%A4%A', '%ff', 'i'.repeat(3_000), '%2e%2e', '%2F', ';', '1', 'TEST'),
      ),
    }),
  },
);

function queryOf(
  parameters: readonly { name: string; value: fc.Arbitrary<unknown>; required: boolean }[],
): fc.Arbitrary<string> {
  const hostilePart = hostileText.map((text) => encodeURIComponent(text.toWellFormed()));
  const parts = parameters.map(({ name, value, required }) => {
    const given = mostly(
      6,
      value.map((right) => `${name}=${encodeURIComponent(String(right).toWellFormed())}`),
      fc.oneof(
        fc.constant(''),
        hostilePart.map((text) => `${name}=${text}`),
        fc.constantFrom(`${name}`, `${name}=%`, `${name}=%00`, `${name}[]=1`, `${name}=1&${name}=2`),
      ),
    );
    return required ? given : mostly(2, fc.constant(''), given);
  });
  const extra = mostly(
    8,
    fc.constant(''),
    fc.tuple(hostilePart, hostilePart).map(([a, b]) => `${a}=${b}`),
  );
  return fc.tuple(...parts, extra).map((all) => all.filter(Boolean).join('&'));
}

const strangers = internalNames();
const strangerValue = fc.oneof(fc.constantFrom('name-1', -100, null, true), fc.jsonValue({ maxDepth: 2 }));

/** A value that fits the schema, preferably one that the world knows under this name. */
function valueOf(schema: Schema, document: Document, known: Known, name?: string): fc.Arbitrary<unknown> {
  const values = name === undefined ? undefined : known[name];
  const title = schema.$ref?.split('/').at(-1);
  const fitting = fittingValue(resolved(schema, document), document, known, title);
  return values ? mostly(30, fc.constantFrom(...values), fitting) : fitting;
}

function fittingValue(
  schema: Schema,
  document: Document,
  known: Known,
  title?: string,
): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map((member) => valueOf(member, document, known)));
  switch (schema.type) {
    case 'string':
      return fittingText(schema);
    case 'integer':
      return fittingInteger(schema);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, document, known), { minLength: 1, maxLength: 3 });
    case 'object': {
      const members = Object.entries(schema.properties ?? {});
      if (members.length === 0)
        return fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
      const declared = fc.record(
        Object.fromEntries(
          members.map(([member, inner]) => {
            // If a name means something else here, the world knows it with the name of its schema.
            const inPlace = `${title}.${member}`;
            return [member, valueOf(inner, document, known, inPlace in known ? inPlace : member)];
          }),
        ),
        { requiredKeys: [...(schema.required ?? [])] },
      );
      // Undeclared members are accepted too and must do no harm, whatever they are called.
      const undeclared = strangers.filter((name) => !members.some(([member]) => member === name));
      const more = fc.dictionary(fc.constantFrom(...undeclared), strangerValue, { minKeys: 1, maxKeys: 4 });
      return mostly(
        4,
        declared,
        fc.tuple(declared, more).map(([known, unknown]) => ({ ...known, ...unknown })),
      );
    }
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function fittingText({ pattern, format, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (format === 'date-time') {
    const [min, max] = [new Date('1990-01-01T00:00:00Z'), new Date('2090-01-01T00:00:00Z')];
    return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString());
  }
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) });
}

function fittingInteger({ minimum = -1_000, maximum = 1_000_000 }: Schema): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1_000) }),
    fc.constantFrom(minimum, maximum),
    fc.integer({ min: minimum, max: maximum }),
  );
}
