// The life of a request, from the socket to the room and back, with its exits in this order:
//   preflight -> who calls -> may he -> request id -> deadline -> rate -> body -> schema -> limit -> beforehand -> repeat?
//   -> the room -> answer
// Everything here is about the wire; what a request means is the rooms' business.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Clock } from '../../clock.ts';
import { DatabaseUnavailable } from '../database/database.ts';
import type { AccessTokens } from '../keys/access-token.ts';
import type { Refusal } from '../../refusal.ts';
import type { Service, SlowService } from '../../app/app-context.ts';
import { access, everyScope, type AccessRow } from './access.ts';
import { clientAddress, networkOf } from './client-address.ts';
import type { Caller } from '../../caller.ts';
import { longestWaitMs, Patience, waitMsOf } from './request-deadline.ts';
import { takesIdempotencyKey, type AnyEndpoint, type EndpointRequest } from './endpoint.ts';
import {
  idempotencyKeyPattern,
  withoutMembers,
  type Answered,
  type Idempotency,
  type Repeated,
} from './idempotency.ts';
import { isKeepable, parseJson } from './json-body.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RefusalCode } from './errors/error-codes.ts';
import {
  refusalAnswer,
  refusalOf,
  requestIdCharactersMost,
  sideOf,
  waitSecondsOf,
  type Side,
} from './errors/error-response.ts';
import { compileCheck, type Check, type Complaint } from './errors/validate.ts';

/** What is asked of API keys. */
export type ApiKeyCheck = {
  authenticate(text: string): Promise<Caller | undefined>;
  /** Whether this node has seen that key work before; whether it still does is not said. Looks nowhere. */
  hasWorked(text: string): boolean;
};

export type Door = {
  readonly service: Service;
  readonly slow: SlowService;
  readonly clock: Clock;
  readonly apiKeys: ApiKeyCheck;
  readonly tokens: AccessTokens;
  readonly idempotency: Idempotency;
  readonly keyRate: RateLimit;
  readonly failedAuthenticationRate: RateLimit;
  /** With what addresses of ours begin in answers. */
  readonly publicUrl: () => string;
};

/** What the first half of the way, before the body is read, found out for the second. */
export type Admitted = { readonly caller: Caller; readonly patience: Patience };

