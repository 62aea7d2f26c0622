// A 401 has no body. The header WWW-Authenticate says what is wrong with the token, in the errors of RFC 6750.
import type { FastifyReply } from 'fastify';
import type { Caller, RefusedToken } from '../../../caller.ts';
import { scopesOf, type Access } from '../access.ts';

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
export const insufficientScope = 'error="insufficient_scope"';

/** Names the scopes that a key lacks. No scope would help an access token: its operations and its object are fixed. */
export function insufficientFor(access: Access, caller: Caller): string {
  const needed = scopesOf(access).join(' ');
  return caller.kind === 'apiKey' ? `${insufficientScope}, scope="${needed}"` : insufficientScope;
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
