// What the bank's code means for a payout.
import type { PayoutFailure } from '../../wallets/domain/failure-path.ts';

const declined = (...path: string[]): PayoutFailure => ['authorization_failed', ...path];
const cardRejected = (reason: string) => declined('destination_rejected', 'bank_card_rejected', reason);

export const noRoute: PayoutFailure = ['no_route_found'];
/** An operator has decided so. */
export const operatorDecided: PayoutFailure = declined('unknown');

const byCode: Readonly<Record<string, PayoutFailure>> = {
  '03': declined('operation_blocked'),
  '04': declined('account_blocked'),
  '06': declined('temporarily_unavailable'),
  '07': declined('account_stolen'),
  '10': declined('insufficient_funds'),
  '12': declined('operation_blocked'),
  '13': declined('operation_blocked'),
  '14': cardRejected('card_number_invalid'),
  '15': declined('payment_tool_rejected', 'bank_card_rejected', 'issuer_not_found'),
  '19': declined('temporarily_unavailable'),
  '28': declined('temporarily_unavailable'),
  '31': declined('operation_blocked'),
  '33': declined('payment_tool_rejected', 'bank_card_rejected', 'card_expired'),
  '34': declined('security_policy_violated'),
  '36': declined('account_blocked'),
  '39': declined('account_not_found'),
  '40': declined('operation_blocked'),
  '41': declined('account_stolen'),
  '43': declined('account_stolen'),
  '46': declined('account_blocked'),
  '51': declined('insufficient_funds'),
  '52': declined('account_not_found'),
  '53': declined('account_not_found'),
  '54': declined('payment_tool_rejected', 'bank_card_rejected', 'card_expired'),
  '56': declined('account_not_found'),
  '57': declined('operation_blocked'),
  '58': declined('operation_blocked'),
  '59': declined('security_policy_violated'),
  '61': declined('account_limit_exceeded', 'amount'),
  '62': declined('account_blocked'),
  '63': declined('security_policy_violated'),
  '64': declined('operation_blocked'),
  '65': declined('account_limit_exceeded', 'number'),
  '78': declined('account_blocked'),
  '79': declined('account_blocked'),
  '80': declined('temporarily_unavailable'),
  '81': declined('temporarily_unavailable'),
  '88': declined('temporarily_unavailable'),
  '91': declined('temporarily_unavailable'),
  '92': declined('temporarily_unavailable'),
  '93': declined('operation_blocked'),
  '96': declined('temporarily_unavailable'),
};

export function failureOfDecline({ code }: { readonly code: string }): PayoutFailure {
  return Object.hasOwn(byCode, code) ? (byCode[code] ?? declined('unknown')) : declined('unknown');
}

/** Nobody has looked at the card: it may be asked for again. */
export function isTransient([, reason]: PayoutFailure): boolean {
  return reason === 'temporarily_unavailable';
}
