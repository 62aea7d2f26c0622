// Maps the bank's decline code to the error tree a merchant sees and the one flat code a payer sees. Payers
// never see the raw code, which would help a card tester.
import { paymentFailureOf, unknownFailure, type FailurePath } from '../../domain/network-codes.ts';

export type PaymentFailure = FailurePath;

const declined = (...path: string[]): PaymentFailure => ['authorization_failed', ...path];

export const deadlineReached: PaymentFailure = declined('processing_deadline_reached');
export const threeDsNotFinished: PaymentFailure = ['preauthorization_failed', 'three_ds_not_finished'];
/** The consent or the card ended before the charge was sent. */
export const consentOver: PaymentFailure = declined('operation_blocked');
/** The merchant cancelled the payment, and the bank had not approved it. */
export const cancelledInTime: PaymentFailure = declined('operation_blocked');
/** The shop's balance stayed too small for a refund. */
export const shopLacksFunds: PaymentFailure = ['terms_violated', 'insufficient_merchant_funds'];

/** Codes of the bank about the challenge. */
const challengeFailures: Readonly<Record<string, PaymentFailure>> = {
  '3ds-failed': ['preauthorization_failed', 'three_ds_failed'],
  '3ds-not-finished': threeDsNotFinished,
  '3ds-unavailable': ['preauthorization_failed', 'unknown'],
};

export function failureOfDecline(decline: { network: string; code: string }): PaymentFailure {
  return challengeFailures[decline.code] ?? paymentFailureOf(decline) ?? unknownFailure;
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
