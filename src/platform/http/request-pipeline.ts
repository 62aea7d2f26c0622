// The life of a request; what it means is decided in the modules. Its exits, in this order: preflight, authentication, scope, party,
// request ID, deadline, rate, body, schema, limit, prepare, repeat, handler, response.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type TSchema } from 'typebox';
import type { Clock, Instant } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import { DatabaseUnavailable, OutcomeUnknown } from '../database/connections/unavailable.ts';
import type { Logger } from '../log.ts';
import { defined } from '../../defined.ts';
import type { Refusal } from '../../refusal.ts';
import { allScopes, scopesOf, type Access } from './access.ts';
import { partyInPath } from './paths/router-path.ts';
import { clientAddress, networkOf } from './request/client-address.ts';
import type { Caller, RefusedToken } from '../../caller.ts';
import { maxTimeoutMs, RequestDeadline, timeoutMsOf } from './request/request-deadline.ts';
import { takesIdempotencyKey, type AnyEndpoint, type DeclaredRequest } from './endpoint.ts';
import {
  idempotencyKeyPattern,
  withoutMembers,
  type EndpointResponse,
  type Idempotency,
  type IdempotentResult,
} from './idempotency.ts';
import {
  declaredReader,
  noUnknownMembers,
  type DeclaredOnly,
  type UnknownMembers,
} from './request/declared-members.ts';
import { emptyObjectsFiller } from './request/empty-objects.ts';
import { isStorableText, parseJson } from './request/json-body.ts';
import { cardNumberFinder, type HoldsCardNumber } from './request/card-numbers.ts';
import {
  isTooLargeFor,
  maxBytesToListFaults,
  maxIgnoredBytes,
  type CallerAt,
  type CallerLimits,
} from './request/caller-limits.ts';
import type { Forwarding } from './proxies/forwarding.ts';
import type { RateLimit } from './request/rate-limit.ts';
import {
  pathOf,
  suggestionOf,
  warningOfNumberedId,
  warningOfOutcome,
  warningsHeader,
  warningsOf,
  type Unknown,
} from './request/warnings.ts';
import { errorCatalogue, type ErrorCode } from './errors/error-codes.ts';
import {
  errorResponse,
  validationRefusal,
  maxRequestIdCharacters,
  apiFamilyOf,
  waitSecondsOf,
  type ApiFamily,
} from './errors/error-response.ts';
import { hintOf } from './errors/hints.ts';
import {
  insufficientFor,
  insufficientScope,
  invalidToken,
  refusedToken,
  sendUnauthorized,
} from './errors/unauthorized.ts';
import type { OutcomeWaits } from './waiting/outcome-waits.ts';
import { compileCheck, type Check, type ValidationError } from './errors/validate.ts';

export type ApiKeyCheck = {
  authenticate(text: string): Promise<Caller | RefusedToken | undefined>;
  /** Whether this node has seen the key work before, from memory alone. The key may have been revoked since. */
  hasWorked(text: string): boolean;
  /** Whether there is a key of this ID, whatever its secret. All made-up keys together cost one read a second. */
  isNamed(text: string): Promise<boolean>;
};

/** Tokens that a key of the service proves, so a made-up one costs no read. */
type TokenCheck = {
  verify(token: string): Promise<Caller | RefusedToken | undefined>;
};

export const templateTokenPrefix = 'mandate_template_';

export type PipelineDeps<Deps extends { readonly db: Database }, PrepareDeps> = {
  /** What endpoints use. A request with an Idempotency-Key gets its transaction as `db`. */
  readonly endpointDeps: Deps;
  /** For slow work without the database, in `prepare` alone: a transaction may be open in `handle`. */
  readonly prepareDeps: PrepareDeps;
  /** The party's time, which its test clock may have moved; undefined if the party does not exist. */
  readonly timeOf: (partyId: string) => Promise<Instant | undefined>;
  readonly clock: Clock;
  readonly apiKeys: ApiKeyCheck;
  readonly tokens: TokenCheck;
  readonly templateTokens: TokenCheck;
  readonly idempotency: Idempotency;
  readonly outcomeWaits: OutcomeWaits;
  readonly callerLimits: CallerLimits;
  readonly forwarding: Forwarding;
  readonly failedAuthenticationRate: RateLimit;
  /** What the service's own URLs in responses begin with. */
  readonly publicUrl: () => string;
  readonly livemode: boolean;
  readonly log: Logger;
  readonly holdsCardNumber: HoldsCardNumber;
  /** Whether the shop of a request takes no card number as an ID either. Asked only if it has one. */
  readonly isStrictAboutIds: (
    caller: Caller,
    input: Pick<DeclaredRequest, 'params' | 'body'>,
  ) => Promise<boolean>;
};

