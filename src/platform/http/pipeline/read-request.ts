// Reads the parts of a request by the schemas of its endpoint: what is declared is taken, and what is not is counted.
import type { FastifyRequest } from 'fastify';
import { Type, type TSchema } from 'typebox';
import { defined } from '../../../defined.ts';
import type { Refusal } from '../../../refusal.ts';
import type { AnyEndpoint, DeclaredRequest } from '../endpoint.ts';
import type { ErrorCode } from '../errors/error-codes.ts';
import { apiFamilyOf, validationRefusal } from '../errors/error-response.ts';
import { hintOf } from '../errors/hints.ts';
import { compileCheck, type Check, type ValidationError } from '../errors/validate.ts';
import {
  isTooLargeFor,
  maxIgnoredBytes,
  type CallerAt,
  type CallerLimits,
} from '../request/caller-limits.ts';
import { cardNumberFinder, type HoldsCardNumber } from '../request/card-numbers.ts';
import {
  declaredReader,
  noUnknownMembers,
  type DeclaredOnly,
  type UnknownMembers,
} from '../request/declared-members.ts';
import { emptyObjectsFiller } from '../request/empty-objects.ts';
import { isStorableText, parseJson } from '../request/json-body.ts';
import type { Unknown } from '../request/warnings.ts';

/** JSON is UTF-8, so a client that names another charset is refused. */
const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

type Parts = Pick<DeclaredRequest, 'params' | 'query' | 'body' | 'sentBody'>;
export type Input = Parts & {
  /** The paths of the caller's own IDs that hold a card number. */
  readonly numberedIds: readonly string[];
};

export function partsOf({ params, query, body, sentBody }: Input): Parts {
  return { params, query, body, sentBody };
}

/** Names the field alone. */
export const cardNumberIn = { keyword: 'cardNumber', description: 'must not contain a card number' };

export function titleOf({ body }: AnyEndpoint): { readonly title: string } {
  return { title: (body as { title?: string } | undefined)?.title ?? 'Body' };
}

type Unreadable = { unsupported: true } | { refusal: Refusal<ErrorCode> };

export function requestReader(
  endpoint: AnyEndpoint,
  holdsCardNumber: HoldsCardNumber,
): (request: FastifyRequest, unknown: Unknown, listsFaults: boolean) => Input | Unreadable {
  const readParams = partReader(endpoint.params);
  const readQuery = queryReader(endpoint.query, holdsCardNumber);
  const readBody = partReader(endpoint.body);
  const family = apiFamilyOf(endpoint.path);
  const { title } = titleOf(endpoint);
  const findCardNumbers = cardNumberFinder(endpoint.body, holdsCardNumber);
  const fillEmptyObjects = endpoint.body && emptyObjectsFiller(endpoint.body);

  return (request, unknown, listsFaults) => {
    const refused = (problem: ReadingProblem, body?: { readonly title: string }) => ({
      refusal: { ...validationRefusal(family, problem, body), ...defined({ hint: problem.hint }) },
    });
    const params = readParams(request.params, noUnknownMembers(), listsFaults);
    const query = readQuery(request.query, unknown.query, listsFaults);
    const problem = params.problem ?? unstorableText(request.params) ?? query.problem;
    if (problem) return refused(problem);
    const input = { params: params.value, query: query.value };
    if (!endpoint.body) return { ...input, body: undefined, sentBody: undefined, numberedIds: [] };
    if (!jsonType.test(request.contentType) || isEncoded(request)) return { unsupported: true };
    const bytes = bytesOf(request);
    const parsed = parseJson(bytes);
    if ('problem' in parsed) {
      const { where, what: description } = parsed.problem;
      const keyword = bytes.length === 0 ? 'absent' : 'unreadable';
      // Of a number that is too large, the schema may say how large it can be.
      const read = 'value' in parsed ? readBody(parsed.value, noUnknownMembers(), listsFaults) : undefined;
      const hint =
        bytes.length === 0
          ? 'A JSON body is required: send `{}` at least.'
          : (parsed.problem.hint ?? read?.problem?.hint);
      return refused({ where, keyword, description, ...defined({ hint }) }, { title });
    }
    const sentBody = parsed.value;
    fillEmptyObjects?.(sentBody);
    const body = readBody(sentBody, unknown.body, listsFaults);
    if (body.problem) return refused(body.problem, { title });
    const message = endpoint.validateBody?.(sentBody);
    const details = family === 'wallets' ? { details: { errorType: 'SchemaViolated', name: title } } : {};
    if (message !== undefined) return { refusal: { code: 'invalidRequest', message, ...details } };
    const { field, ids } = findCardNumbers(body.value);
    if (field !== undefined) return refused({ ...cardNumberIn, where: field }, { title });
    return { ...input, body: body.value, sentBody, numberedIds: ids };
  };
}

