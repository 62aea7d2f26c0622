// The life of a request; what it means is decided in the modules. Its exits, in this order: preflight, authentication, scope, party,
// request ID, deadline, rate, body, schema, limit, prepare, repeat, handler, response.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../caller.ts';
import type { Clock, Instant } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import type { Busy } from '../../refusal.ts';
import { refusalOfAccess } from './access.ts';
import { takesIdempotencyKey, type AnyEndpoint, type DeclaredRequest } from './endpoint.ts';
import { apiFamilyOf, errorResponse, validationRefusal, waitSecondsOf } from './errors/error-response.ts';
import {
  insufficientFor,
  invalidToken,
  refusalOfRequest,
  refusedToken,
  sendUnauthorized,
} from './errors/unauthorized.ts';
import {
  withoutMembers,
  type EndpointResponse,
  type Idempotency,
  type IdempotentResult,
} from './idempotency.ts';
import { authenticate, hasBearerToken, type AuthenticationDeps } from './pipeline/authentication.ts';
import { headerText, problemOfKey, problemOfRequestId } from './pipeline/headers.ts';
import { refusalOfIds, type NumberedIdDeps } from './pipeline/numbered-ids.ts';
import { bytesOf, partsOf, readWithin, requestReader, tooLargeForToken } from './pipeline/read-request.ts';
import {
  createdIn,
  responseWriter,
  sendRefusal,
  sendTooLate,
  sendTooMany,
  sendUnsupported,
  withWarnings,
  type ResponseWriter,
} from './pipeline/send-response.ts';
import { reportUnknown, withSuggestion } from './pipeline/unknown-members.ts';
import { settledBy, type Settled } from './pipeline/wait-for-outcome.ts';
import type { Forwarding } from './proxies/forwarding.ts';
import {
  isTooLargeFor,
  maxBytesToListFaults,
  type CallerAt,
  type CallerLimits,
} from './request/caller-limits.ts';
import { clientAddress } from './request/client-address.ts';
import { noUnknownMembers } from './request/declared-members.ts';
import { maxTimeoutMs, RequestDeadline, timeoutMsOf } from './request/request-deadline.ts';
import { warningOfOutcome, warningsHeader, type Unknown } from './request/warnings.ts';
import type { OutcomeWaits } from './waiting/outcome-waits.ts';

/** What the first half needs. */
type HeadDeps = AuthenticationDeps & {
  readonly clock: Clock;
  readonly callerLimits: CallerLimits;
  readonly forwarding: Forwarding;
};

export type PipelineDeps<Deps extends { readonly db: Database }, PrepareDeps> = HeadDeps &
  NumberedIdDeps & {
    /** What endpoints use. A request with an Idempotency-Key gets its transaction as `db`. */
    readonly endpointDeps: Deps;
    /** For slow work without the database, in `prepare` alone: a transaction may be open in `handle`. */
    readonly prepareDeps: PrepareDeps;
    /** The party's time, which its test clock may have moved; undefined if the party does not exist. */
    readonly timeOf: (partyId: string) => Promise<Instant | undefined>;
    readonly idempotency: Idempotency;
    readonly outcomeWaits: OutcomeWaits;
    /** What the service's own URLs in responses begin with. */
    readonly publicUrl: () => string;
    readonly livemode: boolean;
    readonly log: Logger;
  };

/** What the first half, before the body is read, passes to the second. */
export type RequestContext = CallerAt & { readonly deadline: RequestDeadline };

/** The first half: checks everything in the head of the request. Undefined once it has sent a response. */
export async function openRequest(
  deps: HeadDeps,
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

  const badId = problemOfRequestId(family, request, reply);
  if (badId) return void sendRefusal(family, reply, validationRefusal(family, badId));
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
  deps: Pick<HeadDeps, 'callerLimits' | 'forwarding'>,
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
  { callerLimits }: Pick<HeadDeps, 'callerLimits'>,
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
    const { caller, deadline, countedAs } = context;
    const unknown = { body: noUnknownMembers(), query: noUnknownMembers() };
    const { length } = bytesOf(request);
    const listsFaults = caller.kind === 'apiKey' && length <= maxBytesToListFaults;
    const reading = () => read(request, unknown, listsFaults);
    const input = readWithin(deps.callerLimits, context, length, reading);
    reportUnknown(deps, endpoint, caller, unknown, reply);
    if ('unsupported' in input) return sendUnsupported(reply);
    if ('refusal' in input) return sendRefusal(family, reply, withSuggestion(input.refusal, unknown));

    const key = takesKey ? headerText(request, 'idempotency-key') : undefined;
    const badKey = key === undefined ? undefined : problemOfKey(key, caller);
    if (badKey) return sendRefusal(family, reply, validationRefusal(family, badKey));
    const refusedId = await refusalOfIds(deps, endpoint, caller, input, key, reply);
    if (refusedId) return sendRefusal(family, reply, refusedId);
    const now = await deps.timeOf(caller.partyId);
    if (deadline.isOver) return;
    if (now === undefined) return sendUnauthorized(reply, invalidToken);
    const address = clientAddress(request);
    const endpointRequest: DeclaredRequest = { ...partsOf(input), caller, now, address, countedAs };
    const insufficient = refusalOfRequest(endpoint, endpointRequest);
    if (insufficient !== undefined) return sendUnauthorized(reply, insufficient);
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
    if (!deadline.isOver) sendResult(deps, endpoint, result, request, reply);
  };
}

function sendResult(
  { publicUrl }: { readonly publicUrl: () => string },
  { path, status, location }: AnyEndpoint,
  result: IdempotentResult | Busy,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (result.kind === 'busy') return sendTooMany(reply, result.waitSeconds);
  if (result.kind === 'other-request')
    return sendRefusal(apiFamilyOf(path), reply, { code: 'idempotencyKeyReused' });
  if (result.kind === 'replay') reply.header('Idempotent-Replayed', 'true');
  const { response } = result;
  reply.code(response.status);
  if (response.warnings !== undefined) reply.header(warningsHeader, response.warnings);
  const hasSucceeded = response.status < 300;
  if (location && hasSucceeded) reply.header('Location', publicUrl() + location(JSON.parse(response.body)));
  if (response.body === '') return void reply.send();
  if (status !== 200 && hasSucceeded) request.createdId = createdIn(response.body);
  return void reply.type('application/json; charset=utf-8').send(response.body);
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
