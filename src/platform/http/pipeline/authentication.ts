// Finds the caller of a request by its token: an API key, an access token, or the token of a template.
import type { FastifyRequest } from 'fastify';
import type { Caller, RefusedToken } from '../../../caller.ts';
import { networkOf } from '../request/client-address.ts';
import type { RateLimit } from '../request/rate-limit.ts';

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

export type AuthenticationDeps = {
  readonly apiKeys: ApiKeyCheck;
  readonly tokens: TokenCheck;
  readonly templateTokens: TokenCheck;
  readonly failedAuthenticationRate: RateLimit;
};

/**
 * Limits failures per network. A key counts as a failure until it has worked here, so a flood of made-up keys does not reach the
 * database.
 */
export async function authenticate(
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

export function hasBearerToken({ headers: { authorization } }: FastifyRequest): boolean {
  return /^Bearer +\S/i.test(authorization ?? '');
}
