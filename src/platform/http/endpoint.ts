// What an endpoint is: one operation of the API with its parameters, its checks in order, its answer and its refusals.
// The same declaration validates the request, shapes the answer and is printed as OpenAPI.
import type { Static, TSchema } from 'typebox';
import type { Instant } from '../../clock.ts';
import type { Busy, Outcome } from '../../refusal.ts';
import type { Access } from './access.ts';
import type { Caller } from '../../caller.ts';
import type { ErrorCode, refusalsOfEveryOperation } from './errors/error-codes.ts';

/** A refusal every operation shares needs no mention; any other must stand in the endpoint's own list. */
type AlwaysPossible = (typeof refusalsOfEveryOperation)[number];

type Declared<Schema extends TSchema | undefined> = Schema extends TSchema ? Static<Schema> : undefined;

export type EndpointRequest<Params = unknown, Query = unknown, Body = unknown> = {
  readonly caller: Caller;
  /** The caller's time: the party's test clock in a sandbox, real time otherwise. */
  readonly now: Instant;
  /** Where the request came from, past trusted proxies; undefined when they forwarded what is no address. */
  readonly address: string | undefined;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
};

export type Endpoint<
  Params extends TSchema | undefined = TSchema | undefined,
  Query extends TSchema | undefined = TSchema | undefined,
  Body extends TSchema | undefined = TSchema | undefined,
  Answer extends TSchema | undefined = TSchema | undefined,
  Code extends ErrorCode = ErrorCode,
  Deps = never,
  PrepareDeps = never,
  Made = unknown,
> = {
  /** The operation's name in OpenAPI and in metrics. */
  readonly operation: string;
  readonly access: Access<Code>;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{name}` for path parameters. What begins with /v2/processing also answers under /v1/processing. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** What a schema cannot say: the complaint about a body that fits it, as part of the same check. */
  readonly validateBody?: (body: Declared<Body>) => string | undefined;
  /** A body worth showing to a newcomer: it works in the sandbox as it stands. */
  readonly bodyExample?: unknown;
  readonly status: 200 | 201 | 202 | 204;
  readonly response?: Answer;
  /** The path of what was made, for the header Location. */
  readonly location?: (response: Declared<Answer>) => string;
  readonly errors: readonly Code[];
  /** For the rare write that is no single transaction; it must be harmless when repeated. */
  readonly ignoresIdempotencyKey?: true;
  /**
   * Members of the body that leave no trace under an Idempotency-Key, not even in its hash, as `paymentTool.cvv`. A request
   * that differs in nothing else is the same request.
   */
  readonly excludeFromHash?: readonly string[];
  /** False where the body asks for something in the name of another: it is answered with 401. */
  readonly isOwnParty?: (
    request: EndpointRequest<Declared<Params>, Declared<Query>, Declared<Body>>,
  ) => boolean;
  /** The seconds this caller has to wait, if any. Asked before everything that is kept: it is answered with 429. */
  readonly limit?: (
    request: EndpointRequest<Declared<Params>, Declared<Query>, Declared<Body>>,
    deps: Deps,
  ) => number | undefined;
  /**
   * What takes long is made here, before there is a transaction, and handed to `handle`, which makes nothing that takes long. When it
   * is busy the answer is 429.
   */
  readonly prepare?: <T>(deps: PrepareDeps, work: (prepared: Made) => Promise<T>) => Promise<T | Busy>;
  readonly handle: (
    request: EndpointRequest<Declared<Params>, Declared<Query>, Declared<Body>>,
    deps: Deps,
    prepared: Made,
  ) => Promise<Outcome<Declared<Answer>, Code | AlwaysPossible>>;
};

/** An endpoint among others, its own types forgotten: the pipeline has checked what it hands over. */
export type AnyEndpoint<Deps = never, PrepareDeps = never> = Omit<
  Endpoint,
  'handle' | 'limit' | 'isOwnParty' | 'validateBody' | 'location' | 'prepare'
> & {
  readonly location?: (response: unknown) => string;
  readonly isOwnParty?: (request: EndpointRequest) => boolean;
  readonly limit?: (request: EndpointRequest, deps: Deps) => number | undefined;
  readonly validateBody?: (body: unknown) => string | undefined;
  readonly prepare?: <T>(deps: PrepareDeps, work: (prepared: unknown) => Promise<T>) => Promise<T | Busy>;
  readonly handle: (
    request: EndpointRequest,
    deps: Deps,
    prepared: unknown,
  ) => Promise<Outcome<unknown, ErrorCode>>;
};

export function takesIdempotencyKey(endpoint: AnyEndpoint): boolean {
  return endpoint.method !== 'GET' && !endpoint.ignoresIdempotencyKey;
}

/** What an endpoint takes from the service is what its `handle` and `limit` name, and nothing else. */
export function endpoint<
  Params extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Body extends TSchema | undefined = undefined,
  Answer extends TSchema | undefined = undefined,
  const Code extends ErrorCode = never,
  Deps = unknown,
  PrepareDeps = unknown,
  Made = undefined,
>(
  declaration: Endpoint<Params, Query, Body, Answer, Code, Deps, PrepareDeps, Made>,
): AnyEndpoint<Deps, PrepareDeps> {
  // The one place where the types meet: the pipeline validates params, query and body by these very schemas.
  return declaration as unknown as AnyEndpoint<Deps, PrepareDeps>;
}
