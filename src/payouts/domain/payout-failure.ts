// What a bank's decline code means for a payout.
import type { PayoutFailure } from '../../wallets/domain/failure-path.ts';

const declined = (...path: string[]): PayoutFailure => ['authorization_failed', ...path];
const cardRejected = (reason: string) => declined('destination_rejected', 'bank_card_rejected', reason);

export const noRoute: PayoutFailure = ['no_route_found'];
/** The failure of a payout that an operator resolved as failed. */
export const operatorDecided: PayoutFailure = declined('unknown');

/** By card-network code. Any other code means an unknown failure. */
const codesOf: readonly (readonly [PayoutFailure, string])[] = [
  [declined('operation_blocked'), '03 12 13 31 40 57 58 64 93'],
  [declined('account_blocked'), '04 36 46 62 78 79'],
  [declined('temporarily_unavailable'), '06 19 28 80 81 88 91 92 96'],
  [declined('account_stolen'), '07 41 43'],
  [declined('insufficient_funds'), '10 51'],
  [cardRejected('card_number_invalid'), '14'],
  [declined('payment_tool_rejected', 'bank_card_rejected', 'issuer_not_found'), '15'],
  [declined('payment_tool_rejected', 'bank_card_rejected', 'card_expired'), '33 54'],
  [declined('security_policy_violated'), '34 59 63'],
  [declined('account_not_found'), '39 52 53 56'],
  [declined('account_limit_exceeded', 'amount'), '61'],
  [declined('account_limit_exceeded', 'number'), '65'],
];
const byCode = new Map(
  codesOf.flatMap(([failure, codes]) => codes.split(' ').map((code) => [code, failure])),
);

export function failureOfDecline({ code }: { readonly code: string }): PayoutFailure {
  return byCode.get(code) ?? declined('unknown');
}

/** The card itself was not checked, so the check can be repeated. */
export function isTransient([, reason]: PayoutFailure): boolean {
  return reason === 'temporarily_unavailable';
}