export function readWithin(
  limits: CallerLimits,
  from: CallerAt,
  bytes: number,
  read: () => Input | Unreadable,
): Input | Unreadable {
  // A chunked body has no length before it has arrived.
  const input = isTooLargeFor(from.caller, bytes) ? { refusal: tooLargeForToken } : read();
  const unusable = unusableBytesOf(input, bytes);
  if (unusable > 0) limits.countUnusable(from, unusable);
  return input;
}

/** What is ignored took as much time to read as what is refused. */
function unusableBytesOf(input: Input | Unreadable, bytes: number): number {
  if ('unsupported' in input || 'refusal' in input) return bytes;
  if (bytes <= maxIgnoredBytes) return 0;
  // The operation takes no body.
  if (input.sentBody === undefined) return bytes;
  const ignored = JSON.stringify(input.sentBody).length - JSON.stringify(input.body).length;
  return ignored > maxIgnoredBytes ? ignored : 0;
}

/** No content coding is known here, and an encoded body would be read as something else. */
function isEncoded({ headers }: FastifyRequest): boolean {
  const coding = headers['content-encoding'];
  return coding !== undefined && !/^\s*(identity)?\s*$/i.test(coding);
}

export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

export const tooLargeForToken: Refusal<'requestTooLarge'> = {
  code: 'requestTooLarge',
  message: 'The request body is larger than 32 KiB, the most with an access token. Send less.',
};

type ReadingProblem = ValidationError & { readonly hint?: string };
type PartReader = (
  sent: unknown,
  unknown: UnknownMembers,
  listsFaults: boolean,
) => { readonly problem: ReadingProblem | undefined; readonly value: DeclaredOnly | undefined };

/** Checks a part of the request and takes what is declared. A part without a schema declares nothing. */
function partReader(schema: TSchema | undefined): PartReader {
  const check = schema && checkOf(schema);
  let read: ReturnType<typeof declaredReader> | undefined;
  return (sent, unknown, listsFaults) => {
    const value = (read ??= declaredReader(schema ?? Type.Object({})))(sent, unknown);
    const errors = check?.(sent);
    const first = errors?.next().value;
    const problem = first && {
      ...first,
      ...defined({ hint: hintOf(first, listsFaults ? errors : undefined) }),
    };
    return { problem, value: schema && value };
  };
}

/** Compiled on first use: a node needs few of them in its first second. */
function checkOf(schema: TSchema): Check {
  let check: Check | undefined;
  return (value) => (check ??= compileCheck(schema))(value);
}

/** No card number belongs there either: a query is in the logs of every proxy on the way. */
function queryReader(schema: TSchema | undefined, holdsCardNumber: HoldsCardNumber): PartReader {
  const read = partReader(schema);
  const numbers = namesOf(schema, 'integer');
  const lists = namesOf(schema, 'array');
  const findCardNumbers = cardNumberFinder(schema, holdsCardNumber);
  return (sent, unknown, listsFaults) => {
    const { problem, value } = read(withLists(withNumbers(sent, numbers), lists), unknown, listsFaults);
    const other = problem ?? unstorableText(sent);
    if (other) return { problem: other, value };
    const { field, ids } = findCardNumbers(value);
    const where = field ?? ids[0];
    return { problem: where === undefined ? undefined : { ...cardNumberIn, where }, value };
  };
}

/** Text in the URL reaches the database too. */
function unstorableText(values: unknown): ValidationError | undefined {
  for (const [name, value] of Object.entries(values as Record<string, unknown>)) {
    if ([value].flat().some((text) => typeof text === 'string' && !isStorableText(text)))
      return { where: name, keyword: 'pattern', description: 'has a NUL character' };
  }
  return undefined;
}

function namesOf(query: TSchema | undefined, type: 'integer' | 'array'): string[] {
  const properties =
    (query as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {};
  return Object.keys(properties).filter((name) => properties[name]?.type === type);
}

/** A parameter of several values is sent once for each, or once with commas between them. */
function withLists(query: unknown, names: string[]): unknown {
  if (names.length === 0) return query;
  const read: Record<string, unknown> = { ...(query as Record<string, unknown>) };
  for (const name of names) {
    const sent = read[name];
    if (sent !== undefined)
      read[name] = [sent].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : [text]));
  }
  return read;
}

/** Everything in a query is text. A value whose schema says integer becomes one if it looks like one. */
function withNumbers(query: unknown, names: string[]): unknown {
  if (names.length === 0) return query;
  const read: Record<string, unknown> = { ...(query as Record<string, unknown>) };
  for (const name of names) {
    const text = read[name];
    // Beyond 2^53 integers cannot be distinguished, so the largest safe one stands for all that are larger.
    if (typeof text === 'string' && /^-?\d{1,100}$/.test(text)) read[name] = clamped(Number(text));
  }
  return read;
}

function clamped(number: number): number {
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number));
}
