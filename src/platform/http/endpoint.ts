// An endpoint is one operation of the API: its parameters, checks, response and errors. The same declaration validates the request,
// shapes the response and is printed as OpenAPI.
import type { Static, TSchema } from 'typebox';
import type { Instant } from '../../clock.ts';
import type { Busy, Outcome } from '../../refusal.ts';
import type { Access, ExtraScope } from './access.ts';
import type { Caller } from '../../caller.ts';
import type { DeclaredOnly } from './request/declared-members.ts';
import type { AwaitedOutcome } from './waiting/outcome-waits.ts';
import type { ErrorCode, errorsOfEveryOperation } from './errors/error-codes.ts';

/** Every operation can return these. Any other code must stand in the endpoint's own list. */
type AlwaysPossible = (typeof errorsOfEveryOperation)[number];

type Declared<Schema extends TSchema | undefined> = Schema extends TSchema ? Static<Schema> : undefined;

export type EndpointRequest<Params = unknown, Query = unknown, Body = unknown> = {
  readonly caller: Caller;
  /** The caller's time: the party's test clock in a sandbox, real time otherwise. */
  readonly now: Instant;
  /** The client's address, past trusted proxies; undefined if they forwarded something that is not an address. */
  readonly address: string | undefined;
  /** What limits count the client by. */
  readonly countedAs: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The body with what no schema declares. Only fingerprints read it: those stored before count undeclared members too. */
  readonly sentBody: unknown;
};
/** What the pipeline passes to an endpoint: declared members alone. */
export type DeclaredRequest = EndpointRequest<
  DeclaredOnly | undefined,
  DeclaredOnly | undefined,
  DeclaredOnly | undefined
>;

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
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` for path parameters. A path under /v2/processing also works under /v1/processing. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /**
   * For what a schema cannot say: the error message of a body that fits the schema, as part of the same check. It sees undeclared
   * members too, so that it can refuse a card number anywhere.
   */
  readonly validateBody?: (body: Declared<Body>) => string | undefined;
  /** An example body that works in the sandbox as it is. */
  readonly bodyExample?: unknown;
  readonly status: 200 | 201 | 202 | 204;
  readonly response?: Answer;
  /** The path of what was created, for the Location header. */
  readonly location?: (response: Declared<Answer>) => string;
  readonly errors: readonly Code[];
  /** It does what others do, and their codes are explained there. */
  readonly isOfOthers?: true;
  /** The outcome that a caller can wait for with Prefer. */
  readonly outcome?: AwaitedOutcome<Declared<Params>, Declared<Answer>, Deps>;
  /** For the rare write that is not a single transaction. It must be harmless when repeated. */
  readonly ignoresIdempotencyKey?: true;
  /**
   * Members of the body, such as `paymentTool.cvv`, that leave no trace under an Idempotency-Key, not even in its hash. Requests that
   * differ only in these are the same request.
   */
  readonly excludeFromHash?: readonly string[];
  /** False if the body acts in the name of another party: the response is 401. */
  readonly isOwnParty?: (
    request: EndpointRequest<Declared<Params>, Declared<Query>, Declared<Body>>,
  ) => boolean;
  /** Without one that it needs, the response is 401. */
  readonly extraScopes?: readonly ExtraScope<
    EndpointRequest<Declared<Params>, Declared<Query>, Declared<Body>>
  >[];
  /** The seconds this caller has to wait, if any: the response is 429. Checked before stored responses are read. */
  readonly limit?: (
    request: EndpointRequest<Declared<Params>, Declared<Query>, Declared<Body>>,
    deps: Deps,
  ) => number | undefined;
  /**
   * Slow work, done before there is a transaction. `handle` gets its result and does no slow work itself; if it is busy, the response
   * is 429.
   */
  readonly prepare?: <T>(deps: PrepareDeps, work: (prepared: Made) => Promise<T>) => Promise<T | Busy>;
  readonly handle: (
    request: EndpointRequest<Declared<Params>, Declared<Query>, Declared<Body>>,
    deps: Deps,
    prepared: Made,
  ) => Promise<Outcome<Declared<Answer>, Code | AlwaysPossible>>;
};

/** An endpoint without its own types: the pipeline has checked what it passes on. */
export type AnyEndpoint<Deps = never, PrepareDeps = never> = Omit<
  Endpoint,
  'handle' | 'limit' | 'isOwnParty' | 'extraScopes' | 'validateBody' | 'location' | 'prepare' | 'outcome'
> & {
  readonly location?: (response: unknown) => string;
  readonly isOwnParty?: (request: DeclaredRequest) => boolean;
  readonly extraScopes?: readonly ExtraScope<DeclaredRequest>[];
  readonly limit?: (request: DeclaredRequest, deps: Deps) => number | undefined;
  readonly outcome?: AwaitedOutcome<unknown, unknown, Deps>;
  readonly validateBody?: (body: unknown) => string | undefined;
  readonly prepare?: <T>(deps: PrepareDeps, work: (prepared: unknown) => Promise<T>) => Promise<T | Busy>;
  readonly handle: (
    request: DeclaredRequest,
    deps: Deps,
    prepared: unknown,
  ) => Promise<Outcome<unknown, ErrorCode>>;
};

export function takesIdempotencyKey(endpoint: AnyEndpoint): boolean {
  return endpoint.method !== 'GET' && !endpoint.ignoresIdempotencyKey;
}

/** An endpoint depends on what its `handle` and `limit` name, and on nothing else. */
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
  // The only place where the types meet: the pipeline validates params, query and body by these very schemas.
  return declaration as unknown as AnyEndpoint<Deps, PrepareDeps>;
}
