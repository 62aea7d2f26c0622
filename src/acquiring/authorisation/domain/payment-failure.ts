// Maps the bank's decline code to the error tree a merchant sees and the one flat code a payer sees. Payers
// never see the raw code, which would help a card tester.

/** From the outermost code inwards: `['authorization_failed', 'insufficient_funds']`. */
export type PaymentFailure = readonly [string, ...string[]];

const cardRejected = ['authorization_failed', 'payment_tool_rejected', 'bank_card_rejected'] as const;
const declined = (...path: string[]): PaymentFailure => ['authorization_failed', ...path];

const threeDsFailed: PaymentFailure = ['preauthorization_failed', 'three_ds_failed'];
export const threeDsNotFinished: PaymentFailure = ['preauthorization_failed', 'three_ds_not_finished'];
/** The consent or the card ended before the charge was sent. */
export const consentOver: PaymentFailure = declined('operation_blocked');
/** The merchant cancelled the payment, and the bank had not approved it. */
export const cancelledInTime: PaymentFailure = declined('operation_blocked');
/** The shop's balance stayed too small for a refund. */
export const shopLacksFunds: PaymentFailure = ['terms_violated', 'insufficient_merchant_funds'];
export const deadlineReached: PaymentFailure = declined('processing_deadline_reached');

const byCode: Readonly<Record<string, PaymentFailure>> = {
  '3ds-failed': threeDsFailed,
  '3ds-not-finished': threeDsNotFinished,
  '3ds-unavailable': ['preauthorization_failed', 'unknown'],
  '01': declined('rejected_by_issuer'),
  '02': declined('rejected_by_issuer'),
  '03': declined('merchant_blocked'),
  '04': declined('account_blocked'),
  '05': declined('rejected_by_issuer'),
  '06': declined('temporarily_unavailable'),
  '07': declined('account_stolen'),
  '10': declined('insufficient_funds'),
  '12': declined('operation_blocked'),
  '13': declined('operation_blocked'),
  '14': [...cardRejected, 'card_number_invalid'],
  '15': [...cardRejected, 'issuer_not_found'],
  '17': declined('rejected_by_issuer'),
  '19': declined('temporarily_unavailable'),
  '21': declined('temporarily_unavailable'),
  '28': declined('temporarily_unavailable'),
  '31': declined('operation_blocked'),
  '33': [...cardRejected, 'card_expired'],
  '34': declined('security_policy_violated'),
  '36': declined('account_blocked'),
  '38': declined('security_policy_violated'),
  '39': declined('account_not_found'),
  '40': declined('operation_blocked'),
  '41': declined('account_stolen'),
  '43': declined('account_stolen'),
  '46': declined('account_blocked'),
  '51': declined('insufficient_funds'),
  '52': declined('account_not_found'),
  '53': declined('account_not_found'),
  '54': [...cardRejected, 'card_expired'],
  '55': declined('security_policy_violated'),
  '56': declined('account_not_found'),
  '57': declined('operation_blocked'),
  '58': declined('operation_blocked'),
  '59': declined('security_policy_violated'),
  '61': declined('account_limit_exceeded', 'amount'),
  '62': declined('account_blocked'),
  '63': declined('security_policy_violated'),
  '64': declined('operation_blocked'),
  '65': declined('account_limit_exceeded', 'number'),
  '68': deadlineReached,
  '70': declined('security_policy_violated'),
  '75': declined('security_policy_violated'),
  '78': declined('account_blocked'),
  '79': declined('account_blocked'),
  '80': declined('temporarily_unavailable'),
  '81': declined('temporarily_unavailable'),
  '82': [...cardRejected, 'cvv_invalid'],
  '83': declined('security_policy_violated'),
  '86': declined('security_policy_violated'),
  '88': declined('temporarily_unavailable'),
  '91': declined('temporarily_unavailable'),
  '92': declined('temporarily_unavailable'),
  '93': declined('operation_blocked'),
  '96': declined('temporarily_unavailable'),
  '1A': declined('security_policy_violated'),
  '5C': declined('operation_blocked'),
  '6P': declined('payment_tool_rejected', 'unknown'),
  '9G': declined('operation_blocked'),
  N3: declined('operation_blocked'),
  N4: declined('operation_blocked'),
  N7: [...cardRejected, 'cvv_invalid'],
  R0: declined('operation_blocked'),
  R1: declined('operation_blocked'),
  R3: declined('operation_blocked'),
};

// Codes to which networks give different meanings.
const byNetworkAndCode: Readonly<Record<string, PaymentFailure>> = {
  'mastercard 65': declined('security_policy_violated'),
  'mastercard 78': declined('account_not_found'),
  'mastercard 82': declined('rejected_by_issuer'),
};

export function failureOfDecline({ network, code }: { network: string; code: string }): PaymentFailure {
  const brand = network === 'maestro' ? 'mastercard' : network;
  return byNetworkAndCode[`${brand} ${code}`] ?? byCode[code] ?? declined('unknown');
}

export type MerchantError = { readonly code: string; readonly subError?: MerchantError };

/** The error tree for merchants. */
export function merchantError([code, ...inner]: PaymentFailure): MerchantError {
  const [next, ...rest] = inner;
  return next === undefined ? { code } : { code, subError: merchantError([next, ...rest]) };
}

/** The flat code for payers. */
export function payerError([code, reason]: PaymentFailure): { readonly code: string } {
  if (code === 'preauthorization_failed') return { code: 'PreauthorizationFailed' };
  if (code === 'timeout') return { code: 'timeout' };
  if (code !== 'authorization_failed') return { code: 'PaymentRejected' };
  switch (reason) {
    case 'account_blocked':
    case 'rejected_by_issuer':
      return { code: 'RejectedByIssuer' };
    case 'payment_tool_rejected':
    case 'account_not_found':
      return { code: 'InvalidPaymentTool' };
    case 'account_limit_exceeded':
      return { code: 'AccountLimitsExceeded' };
    case 'insufficient_funds':
      return { code: 'InsufficientFunds' };
    default:
      return { code: 'PaymentRejected' };
  }
}
