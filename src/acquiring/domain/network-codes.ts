// What a card network's response code means to a merchant: for a payment, and for a payout.

/** From the outermost code inwards: `['authorization_failed', 'insufficient_funds']`. */
export type FailurePath = readonly [string, ...string[]];

const declined = (...path: string[]): FailurePath => ['authorization_failed', ...path];
const cardRejected = (reason: string) => declined('payment_tool_rejected', 'bank_card_rejected', reason);
const destinationRejected = (reason: string) =>
  declined('destination_rejected', 'bank_card_rejected', reason);

export const unknownFailure: FailurePath = declined('unknown');

/** Codes that mean the same for both. */
const forBoth: readonly (readonly [codes: string, failure: FailurePath])[] = [
  ['04 36 46 62 78 79', declined('account_blocked')],
  ['06 19 28 80 81 88 91 92 96', declined('temporarily_unavailable')],
  ['07 41 43', declined('account_stolen')],
  ['10 51', declined('insufficient_funds')],
  ['12 13 31 40 57 58 64 93', declined('operation_blocked')],
  ['15', cardRejected('issuer_not_found')],
  ['33 54', cardRejected('card_expired')],
  ['34 59 63', declined('security_policy_violated')],
  ['39 52 53 56', declined('account_not_found')],
  ['61', declined('account_limit_exceeded', 'amount')],
  ['65', declined('account_limit_exceeded', 'number')],
];
const forPayments: typeof forBoth = [
  ['01 02 05 17', declined('rejected_by_issuer')],
  ['03', declined('merchant_blocked')],
  ['14', cardRejected('card_number_invalid')],
  ['21', declined('temporarily_unavailable')],
  ['1A 38 55 70 75 83 86', declined('security_policy_violated')],
  ['5C 9G N3 N4 R0 R1 R3', declined('operation_blocked')],
  ['68', declined('processing_deadline_reached')],
  ['6P', declined('payment_tool_rejected', 'unknown')],
  ['82 N7', cardRejected('cvv_invalid')],
];
const forPayouts: typeof forBoth = [
  ['03', declined('operation_blocked')],
  ['14', destinationRejected('card_number_invalid')],
];
/** Codes to which networks give different meanings. */
const ofMastercard: typeof forBoth = [
  ['65', declined('security_policy_violated')],
  ['78', declined('account_not_found')],
  ['82', declined('rejected_by_issuer')],
];

const byCode = (...rows: readonly (typeof forBoth)[]) =>
  new Map(
    rows.flat().flatMap(([codes, failure]) => codes.split(' ').map((code) => [code, failure] as const)),
  );
const paymentFailures = byCode(forBoth, forPayments);
const mastercardFailures = byCode(ofMastercard);
const payoutFailures = byCode(forBoth, forPayouts);

export function paymentFailureOf({
  network,
  code,
}: {
  network: string;
  code: string;
}): FailurePath | undefined {
  const ofNetwork =
    network === 'mastercard' || network === 'maestro' ? mastercardFailures.get(code) : undefined;
  return ofNetwork ?? paymentFailures.get(code);
}

export function payoutFailureOf(code: string): FailurePath {
  return payoutFailures.get(code) ?? unknownFailure;
}