/** The first half: everything that can be known from the head of the request. Undefined when it was answered. */
export async function admit(
  door: Door,
  endpoint: AnyEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Admitted | undefined> {
  const waitMs = waitMsOf(headerText(request, 'x-request-deadline'), door.clock.now());
  // A deadline that cannot be read is refused below, once it is known who calls.
  const patience = new Patience(waitMs ?? longestWaitMs, () => sendTooLate(reply));
  // Answered, or hung up before that.
  reply.raw.once('close', () => patience.end());
  const caller = await authenticate(door, request.headers.authorization, request.ip);
  if (patience.isOver) return undefined;
  if (!caller) return void sendUnauthorized(reply);
  if ('waitSeconds' in caller) return void sendTooMany(reply, caller.waitSeconds);
  const row: AccessRow = access[endpoint.operation];
  const refused = refusalOfAccess(row, caller, request.params as Record<string, string>);
  if (refused === 'unauthorized') return void sendUnauthorized(reply);
  const side = sideOf(endpoint.path);
  if (refused) return void sendRefusal(side, reply, { code: refused });

  const requestId = request.headers['x-request-id'];
  const most = requestIdCharactersMost[side];
  if (typeof requestId !== 'string' || requestId.length > most || requestId.length === 0) {
    const keyword = requestId === undefined ? 'required' : 'maxLength';
    const description = `send a header of 1 to ${most} characters`;
    return void sendRefusal(side, reply, refusalOf(side, { where: 'X-Request-ID', keyword, description }));
  }
  if (waitMs === undefined) {
    const details = side === 'wallets' ? { details: { name: 'X-Request-Deadline' } } : {};
    return void sendRefusal(side, reply, { code: 'invalidDeadline', ...details });
  }

  const rateName = caller.kind === 'apiKey' ? caller.keyId : caller.entityId;
  const waitSeconds = door.keyRate.take(rateName);
  if (waitSeconds !== undefined) return void sendTooMany(reply, waitSeconds);
  return { caller, patience };
}

/** The second half, for one endpoint: body, schema, the room, the answer. It may fail when the caller has gone. */
export function answerer(
  door: Door,
  endpoint: AnyEndpoint,
): (admitted: Admitted, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const read = requestReader(endpoint);
  const write = answerWriter(endpoint);
  const takesKey = takesIdempotencyKey(endpoint);
  const side = sideOf(endpoint.path);

  return async (admitted, request, reply) => {
    const input = read(request);
    if ('unsupported' in input) return void reply.code(415).send();
    if ('refusal' in input) return sendRefusal(side, reply, input.refusal);

    const key = takesKey ? headerText(request, 'idempotency-key') : undefined;
    if (key !== undefined && !idempotencyKeyPattern.test(key)) {
      const description = 'send 1 to 64 of A-Z a-z 0-9 . _ -';
      const complaint = { where: 'Idempotency-Key', keyword: 'pattern', description };
      return sendRefusal(side, reply, refusalOf(side, complaint));
    }

    const { caller, patience } = admitted;
    const party = await door.service.merchants.party(caller.partyId);
    if (patience.isOver) return;
    if (!party) return sendUnauthorized(reply);
    const endpointRequest: EndpointRequest = {
      params: input.params,
      query: input.query,
      body: input.body,
      caller,
      now: door.service.merchants.timeOf(party),
      address: clientAddress(request),
    };
    if (endpoint.mayAsk?.(endpointRequest) === false) return sendUnauthorized(reply);
    const waitSeconds = endpoint.limit?.(endpointRequest, door.service);
    if (waitSeconds !== undefined) return sendTooMany(reply, waitSeconds);

    const work = async (made?: unknown): Promise<Repeated> => {
      const act = (service: Service) => perform(endpoint, endpointRequest, service, made, reply, write);
      if (key === undefined) return { kind: 'first', answer: await act(door.service) };
      return performOnce(door, endpoint, endpointRequest, request, key, act);
    };
    const result = endpoint.beforehand ? await endpoint.beforehand(door.slow, work) : await work();
    // It was done all the same: its outcome is unknown to this caller.
    if (patience.isOver) return;
    if (result.kind === 'busy') return sendTooMany(reply, result.waitSeconds);
    if (result.kind === 'other-request') return sendRefusal(side, reply, { code: 'idempotencyKeyReused' });
    if (result.kind === 'replay') reply.header('Idempotent-Replayed', 'true');
    const { answer } = result;
    reply.code(answer.status);
    if (endpoint.location && answer.status < 300) {
      reply.header('Location', door.publicUrl() + endpoint.location(JSON.parse(answer.body)));
    }
    if (answer.body === '') return void reply.send();
    return void reply.type('application/json; charset=utf-8').send(answer.body);
  };
}

async function perform(
  endpoint: AnyEndpoint,
  request: EndpointRequest,
  service: Service,
  made: unknown,
  reply: FastifyReply,
  write: AnswerWriter,
): Promise<Answered> {
  const outcome = await endpoint.handle(request, service, made);
  if (!outcome.ok) {
    const waitSeconds = waitSecondsOf(outcome.refusal, request.now);
    if (waitSeconds !== undefined) reply.header('Retry-After', String(waitSeconds));
    const answer = refusalAnswer(sideOf(endpoint.path), outcome.refusal);
    return waitSeconds !== undefined || answer.status === 429 ? { ...answer, isForNow: true } : answer;
  }
  if (!endpoint.answer) return { status: endpoint.status, body: '' };
  return { status: endpoint.status, body: write(outcome.value, reply) };
}

type AnswerWriter = (value: unknown, reply: FastifyReply) => string;

/** Writes the declared fields and drops all others. Compiled for the first answer: for all operations it held up the start. */
function answerWriter({ answer }: AnyEndpoint): AnswerWriter {
  let serialize: ReturnType<FastifyReply['compileSerializationSchema']> | undefined;
  return (value, reply) => {
    serialize ??= reply.compileSerializationSchema(answer as Record<string, unknown>);
    return serialize(value as Record<string, unknown>);
  };
}

async function performOnce(
  door: Door,
  endpoint: AnyEndpoint,
  endpointRequest: EndpointRequest,
  request: FastifyRequest,
  key: string,
  act: (service: Service) => Promise<Answered>,
): Promise<Repeated> {
  const { caller } = endpointRequest;
  return door.idempotency.once(
    {
      ownerId: caller.kind === 'apiKey' ? caller.partyId : caller.entityId,
      key,
      method: endpoint.method,
      path: request.url,
      body: withoutMembers(endpointRequest.body ?? null, endpoint.notRemembered ?? []),
      now: door.clock.now(),
    },
    (tx) => act({ ...door.service, db: tx }),
  );
}

/**
 * Each network may fail so often. A key that has never worked here has to be looked up, so it counts as a failure from the
 * start, until it has worked: a flood of made-up keys does not reach the database.
 */
async function authenticate(
  { apiKeys, tokens, failedAuthenticationRate: failures }: Door,
  header: string | undefined,
  address: string,
): Promise<Caller | { readonly waitSeconds: number } | undefined> {
  const tooMany = () => {
    const waitSeconds = failures.take(networkOf(address));
    return waitSeconds === undefined ? undefined : { waitSeconds };
  };
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1];
  if (!token) return tooMany();
  if (!token.startsWith('mandate_')) return (await tokens.verify(token)) ?? tooMany();
  if (apiKeys.hasWorked(token)) return (await apiKeys.authenticate(token)) ?? tooMany();

  const refused = tooMany();
  if (refused) return refused;
  let hasFailed = false;
  try {
    const caller = await apiKeys.authenticate(token);
    hasFailed = caller === undefined;
    return caller;
  } finally {
    // Also when the database is away, which is no fault of his.
    if (!hasFailed) failures.giveBack(networkOf(address));
  }
}

