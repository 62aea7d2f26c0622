// What a change of a payment means for its series. series-writes.ts writes it.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { defined } from '../../defined.ts';
import type { Money } from '../../money.ts';
import type { Paid, ReceiptRequest } from '../../receipts/domain/payer-email.ts';
import { countsAsDecline, seriesIdOf, type ChargeOutcome } from '../../recurring/domain/series.ts';
import { approvalIn, evolve, type Approval, type Payer, type Payment, type PaymentFact } from './payment.ts';

export type SeriesEffect =
  | { readonly effect: 'chargeEnded'; readonly seriesId: string; readonly ending: ChargeOutcome }
  /** A decline with the payer present. Networks count these too. */
  | { readonly effect: 'cardDeclined'; readonly token: string }
  /** The payment can now be a parent, which starts or continues a series. */
  | { readonly effect: 'parentMade'; readonly approval: Approval }
  | { readonly effect: 'receiptDue'; readonly seriesId: string; readonly receipt: ReceiptRequest };

/** In order of occurrence. `answer` is the bank's response that led to the change, if any. */
export function seriesEffectsOf(
  payment: Payment,
  facts: readonly PaymentFact[],
  answer: BankResponse | undefined,
): SeriesEffect[] {
  const effects: SeriesEffect[] = [];
  let after = payment;
  for (const fact of facts) {
    const ending = endingOf(after, fact, answer);
    after = evolve(after, fact);
    if (ending) effects.push(...effectsOfEnd(payment.payer, ending));
    if (fact.type === 'payment_captured') effects.push(...effectsOfCapture(after, fact.amount));
  }
  return effects;
}

function effectsOfEnd(payer: Payer, ending: ChargeOutcome): SeriesEffect[] {
  if ('seriesId' in payer) return [{ effect: 'chargeEnded', seriesId: payer.seriesId, ending }];
  return isNetworksDecline(ending) ? [{ effect: 'cardDeclined', token: payer.token }] : [];
}

function effectsOfCapture(payment: Payment, amount: Money): SeriesEffect[] {
  const { payer, makeRecurrent, invoiceId, id: paymentId } = payment;
  const began = makeRecurrent ? seriesIdOf({ invoiceId, paymentId }) : undefined;
  const seriesId = 'seriesId' in payer ? payer.seriesId : began;
  if (seriesId === undefined) return [];
  const approval = approvalIn(payment);
  const email = receiptAddressOf(payer);
  const receipt = { paid: paidOf(payment, amount, approval), ...defined({ email }) };
  return [
    ...(makeRecurrent ? [{ effect: 'parentMade', approval } as const] : []),
    { effect: 'receiptDue', seriesId, receipt },
  ];
}

/** The approved charge and its receipt, if nothing else follows. */
export function approvedAlone(effects: readonly SeriesEffect[]) {
  const [ended, due, ...more] = effects;
  if (ended?.effect !== 'chargeEnded' || ended.ending.outcome !== 'approved') return undefined;
  if ((due && due.effect !== 'receiptDue') || more.length > 0) return undefined;
  const { seriesId, ending } = ended;
  return { seriesId, ending, receipt: due?.receipt };
}

/** Undefined means the address of the consent. */
function receiptAddressOf(payer: Payer): string | undefined {
  return payer.type === 'recurrent' && payer.receiptGoesToConsent ? undefined : payer.contactInfo['email'];
}

function endingOf(
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
      // The bank has never seen the charge, and the reversal keeps it from executing it later.
      return answer?.outcome === 'notFound' ? { outcome: 'unsent' } : undefined;
    default:
      return undefined;
  }
}

/** Not a failed authentication. */
function isNetworksDecline(ending: ChargeOutcome): boolean {
  return countsAsDecline(ending) && !('code' in ending && ending.code.startsWith('3ds'));
}

/** What the receipt says about a payment. */
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
