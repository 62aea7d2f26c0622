// What a bank's decline code means for a payout.
import { payoutFailureOf, unknownFailure } from '../../acquiring/domain/network-codes.ts';
import type { PayoutFailure } from '../../wallets/domain/failure-path.ts';

export const noRoute: PayoutFailure = ['no_route_found'];
/** The failure of a payout that an operator resolved as failed. */
export const operatorDecided: PayoutFailure = unknownFailure;

export function failureOfDecline({ code }: { readonly code: string }): PayoutFailure {
  return payoutFailureOf(code);
}

/** The card itself was not checked, so the check can be repeated. */
export function isTransient([, reason]: PayoutFailure): boolean {
  return reason === 'temporarily_unavailable';
}