function refusalOfAccess(
  row: AccessRow,
  caller: Caller,
  params: Record<string, string>,
): RefusalCode | 'unauthorized' | undefined {
  if (caller.kind === 'apiKey') {
    const { scopes } = caller;
    return scopes.includes(everyScope) || scopes.includes(row.apiKey) ? undefined : 'unauthorized';
  }
  const mayCall = row.tokens.includes(caller.kind);
  const isOwn = row.anyEntity ?? (row.entity !== undefined && params[row.entity] === caller.entityId);
  return mayCall && isOwn ? undefined : (row.hiddenBehind ?? 'unauthorized');
}

/** JSON is UTF-8; a client that names another encoding means something else. */
const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

type Input = { params: unknown; query: unknown; body: unknown };
type Unreadable = { unsupported: true } | { refusal: Refusal<RefusalCode> };

function requestReader(endpoint: AnyEndpoint): (request: FastifyRequest) => Input | Unreadable {
  const checks = (['params', 'query'] as const).map((part) => [part, checkOf(endpoint[part])] as const);
  const checkBody = checkOf(endpoint.body);
  const queryNumbers = integersOf(endpoint.query);
  const side = sideOf(endpoint.path);
  const title = (endpoint.body as { title?: string } | undefined)?.title ?? 'Body';

  return (request) => {
    const input = {
      params: request.params,
      query: withNumbers(request.query, queryNumbers),
      body: undefined as unknown,
    };
    for (const [part, check] of checks) {
      const problem = check?.(input[part]) ?? unkeepableText(input[part]);
      if (problem) return { refusal: refusalOf(side, problem) };
    }
    if (!checkBody) return input;
    if (!jsonType.test(request.contentType)) return { unsupported: true };
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const parsed = parseJson(bytes);
    if ('problem' in parsed) {
      const { where, what: description } = parsed.problem;
      const keyword = bytes.length === 0 ? 'absent' : 'unreadable';
      return { refusal: refusalOf(side, { where, keyword, description }, { title }) };
    }
    const problem = checkBody(parsed.value);
    if (problem) return { refusal: refusalOf(side, problem, { title }) };
    const message = endpoint.bodyProblem?.(parsed.value);
    const details = side === 'wallets' ? { details: { errorType: 'SchemaViolated', name: title } } : {};
    if (message !== undefined) return { refusal: { code: 'invalidRequest', message, ...details } };
    input.body = parsed.value;
    return input;
  };
}

/** Compiled when it is first needed: a node needs few of them in its first second. */
function checkOf(schema: TSchema | undefined): Check | undefined {
  if (!schema) return undefined;
  let check: Check | undefined;
  return (value) => (check ??= compileCheck(schema))(value);
}

/** Text of the address reaches the database too. */
function unkeepableText(values: unknown): Complaint | undefined {
  for (const [name, text] of Object.entries(values as Record<string, unknown>)) {
    if (typeof text === 'string' && !isKeepable(text))
      return { where: name, keyword: 'pattern', description: 'has a NUL character' };
  }
  return undefined;
}

function integersOf(query: TSchema | undefined): string[] {
  const properties =
    (query as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {};
  return Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
}

/** Everything in a query is text; what the schema calls an integer becomes one if it looks like one. */
function withNumbers(query: unknown, names: string[]): unknown {
  if (names.length === 0) return query;
  const read: Record<string, unknown> = { ...(query as Record<string, unknown>) };
  for (const name of names) {
    const text = read[name];
    // Beyond 2^53 there is nothing to tell apart: the largest stands for all that are larger.
    if (typeof text === 'string' && /^-?\d{1,100}$/.test(text)) read[name] = clamped(Number(text));
  }
  return read;
}

function clamped(number: number): number {
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number));
}

export function sendRefusal(side: Side, reply: FastifyReply, refusal: Refusal<RefusalCode>): void {
  const answer = refusalAnswer(side, refusal);
  reply.code(answer.status);
  if (answer.body === '') return void reply.send();
  void reply.type('application/json; charset=utf-8').send(answer.body);
}

function sendTooMany(reply: FastifyReply, waitSeconds: number): void {
  reply.header('Retry-After', String(waitSeconds));
  // It looks the same on both sides.
  sendRefusal('processing', reply, { code: 'tooManyRequests' });
}

function sendTooLate(reply: FastifyReply): void {
  // What was to be said may have been begun: when to come back is of an answer that nobody gets.
  if (!reply.sent) void reply.removeHeader('Retry-After').code(504).send();
}

function sendUnauthorized(reply: FastifyReply): void {
  void reply.code(401).header('WWW-Authenticate', 'Bearer').send();
}

/** A fault, not a refusal: 503 when certainly nothing was done, 500 when nobody knows. */
export function statusOfFault(error: unknown): 500 | 503 {
  return error instanceof DatabaseUnavailable ? 503 : 500;
}

function headerText(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}