type AuthenticationDeps = Pick<
  PipelineDeps<{ readonly db: Database }, unknown>,
  | 'clock'
  | 'apiKeys'
  | 'templateTokens'
  | 'tokens'
  | 'callerLimits'
  | 'failedAuthenticationRate'
  | 'forwarding'
>;

/** What the first half, before the body is read, passes to the second. */
export type RequestContext = CallerAt & { readonly deadline: RequestDeadline };

/** The first half: checks everything in the head of the request. Undefined once it has sent a response. */
export async function openRequest(
  deps: AuthenticationDeps,
  endpoint: AnyEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<RequestContext | undefined> {
  const waitMs = timeoutMsOf(headerText(request, 'x-request-deadline'), deps.clock.now());
  // An unreadable deadline is refused below, once the caller is known.
  const deadline = new RequestDeadline(waitMs ?? maxTimeoutMs, () => sendTooLate(reply));
  // The response is complete, or the caller has disconnected.
  reply.raw.once('close', () => deadline.end());
  const countedAs = deps.forwarding.countedAs(request);
  const caller = await authenticate(deps, request.headers.authorization, countedAs);
  if (deadline.isOver) return undefined;
  if (!caller) return void sendUnauthorized(reply, hasBearerToken(request) ? invalidToken : undefined);
  if ('waitSeconds' in caller) return void sendTooMany(reply, caller.waitSeconds);
  if (caller.kind === 'refused') return void sendUnauthorized(reply, refusedToken[caller.why]);
  const refused = refusalOfAccess(endpoint.access, caller, request);
  if (refused === 'unauthorized')
    return void sendUnauthorized(reply, insufficientFor(endpoint.access, caller));
  const family = apiFamilyOf(endpoint.path);
  if (refused) return void sendRefusal(family, reply, { code: refused });

  // Where none was sent, the service may have made one.
  const requestId = request.headers['x-request-id'] ?? reply.getHeader('x-request-id');
  const maxCharacters = maxRequestIdCharacters[family];
  if (typeof requestId !== 'string' || requestId.length > maxCharacters || requestId.length === 0) {
    const keyword = requestId === undefined ? 'required' : 'maxLength';
    const description = `send a header of 1 to ${maxCharacters} characters`;
    return void sendRefusal(
      family,
      reply,
      validationRefusal(family, { where: 'X-Request-ID', keyword, description }),
    );
  }
  if (waitMs === undefined) {
    const details = family === 'wallets' ? { details: { name: 'X-Request-Deadline' } } : {};
    return void sendRefusal(family, reply, { code: 'invalidDeadline', ...details });
  }

  if (await isOverLimit(deps, { caller, countedAs, deadline }, reply)) return undefined;
  if (isTooLargeFor(caller, Number(request.headers['content-length'] ?? 0)))
    return void sendRefusal(family, reply, tooLargeForToken);
  return { caller, countedAs, deadline };
}

/** The same for a read by a caller who is known without a token. Undefined once it has sent a response. */
export async function contextOf(
  deps: Pick<AuthenticationDeps, 'callerLimits' | 'forwarding'>,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<RequestContext | undefined> {
  const deadline = new RequestDeadline(maxTimeoutMs, () => sendTooLate(reply));
  reply.raw.once('close', () => deadline.end());
  const context = { caller, countedAs: deps.forwarding.countedAs(request), deadline };
  return (await isOverLimit(deps, context, reply)) ? undefined : context;
}

/** If so, it has sent the response. */
async function isOverLimit(
  { callerLimits }: Pick<AuthenticationDeps, 'callerLimits'>,
  { deadline, ...from }: RequestContext,
  reply: FastifyReply,
): Promise<boolean> {
  const tooMany = callerLimits.take(from);
  if (!tooMany) return false;
  if (tooMany.afterMs > 0) await sleep(tooMany.afterMs);
  if (!deadline.isOver) sendTooMany(reply, tooMany.waitSeconds);
  return true;
}

/** The second half, for one endpoint: body, schema, handler, response. It may fail after the caller has disconnected. */
export function requestHandler<Deps extends { readonly db: Database }, PrepareDeps>(
  deps: PipelineDeps<Deps, PrepareDeps>,
  endpoint: AnyEndpoint<Deps, PrepareDeps>,
): (context: RequestContext, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const read = requestReader(endpoint, deps.holdsCardNumber);
  const write = responseWriter(endpoint);
  const takesKey = takesIdempotencyKey(endpoint);
  const family = apiFamilyOf(endpoint.path);

  return async (context, request, reply) => {
    const unknown = { body: noUnknownMembers(), query: noUnknownMembers() };
    const { length } = bytesOf(request);
    const listsFaults = context.caller.kind === 'apiKey' && length <= maxBytesToListFaults;
    const reading = () => read(request, unknown, listsFaults);
    const input = readWithin(deps.callerLimits, context, length, reading);
    reportUnknown(deps, endpoint, context.caller, unknown, reply);
    if ('unsupported' in input)
      return void reply
        .code(415)
        .header('Accept', 'application/json')
        .header('Accept-Encoding', 'identity')
        .send();
    if ('refusal' in input) return sendRefusal(family, reply, withSuggestion(input.refusal, unknown));

    const key = takesKey ? headerText(request, 'idempotency-key') : undefined;
    const description = key === undefined ? undefined : problemOfKey(key, context.caller);
    if (description !== undefined) {
      const validationMessage = { where: 'Idempotency-Key', keyword: 'pattern', description };
      return sendRefusal(family, reply, validationRefusal(family, validationMessage));
    }

    const { caller, deadline } = context;
    const refusedId = await refusalOfIds(deps, endpoint, caller, input, key, reply);
    if (refusedId) return sendRefusal(family, reply, refusedId);
    const now = await deps.timeOf(caller.partyId);
    if (deadline.isOver) return;
    if (now === undefined) return sendUnauthorized(reply, invalidToken);
    const endpointRequest: DeclaredRequest = {
      ...partsOf(input),
      caller,
      now,
      address: clientAddress(request),
      countedAs: context.countedAs,
    };
    if (endpoint.isOwnParty?.(endpointRequest) === false) return sendUnauthorized(reply, insufficientScope);
    const waitSeconds = endpoint.limit?.(endpointRequest, deps.endpointDeps);
    if (waitSeconds !== undefined) return sendTooMany(reply, waitSeconds);

    const work = async (prepared?: unknown): Promise<IdempotentResult> => {
      const act = (taken: Deps, settled?: Settled) =>
        perform(endpoint, endpointRequest, taken, prepared, unknown, reply, write, settled);
      const settled = settledBy(deps, endpoint, endpointRequest, { deadline, request, reply });
      if (key === undefined) return { kind: 'first', response: await act(deps.endpointDeps, settled) };
      return performOnce(deps, endpoint, endpointRequest, request, key, act);
    };
    const result = endpoint.prepare ? await endpoint.prepare(deps.prepareDeps, work) : await work();
    // The work was done all the same; this caller does not learn its outcome.
    if (deadline.isOver) return;
    if (result.kind === 'busy') return sendTooMany(reply, result.waitSeconds);
    if (result.kind === 'other-request') return sendRefusal(family, reply, { code: 'idempotencyKeyReused' });
    if (result.kind === 'replay') reply.header('Idempotent-Replayed', 'true');
    const { response } = result;
    reply.code(response.status);
    if (response.warnings !== undefined) reply.header(warningsHeader, response.warnings);
    if (endpoint.location && response.status < 300) {
      reply.header('Location', deps.publicUrl() + endpoint.location(JSON.parse(response.body)));
    }
    if (response.body === '') return void reply.send();
    if (endpoint.status !== 200 && response.status < 300) request.createdId = createdIn(response.body);
    return void reply.type('application/json; charset=utf-8').send(response.body);
  };
}

function problemOfKey(key: string, { kind }: Caller): string | undefined {
  // All payers share such a token, and one that guesses a key would get the response to another.
  if (kind === 'invoice-template') return 'leave it out with the token of a template';
  return idempotencyKeyPattern.test(key) ? undefined : 'send 1 to 64 of A-Z a-z 0-9 . _ -';
}

/** A response about a new object begins with its ID, or with the object. It is not parsed for one line of the log. */
function createdIn(body: string): string | undefined {
  return /^\{(?:"\w+":\{)?"id":"([^"\\]+)"/.exec(body)?.[1];
}

async function perform<Deps>(
  endpoint: AnyEndpoint<Deps>,
  request: DeclaredRequest,
  deps: Deps,
  prepared: unknown,
  unknown: Unknown,
  reply: FastifyReply,
  write: ResponseWriter,
  settled: Settled = (answer) => answer,
): Promise<EndpointResponse> {
  const outcome = await endpoint.handle(request, deps, prepared);
  if (!outcome.ok) {
    const waitSeconds = waitSecondsOf(outcome.refusal, request.now);
    if (waitSeconds !== undefined) reply.header('Retry-After', String(waitSeconds));
    const refused = errorResponse(apiFamilyOf(endpoint.path), withSuggestion(outcome.refusal, unknown));
    const response = { ...refused, warnings: withWarnings(reply, []) };
    const isRetryable =
      waitSeconds !== undefined || response.status === 429 || outcome.refusal.isOfThisTryAlone === true;
    return isRetryable ? { ...response, isRetryable } : response;
  }
  const warnings = withWarnings(reply, (outcome.warnings ?? []).map(warningOfOutcome));
  const answer = await settled(outcome.value);
  return { status: endpoint.status, body: endpoint.response ? write(answer, reply) : '', warnings };
}

/** The answer as it is once its outcome is known, or once the caller has waited enough. */
type Settled = (answer: unknown) => unknown;

/** For work outside a transaction: nothing may be held while a caller waits. */
function settledBy<Deps extends { readonly db: Database }>(
  { outcomeWaits, endpointDeps }: PipelineDeps<Deps, unknown>,
  { outcome, method }: AnyEndpoint<Deps>,
  { caller, params }: DeclaredRequest,
  {
    deadline,
    request,
    reply,
  }: { readonly deadline: RequestDeadline; readonly request: FastifyRequest; readonly reply: FastifyReply },
): Settled | undefined {
  const prefer = headerText(request, 'prefer');
  if (!outcome || prefer === undefined) return undefined;
  return async (answer) => {
    const granted = outcomeWaits.grant({ caller, prefer, deadline, ended: deadline.ended });
    if (!granted) return answer;
    const first = method === 'GET' ? { body: answer } : { body: answer, is: 'pending' as const };
    const look = () => outcome.look(endpointDeps, { answer, params, caller });
    try {
      const { body, isCutOff } = await outcomeWaits.latest(granted, outcome.job(answer, params), first, look);
      if (!isCutOff) reply.header('Preference-Applied', `wait=${granted.seconds}`);
      return body;
    } finally {
      granted.release();
    }
  };
}

/** A misspelt member is ignored, so a refusal may be about its absence. */
function withSuggestion(refusal: Refusal<ErrorCode>, unknown: Unknown): Refusal<ErrorCode> {
  const suggestion = errorCatalogue[refusal.code].status === 400 ? suggestionOf(unknown) : undefined;
  if (suggestion === undefined) return refusal;
  return { ...refusal, hint: refusal.hint === undefined ? suggestion : `${refusal.hint} ${suggestion}` };
}

type Serializer = ReturnType<FastifyReply['compileSerializationSchema']>;
type ResponseWriter = (value: unknown, reply: FastifyReply) => string;

/** By schema, because several services in one process have the same ones. */
const serializers = new WeakMap<object, Serializer>();

/** Writes the declared fields and drops all others. Compiled on first use, because compiling all operations slowed the start. */
function responseWriter({ response }: AnyEndpoint): ResponseWriter {
  const schema = response ?? {};
  return (value, reply) => {
    const serialize =
      serializers.get(schema) ?? reply.compileSerializationSchema(schema as Record<string, unknown>);
    serializers.set(schema, serialize);
    return serialize(value as Record<string, unknown>);
  };
}

async function performOnce<Deps extends { readonly db: Database }>(
  deps: PipelineDeps<Deps, unknown>,
  endpoint: AnyEndpoint,
  endpointRequest: DeclaredRequest,
  request: FastifyRequest,
  key: string,
  act: (deps: Deps) => Promise<EndpointResponse>,
): Promise<IdempotentResult> {
  const { caller } = endpointRequest;
  return deps.idempotency.once(
    {
      ownerId: caller.kind === 'apiKey' ? caller.partyId : caller.entityId,
      key,
      method: endpoint.method,
      path: request.url,
      // As it was sent: the hashes stored before count undeclared members too.
      body: withoutMembers(endpointRequest.sentBody ?? null, endpoint.excludeFromHash ?? []),
      now: deps.clock.now(),
    },
    (tx) => act({ ...deps.endpointDeps, db: tx }),
  );
}

/**
 * Limits failures per network. A key counts as a failure until it has worked here, so a flood of made-up keys does not reach the
 * database.
 */
async function authenticate(
  { apiKeys, templateTokens, tokens, failedAuthenticationRate: failures }: AuthenticationDeps,
  header: string | undefined,
  address: string,
): Promise<Caller | RefusedToken | { readonly waitSeconds: number } | undefined> {
  const tooMany = () => {
    const waitSeconds = failures.take(networkOf(address));
    return waitSeconds === undefined ? undefined : { waitSeconds };
  };
  const counted = (found: Caller | RefusedToken | undefined) =>
    isCaller(found) ? found : (tooMany() ?? found);
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1];
  if (!token) return tooMany();
  if (token.startsWith(templateTokenPrefix)) return counted(await templateTokens.verify(token));
  if (!token.startsWith('mandate_')) return counted(await tokens.verify(token));
  if (apiKeys.hasWorked(token)) return counted(await apiKeys.authenticate(token));

  const refused = tooMany();
  // A flood of made-up keys locks no good key out, also if this node has not seen it since its start.
  if (refused) {
    const found = (await apiKeys.isNamed(token)) ? await apiKeys.authenticate(token) : undefined;
    return isCaller(found) ? found : refused;
  }
  let hasFailed = false;
  try {
    const found = await apiKeys.authenticate(token);
    hasFailed = !isCaller(found);
    return found;
  } finally {
    // Also when the database is unavailable, which is not the caller's fault.
    if (!hasFailed) failures.giveBack(networkOf(address));
  }
}

function isCaller(found: Caller | RefusedToken | undefined): found is Caller {
  return found !== undefined && found.kind !== 'refused';
}

function refusalOfAccess(
  access: Access,
  caller: Caller,
  { params, raw }: Pick<FastifyRequest, 'params' | 'raw'>,
): ErrorCode | 'unauthorized' | undefined {
  const { partyId } = caller;
  const refused = (partyInPath(raw) ?? partyId) === partyId ? undefined : 'partyNotFound';
  if (caller.kind === 'apiKey') {
    const { scopes } = caller;
    const hasAll = scopes.includes(allScopes) || scopesOf(access).every((scope) => scopes.includes(scope));
    return hasAll ? refused : 'unauthorized';
  }
  const { tokens = [], entity, anyEntity, maskedAs } = access;
  const mayCall = tokens.includes(caller.kind);
  const named = entity === undefined ? undefined : (params as Record<string, string>)[entity];
  const isOwn = anyEntity ?? (entity !== undefined && named === caller.entityId);
  return mayCall && isOwn ? refused : (maskedAs ?? 'unauthorized');
}

/** JSON is UTF-8, so a client that names another charset is refused. */
const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

type Parts = Pick<DeclaredRequest, 'params' | 'query' | 'body' | 'sentBody'>;
type Input = Parts & {
  /** The paths of the caller's own IDs that hold a card number. */
  readonly numberedIds: readonly string[];
};

function partsOf({ params, query, body, sentBody }: Input): Parts {
  return { params, query, body, sentBody };
}

/** A caller may number orders in any way, so an ID that holds a card number is refused only where the shop says so. */
async function refusalOfIds(
  {
    holdsCardNumber,
    isStrictAboutIds,
    log,
  }: Pick<PipelineDeps<{ readonly db: Database }, unknown>, 'holdsCardNumber' | 'isStrictAboutIds' | 'log'>,
  endpoint: AnyEndpoint,
  caller: Caller,
  input: Input,
  key: string | undefined,
  reply: FastifyReply,
): Promise<Refusal<ErrorCode> | undefined> {
  const isNumbered = key !== undefined && holdsCardNumber(key);
  const ids = isNumbered ? [...input.numberedIds, idempotencyKeyHeader] : input.numberedIds;
  const [where] = ids;
  if (where === undefined) return undefined;
  if (await isStrictAboutIds(caller, input)) {
    const title = where === idempotencyKeyHeader ? undefined : titleOf(endpoint);
    return validationRefusal(apiFamilyOf(endpoint.path), { ...cardNumberIn, where }, title);
  }
  reply.header(warningsHeader, withWarnings(reply, ids.map(warningOfNumberedId)));
  log.warn({ partyId: caller.partyId, operation: endpoint.operation, ids }, 'card number as an ID');
  return undefined;
}

/** The warnings of the response: those it has already, and more. */
function withWarnings(reply: FastifyReply, more: readonly string[]): string | undefined {
  const before = reply.getHeader(warningsHeader);
  const all = before === undefined ? more : [String(before), ...more];
  return all.length === 0 ? undefined : all.join(', ');
}

const idempotencyKeyHeader = 'Idempotency-Key';
/** Names the field alone. */
const cardNumberIn = { keyword: 'cardNumber', description: 'must not contain a card number' };

function titleOf({ body }: AnyEndpoint): { readonly title: string } {
  return { title: (body as { title?: string } | undefined)?.title ?? 'Body' };
}

type Unreadable = { unsupported: true } | { refusal: Refusal<ErrorCode> };

function requestReader(
  endpoint: AnyEndpoint,
  holdsCardNumber: HoldsCardNumber,
): (request: FastifyRequest, unknown: Unknown, listsFaults: boolean) => Input | Unreadable {
  const readParams = partReader(endpoint.params);
  const readQuery = partReader(endpoint.query);
  const readBody = partReader(endpoint.body);
  const queryNumbers = integersOf(endpoint.query);
  const family = apiFamilyOf(endpoint.path);
  const { title } = titleOf(endpoint);
  const findCardNumbers = cardNumberFinder(endpoint.body, holdsCardNumber);
  const fillEmptyObjects = endpoint.body && emptyObjectsFiller(endpoint.body);

  return (request, unknown, listsFaults) => {
    const refused = (problem: ReadingProblem, body?: { readonly title: string }) => ({
      refusal: { ...validationRefusal(family, problem, body), ...defined({ hint: problem.hint }) },
    });
    const params = readParams(request.params, noUnknownMembers(), listsFaults);
    const query = readQuery(withNumbers(request.query, queryNumbers), unknown.query, listsFaults);
    const problem =
      params.problem ?? unstorableText(request.params) ?? query.problem ?? unstorableText(request.query);
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

function readWithin(
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

function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

const tooLargeForToken: Refusal<'requestTooLarge'> = {
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

/** An unknown member is ignored, so the response warns about it. In live mode clients are finished, so its log has it for those who look. */
function reportUnknown(
  { livemode, log }: Pick<PipelineDeps<{ readonly db: Database }, unknown>, 'livemode' | 'log'>,
  { operation }: AnyEndpoint,
  { partyId }: Caller,
  unknown: Unknown,
  reply: FastifyReply,
): void {
  const { body, query } = unknown;
  const count = body.count + query.count;
  if (count === 0) return;
  const level = livemode ? 'debug' : 'info';
  reply.header(warningsHeader, warningsOf(unknown));
  if (!log.isLevelEnabled(level)) return;
  const fields = {
    partyId,
    operation,
    requestId: reply.getHeader('x-request-id'),
    members: body.first.map(pathOf),
    parameters: query.first.map(pathOf),
    count,
  };
  log[level](fields, 'unknown members ignored');
}

/** Compiled on first use: a node needs few of them in its first second. */
function checkOf(schema: TSchema): Check {
  let check: Check | undefined;
  return (value) => (check ??= compileCheck(schema))(value);
}

/** Text in the URL reaches the database too. */
function unstorableText(values: unknown): ValidationError | undefined {
  for (const [name, text] of Object.entries(values as Record<string, unknown>)) {
    if (typeof text === 'string' && !isStorableText(text))
      return { where: name, keyword: 'pattern', description: 'has a NUL character' };
  }
  return undefined;
}

function integersOf(query: TSchema | undefined): string[] {
  const properties =
    (query as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {};
  return Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
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

export function sendRefusal(family: ApiFamily, reply: FastifyReply, refusal: Refusal<ErrorCode>): void {
  const response = errorResponse(family, refusal);
  reply.code(response.status);
  if (response.body === '') return void reply.send();
  void reply.type('application/json; charset=utf-8').send(response.body);
}

function sendTooMany(reply: FastifyReply, waitSeconds: number): void {
  reply.header('Retry-After', String(waitSeconds));
  // Both API families send the same response.
  sendRefusal('processing', reply, { code: 'tooManyRequests' });
}

function sendTooLate(reply: FastifyReply): void {
  // Removes a header that belongs to the unfinished response.
  if (!reply.sent) void reply.removeHeader('Retry-After').code(504).send();
}

function hasBearerToken({ headers: { authorization } }: FastifyRequest): boolean {
  return /^Bearer +\S/i.test(authorization ?? '');
}

/** A fault, not a refusal: 503 if nothing was done, 500 if the outcome is unknown. A `GET` does nothing that could be in doubt. */
export function statusOfFault(error: unknown, method: string): 500 | 503 {
  if (error instanceof OutcomeUnknown && method === 'GET') return 503;
  return error instanceof DatabaseUnavailable ? 503 : 500;
}

function headerText(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}
