// Compares a response with the OpenAPI document: its status, body, code and headers, and no data of another party. It shares no code
// with the service.
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  operationFinder,
  resolved,
  responseOf,
  schemaOf,
  type Document,
  type Operation,
  type Responses,
  type Schema,
} from '../requests/openapi.ts';

export type Sent = { readonly method: string; readonly url: string; readonly requestId: string | undefined };
export type Received = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly tookMs: number;
};
/** The faults of a response, one message each; empty if it is right. */
export type AnswerCheck = (sent: Sent, received: Received) => string[];

const json = 'application/json; charset=utf-8';
const everywhere: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
};

export function answerChecker(
  document: Document,
  options: { readonly secrets: readonly string[]; readonly slowestMs: number },
): AnswerCheck {
  const find = operationFinder(document);
  const fits = bodyChecker(document);

  return (sent, { status, headers, text, tookMs }) => {
    const isOfWallets = /^\/(wallet|payres)\/v0(\/|\?|$)/.test(sent.url);
    const { name, responses } = promiseOf(find(sent.method, sent.url), isOfWallets);
    const problems: string[] = [];
    const reportUnreadable = (what: string) => void problems.push(`${name}: ${what}`);

    // An operation that is not available has status 501; any other 5xx is a fault.
    if (status >= 500 && !(status === 501 && responses[501])) reportUnreadable(`the status is ${status}`);
    const documented = responseOf(responses[status], document);
    const schema = withCodes(schemaOf(documented), documented?.['x-codes']);
    if (!documented) reportUnreadable(`${status} is not documented`);
    else if (schema) fits(schema, text).forEach((what) => reportUnreadable(`${status} ${what}`));
    else if (text !== '') reportUnreadable(`${status} has a body but should be empty`);

    const type = text === '' ? undefined : json;
    if (headers['content-type'] !== type)
      reportUnreadable(`the content type is ${String(headers['content-type'])}`);
    for (const [header, value] of Object.entries(everywhere)) {
      if (headers[header] !== value) reportUnreadable(`${header} is ${String(headers[header])}`);
    }
    const echoable = isOfWallets ? /^[\x20-\x7e]{1,128}$/ : /^[\x20-\x7e]{1,40}$/;
    const echo = echoable.test(sent.requestId ?? '') ? sent.requestId : undefined;
    const echoed = headers['x-request-id'];
    const isMade = sent.requestId === undefined && echoable.test(String(echoed));
    if (echoed !== echo && !isMade) reportUnreadable(`the X-Request-ID is ${String(echoed)}`);

    const everything = text + JSON.stringify(headers);
    for (const secret of options.secrets)
      if (everything.includes(secret)) reportUnreadable(`it contains ${secret}`);
    if (tookMs > options.slowestMs) reportUnreadable(`it took ${Math.round(tookMs)} ms`);
    return problems;
  };
}

const text = { type: 'string' };
const general = content({ type: 'object', required: ['message'], properties: { message: text } });
const noSuchPath = content({
  type: 'object',
  required: ['message'],
  properties: { message: text, hint: text },
});
const unreadable = content({
  type: 'object',
  required: ['code', 'message'],
  properties: { code: { enum: ['invalidRequest'] }, message: text },
});
/** The same in the wallets API. */
const unreadableThere = content({
  type: 'object',
  required: ['code', 'errorType'],
  properties: { code: { enum: ['invalidRequest'] }, errorType: text, description: text },
});
/** The responses without an operation in the document. */
const elsewhere = {
  path: { name: 'another method', responses: { 400: unreadable, 405: {}, 413: general } },
  nothing: { name: 'no operation', responses: { 400: unreadable, 404: noSuchPath, 413: general } },
};

function content(schema: Schema) {
  return { content: { 'application/json': { schema } } };
}

function promiseOf(
  found: Operation | 'path' | 'nothing',
  isOfWallets: boolean,
): { name: string; responses: Responses } {
  if (typeof found === 'string') {
    const { name, responses } = elsewhere[found];
    return { name, responses: isOfWallets ? { ...responses, 400: unreadableThere } : responses };
  }
  return { name: found.operationId, responses: found.responses };
}

const named = new Map<readonly string[], Schema>();

/** The shared schema of an error, with the codes that its response may have. Always the same object, because it is compiled once. */
function withCodes(schema: Schema | undefined, codes: readonly string[] | undefined): Schema | undefined {
  if (!schema || !codes) return schema;
  const known = named.get(codes) ?? { allOf: [schema, { properties: { code: { enum: codes } } }] };
  named.set(codes, known);
  return known;
}

function bodyChecker(document: Document): (schema: Schema, text: string) => string[] {
  const compiled = new Map<Schema, ReturnType<typeof Compile>>();
  return (schema, text) => {
    const check = compiled.get(schema) ?? Compile(strict(schema, document) as TSchema);
    compiled.set(schema, check);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return ['is not JSON'];
    }
    return check
      .Errors(value)
      .map(({ instancePath, message }) => `has ${instancePath || 'a body'} that ${message}`);
  };
}

/** A hold ends on a whole second and is shown so; every other time has microseconds. */
const wholeSeconds = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$';

/** The schema, read as strictly as possible: no undocumented members, and times in one form. */
function strict(schema: Schema, document: Document): Schema {
  const { allOf, format, properties, items, oneOf, ...rest } = resolved(schema, document);
  if (allOf) {
    const parts = allOf.map((part) => resolved(part, document));
    const merged = {
      type: 'object',
      required: parts.flatMap((part) => part.required ?? []),
      properties: Object.assign({}, ...parts.map((part) => part.properties)) as Record<string, Schema>,
    };
    return strict(merged, document);
  }
  const narrow = (member: Schema) => strict(member, document);
  return {
    ...rest,
    ...(format === 'date-time' ? { pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$' } : {}),
    ...(items ? { items: narrow(items) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(narrow) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [
              name,
              name === 'heldUntil' ? { ...member, pattern: wholeSeconds } : narrow(member),
            ]),
          ),
          additionalProperties: rest.additionalProperties ?? false,
        }
      : {}),
  };
}
