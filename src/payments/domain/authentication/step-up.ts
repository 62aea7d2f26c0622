// Step-up: the issuer declines a charge because the payer was not challenged, and the same payment is authorised once more with a
// challenge (docs/decisions/0040-payer-present.md).
import type { Declined } from '../../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../../clock.ts';
import { declineClassOf } from '../../../retry-rules/domain/rule-packs.ts';
import { authenticationOf } from './three-d-secure.ts';
import { sendUntilOf, type Payment } from '../payment.ts';

/** Networks class wrong PINs with these, which a challenge does not heal. */
const softDeclines: readonly string[] = ['1A', '65'];

/**
 * In time, once, and not after a challenge: the payer is still there, and the issuer has not seen them. After an authentication elsewhere,
 * the merchant challenges them.
 */
export function mayStepUp(payment: Payment, answer: Declined, now: Instant): boolean {
  const { state, authenticated, isSteppedUp } = payment;
  if (authenticationOf(payment) === 'none' || authenticated || isSteppedUp) return false;
  if (state.name !== 'authorising' || state.cancelReason !== undefined) return false;
  return now < sendUntilOf(payment) && isSoftDecline(answer, now);
}

function isSoftDecline(answer: Declined, now: Instant): boolean {
  const isWordOfBank = answer.by !== undefined && answer.by !== 'network';
  return (
    (isWordOfBank || softDeclines.includes(answer.code)) && declineClassOf(answer, now) === 'payerPresent'
  );
}
