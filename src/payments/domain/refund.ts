// A refund: a part of a captured payment, or all of it, given back. It is under way from the moment the shop's money is set
// aside for it until the bank has answered; then it has succeeded, or failed and the money is the shop's again.
import type { Instant } from '../../clock.ts';
import { maxCartLines, lineCostMinor, type CartLine } from '../../invoices/domain/invoice.ts';
import { feeOf, noFee } from '../../platform/ledger/domain/fee.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { PaymentFailure } from './payment-failure.ts';
import type { Payment, PaymentFact, RefundTerms } from './payment.ts';

export type RefundState =
  | { readonly status: 'pending' | 'succeeded' }
  | { readonly status: 'failed'; readonly failure: PaymentFailure };

export type Refund = RefundTerms & RefundState;

const firstId = 100;

export type StartRefund = {
  readonly amountMinor?: bigint;
  readonly currency?: string;
  readonly reason?: string;
  readonly cart?: readonly CartLine[];
  readonly externalId?: string;
};

/** Whether the shop's balance allows it is for the ledger to say, when the refund is written. */
export function decideRefund(
  payment: Payment,
  command: StartRefund,
  now: Instant,
): Outcome<
  PaymentFact & { type: 'refund_started' },
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
      message: `Refund ${state.refund.id} of the payment is pending`,
    });
  }
  if (state.name !== 'captured')
    return refuse('invalidPaymentStatus', { message: 'Invalid invoice payment status' });
  if (currency !== undefined && currency !== amount.currency) return refuse('inconsistentRefundCurrency');
  const leftMinor = state.amount.minor - state.refundedMinor;
  const minor = amountMinor ?? leftMinor;
  if (minor > leftMinor) return refuse('invoicePaymentAmountExceeded');
  if (cart) {
    if (cart.length === 0 || cart.length > maxCartLines) return refuse('invalidInvoiceCart');
    const remainsMinor = cart.reduce((sum, line) => sum + lineCostMinor(line), 0n);
    if (amountMinor === undefined) return refuse('invalidRequest', { message: 'A cart needs an amount' });
    if (remainsMinor !== leftMinor - minor) {
      const message = `The cart is what remains with the payer; its sum should be ${leftMinor - minor}`;
      return refuse('invalidRequest', { message });
    }
  }
  const { amountMinor: _amount, currency: _currency, ...more } = command;
  return accept({
    type: 'refund_started',
    refund: {
      ...more,
      id: String(firstId + state.refundsMade),
      createdAt: now,
      amount: { minor, currency: amount.currency },
      feeMinor: feeOf(minor, fees.refund ?? noFee),
    },
  });
}
