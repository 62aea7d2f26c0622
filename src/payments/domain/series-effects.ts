// What a change of a payment means for the series it begins or belongs to. Pure: series-writes.ts writes it.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { defined } from '../../defined.ts';
import type { Money } from '../../money.ts';
import type { Paid } from '../../receipts/domain/payer-email.ts';
import type { ChargeOutcome } from '../../recurring/domain/series.ts';
import type { Approval, Payer, Payment, PaymentFact } from './payment.ts';

/** Undefined: that of the consent. */
export function receiptAddressOf(payer: Payer): string | undefined {
  return payer.type === 'recurrent' && payer.receiptGoesToConsent ? undefined : payer.contactInfo['email'];
}

export function endingOf(
  payment: Payment,
  fact: PaymentFact,
  answer: BankResponse | undefined,
): ChargeOutcome | undefined {
  switch (fact.type) {
    case 'payment_processed':
      return {
        outcome: 'approved',
        ...(answer?.outcome === 'approved' && answer.advice !== undefined ? { advice: answer.advice } : {}),
      };
    case 'payment_failed':
      return answer?.outcome === 'declined' && payment.state.name !== 'reversing'
        ? answer
        : { outcome: 'lost' };
    case 'payment_reversal_started':
      // The bank has never seen it, and is told now that it must not do it any more.
      return answer?.outcome === 'notFound' ? { outcome: 'unsent' } : undefined;
    default:
      return undefined;
  }
}

/** Not by the bank alone, and not for the authentication before. */
export function isNetworksDecline(ending: ChargeOutcome): boolean {
  return ending.outcome === 'declined' && ending.network !== 'bank' && !ending.code.startsWith('3ds');
}

/** What its receipt says of a payment. */
export function paidOf(
  { invoiceId, id: paymentId, createdAt: at }: Payment,
  amount: Money,
  { reference, approvalCode }: Approval,
): Paid {
  return {
    invoiceId,
    paymentId,
    at,
    amount,
    reference,
    ...defined({ approvalCode }),
  };
}

export function approvalOf({ state }: Payment): Approval {
  if ('approval' in state) return state.approval;
  throw new Error('a payment was captured without an approval');
}
