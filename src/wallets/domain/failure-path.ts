// Why a transfer or a payout failed, as a path in the merchant's tree of errors. Pure.

/** From the outermost code inwards: `['authorization_failed', 'account_blocked']`. */
export type PayoutFailure = readonly [string, ...string[]];

/** The wallet lacked the money. */
export const insufficientFunds: PayoutFailure = ['account_limit_exceeded', 'amount'];

export type NestedFailure = { readonly code: string; readonly subError?: NestedFailure };

/** The tree a merchant sees. */
export function nestedFailure([code, ...inner]: PayoutFailure): NestedFailure {
  const [next, ...rest] = inner;
  return next === undefined ? { code } : { code, subError: nestedFailure([next, ...rest]) };
}
