// A 401 has no body. The header WWW-Authenticate says what is wrong with the token, in the errors of RFC 6750.
import type { FastifyReply } from 'fastify';
import type { Caller, RefusedToken } from '../../../caller.ts';
import { hasScope, scopesOf, type Access, type ExtraScope } from '../access.ts';

/** Unknown and mistyped have one text: whether a key exists is not for those who lack its secret. */
export const invalidToken = invalidBecause(
  'This token is unknown or mistyped. A key of a sandbox works only there, a key of a live service only there.',
);

export const refusedToken: Readonly<Record<RefusedToken['why'], string>> = {
  revoked: invalidBecause('This API key is revoked. Create another: mandate keys create.'),
  deleted: invalidBecause('The invoice template of this token is deleted.'),
  expired: invalidBecause('This token has expired. Issue another.'),
  otherMode: invalidBecause(
    'This API key is of the other mode. A sandbox takes test keys, a live service takes live keys.',
  ),
};

/** The contract has no 403, so a token that is valid but not enough gets 401 too. */
const insufficientScope = 'error="insufficient_scope"';

/** Names the scopes that a key lacks. No scope would help an access token: its operations and its object are fixed. */
export function insufficientFor(access: Pick<Access, 'scope' | 'alsoScope'>, caller: Caller): string {
  const needed = scopesOf(access).join(' ');
  return caller.kind === 'apiKey' ? `${insufficientScope}, scope="${needed}"` : insufficientScope;
}

/** Undefined if the caller may send this request of an operation that they may call. */
export function refusalOfRequest<Request extends { readonly caller: Caller }>(
  {
    isOwnParty,
    extraScopes = [],
  }: {
    readonly isOwnParty?: (request: Request) => boolean;
    readonly extraScopes?: readonly ExtraScope<Request>[];
  },
  request: Request,
): string | undefined {
  if (isOwnParty?.(request) === false) return insufficientScope;
  const lacking = extraScopes.find(
    ({ scope, isNeeded }) => isNeeded(request) && !hasScope(request.caller, scope),
  );
  return lacking && insufficientFor(lacking, request.caller);
}

/** Without an error the request has no token. */
export function sendUnauthorized(reply: FastifyReply, error?: string): void {
  void reply
    .code(401)
    .header('WWW-Authenticate', error === undefined ? 'Bearer' : `Bearer ${error}`)
    .send();
}

function invalidBecause(description: string): string {
  return `error="invalid_token", error_description="${description}"`;
}
