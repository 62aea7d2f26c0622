// A refund of a captured payment, in full or in part. It reserves the shop's money until the bank responds; a failed refund
// releases it.
import type { BankWords } from '../../acquiring/domain/bank-words.ts';
import { laterBy, type Instant } from '../../clock.ts';
import { maxCartLines, lineCostMinor, type CartLine } from '../../invoices/domain/invoice.ts';
import { feeOf, noFee } from '../../platform/ledger/domain/fee.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { defined } from '../../defined.ts';
import { wrongStatus } from './commands.ts';
import type { PaymentFailure } from '../../acquiring/authorisation/domain/payment-failure.ts';
import type { Payment, PaymentFact, PaymentState, RefundReferences, RefundTerms } from './payment.ts';

export type RefundState =
  | { readonly status: 'pending' | 'succeeded' }
  | { readonly status: 'failed'; readonly failure: PaymentFailure; readonly bank?: BankWords };

export type Refund = RefundTerms & RefundState & RefundReferences;

/** How long a refund waits for the shop's money. */
const waitMs = 10 * 24 * 3_600_000;

/** The same refund, waiting for money instead of refused. */
export function awaitingFunds(started: RefundStarted): RefundStarted {
  const { refund } = started;
  return { ...started, refund: { ...refund, waitsUntil: laterBy(refund.createdAt, waitMs) } };
}

/** The refund after a fact about it. */
export function evolveRefund(
  { waitsUntil: _, ...refund }: Refund,
  fact: Extract<PaymentFact, { refundId: string }>,
): Refund {
  switch (fact.type) {
    case 'refund_funded':
      return refund;
    case 'refund_failed':
      return { ...refund, status: 'failed', failure: fact.failure, ...defined({ bank: fact.bank }) };
    case 'refund_returned':
      return { ...refund, status: 'failed', failure: fact.failure };
    case 'refund_succeeded': {
      const { rrn, arn } = fact;
      return { ...refund, status: 'succeeded', ...defined({ rrn, arn }) };
    }
  }
}

type RefundStarted = PaymentFact & { readonly type: 'refund_started' };

const firstId = 100;

export type StartRefund = {
  readonly amountMinor?: bigint;
  readonly currency?: string;
  readonly reason?: string;
  readonly cart?: readonly CartLine[];
  readonly externalId?: string;
  readonly byOperator?: true;
};

function leftOf({ amount, refundedMinor }: PaymentState & { name: 'captured' }): string {
  const leftMinor = amount.minor - refundedMinor;
  return `Refund at most ${leftMinor}: ${amount.minor} was captured, and ${refundedMinor} of it is refunded.`;
}

/** The ledger checks the shop's balance when the refund is written. */
export function decideRefund(
  payment: Payment,
  command: StartRefund,
  now: Instant,
): Outcome<
  RefundStarted,
  | 'invalidPaymentStatus'
  | 'operationNotPermitted'
  | 'inconsistentRefundCurrency'
  | 'invoicePaymentAmountExceeded'
  | 'invalidInvoiceCart'
  | 'invalidRequest'
> {
  const { state, amount, fees } = payment;
  const { amountMinor, currency, cart } = command;
  if (state.name === 'refunding') {
    return refuse('operationNotPermitted', {
      message: `Refund ${state.refund.id} of the payment is pending. Wait until it has ended.`,
    });
  }
  if (state.name !== 'captured') return wrongStatus(payment, 'Invalid invoice payment status');
  if (currency !== undefined && currency !== amount.currency)
    return refuse('inconsistentRefundCurrency', { hint: `The payment is in ${amount.currency}.` });
  const leftMinor = state.amount.minor - state.refundedMinor;
  const minor = amountMinor ?? leftMinor;
  if (minor > leftMinor) return refuse('invoicePaymentAmountExceeded', { hint: leftOf(state) });
  if (cart) {
    if (cart.length === 0 || cart.length > maxCartLines) return refuse('invalidInvoiceCart');
    const remainsMinor = cart.reduce((sum, line) => sum + lineCostMinor(line), 0n);
    if (amountMinor === undefined)
      return refuse('invalidRequest', { message: 'A cart requires an amount. Send the amount to refund.' });
    if (remainsMinor !== leftMinor - minor) {
      const message = `The cart must list what the payer keeps. Its total must be ${leftMinor - minor}.`;
      return refuse('invalidRequest', { message });
    }
  }
  const { amountMinor: _amount, currency: _currency, byOperator, ...more } = command;
  return accept({
    type: 'refund_started',
    ...defined({ byOperator }),
    refund: {
      ...more,
      id: String(firstId + state.refundsMade),
      createdAt: now,
      amount: { minor, currency: amount.currency },
      feeMinor: feeOf(minor, fees.refund ?? noFee),
    },
  });
}
