// Why a transfer or a payout failed, as a path of codes.

/** From the outermost code inwards: `['authorization_failed', 'account_blocked']`. */
export type PayoutFailure = readonly [string, ...string[]];

/** The wallet has too little money. */
export const insufficientFunds: PayoutFailure = ['account_limit_exceeded', 'amount'];

export type NestedFailure = { readonly code: string; readonly subError?: NestedFailure };

/** The form in the API. */
export function nestedFailure([code, ...inner]: PayoutFailure): NestedFailure {
  const [next, ...rest] = inner;
  return next === undefined ? { code } : { code, subError: nestedFailure([next, ...rest]) };
}
