// Who may call an operation: the scope an API key needs, and the access tokens that may do it. Each endpoint declares its own;
// a test walks every operation with every kind of token, for an entity of its own and for another's.
import type { TokenKind } from '../../caller.ts';
import type { ErrorCode } from './errors/error-codes.ts';

/** The scope of a key that was made without a list: whatever there is, now and later. */
export const allScopes = '*';

/** What an API key may be narrowed to. */
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
  'sandbox',
  'wallets:write',
] as const;
export type Scope = (typeof scopes)[number];

export type Access<Code extends ErrorCode = ErrorCode> = {
  readonly scope: Scope;
  /** The access tokens that may call it, each for the one entity it was issued for. None without it. */
  readonly tokens?: readonly TokenKind[];
  /** The path parameter that names that entity. */
  readonly entity?: string;
  /** The token need only be of the party: the request names no entity to compare with its own. */
  readonly anyEntity?: true;
  /** Reads hide a refusal behind this error, so that nobody learns what exists; the others answer 401. */
  readonly maskedAs?: NoInfer<Code>;
};
