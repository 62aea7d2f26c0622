// Who may call an operation: the scope an API key needs, and the access tokens that allow it. Each endpoint declares its own, and a
// test calls every operation with every kind of token, for its own entity and for another.
import type { FastifyRequest } from 'fastify';
import type { Caller, TokenKind } from '../../caller.ts';
import type { ErrorCode } from './errors/error-codes.ts';
import { partyInPath } from './paths/router-path.ts';

/** The scope of a key created without a list: every scope, now and later. */
export const allScopes = '*';

/** What an API key can be limited to. */
export const scopes = [
  'customers:read',
  'customers:write',
  'identities:write',
  'invoices:read',
  'invoices:write',
  'payment-resources:write',
  'payments:read',
  'payments:write',
  'payouts:read',
  'payouts:write',
  'shops:read',
  'webhooks:read',
  'webhooks:write',
  'subscriptions:read',
  'subscriptions:write',
  'sandbox',
  'wallets:write',
] as const;
export type Scope = (typeof scopes)[number];

/** What an API key must have. */
export function scopesOf({ scope, alsoScope }: Pick<Access, 'scope' | 'alsoScope'>): readonly Scope[] {
  return alsoScope === undefined ? [scope] : [scope, alsoScope];
}

export type Access<Code extends ErrorCode = ErrorCode> = {
  readonly scope: Scope;
  /** A second one, for an operation that does what two others do. */
  readonly alsoScope?: Scope;
  /** The access tokens that may call it, each for the one entity it was issued for. */
  readonly tokens?: readonly TokenKind[];
  /** The path parameter that names that entity. */
  readonly entity?: string;
  /** Any token of the party will do: the request names no entity to compare with its own. */
  readonly anyEntity?: true;
  /** Reads return this error instead of 401, so that a caller cannot find out what exists. */
  readonly maskedAs?: NoInfer<Code>;
};

/** What some requests need more than their operation does. */
export type ExtraScope<Request> = {
  readonly scope: Scope;
  /** For readers of the documents, such as "for a refund". */
  readonly when: string;
  readonly isNeeded: (request: Request) => boolean;
};

export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.kind === 'apiKey' && [allScopes, scope].some((one) => caller.scopes.includes(one));
}

/** What keeps the caller from the operation: the party in the path, a scope, or the entity of the token. */
export function refusalOfAccess(
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
