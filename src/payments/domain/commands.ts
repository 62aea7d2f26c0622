// What a merchant or payer can request of a payment. The guards follow the order of the contract.
import { isUndecided } from '../../acquiring/authorisation/domain/challenge.ts';
import { type Instant, dayMs, laterBy, latest } from '../../clock.ts';
import { wrongStatus as wrongInvoiceStatus, type InvoiceStatus } from '../../invoices/domain/invoice.ts';
import type { Money } from '../../money.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { firstStated, type MandateTerms } from '../../receipts/domain/terms.ts';
import { publicStatus, type Flow, type Payment, type PaymentFact, type PaymentTerms } from './payment.ts';
import { defined } from '../../defined.ts';

const authorisationMs = 30 * 60_000;

export type PayableInvoice = {
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly status: InvoiceStatus;
  readonly amount: Money;
  readonly dueDate: Instant;
  readonly paymentInProgress: boolean;
  readonly paymentsMade: number;
  readonly createdAt: Instant;
  /** The time of the latest event. Another node's clock may have been ahead. */
  readonly changedAt: Instant;
  /** What the merchant wants: the payment of a present payer saves the card, on these terms. */
  readonly recurring?: MandateTerms;
  readonly subscriptionId?: string;
};

export type Recurrence = Pick<PaymentTerms, 'makeRecurrent' | 'recurrentTerms'>;

/** A form in a browser can neither drop nor change what the invoice says. Only an API key may send other terms. */
export function recurrenceOf(
  asked: Recurrence,
  { recurring }: Pick<PayableInvoice, 'recurring'>,
  isApiKey: boolean,
): Recurrence {
  if (!recurring) return asked;
  const { consent, ...terms } = asked.recurrentTerms ?? {};
  const stated = isApiKey ? firstStated(terms, recurring) : firstStated(recurring, terms);
  return { makeRecurrent: true, recurrentTerms: { ...stated, ...defined({ consent }) } };
}

export type StartPayment = Omit<
  PaymentTerms,
  'amount' | 'createdAt' | 'partyId' | 'shopId' | 'invoiceId' | 'id' | 'flow' | 'deadline'
> & {
  readonly flow:
    | { readonly type: 'instant' }
    | { readonly type: 'hold'; readonly onExpiration: 'cancel' | 'capture'; readonly days: number };
  readonly deadline?: Instant;
};

type RefusalToStart = 'invalidInvoiceStatus' | 'invoicePaymentPending' | 'invalidProcessingDeadline';

/** Guards that come before the payer is known. */
export function requirePayable(
  invoice: PayableInvoice,
  { deadline }: { readonly deadline?: Instant | undefined },
  now: Instant,
): Outcome<undefined, RefusalToStart> {
  if (deadline !== undefined && deadline <= now) return refuse('invalidProcessingDeadline');
  if (invoice.status !== 'unpaid') return wrongInvoiceStatus(invoice);
  if (invoice.dueDate <= now)
    return refuse('invalidInvoiceStatus', { hint: `The invoice was due at ${invoice.dueDate}.` });
  if (invoice.paymentInProgress) return refuse('invoicePaymentPending');
  return accept(undefined);
}

/** After `requirePayable` accepted the invoice. */
export function startedBy(
  command: StartPayment,
  invoice: PayableInvoice,
  now: Instant,
): PaymentFact & { type: 'payment_started' } {
  const { id: invoiceId, partyId, shopId, amount, subscriptionId } = invoice;
  const { flow } = command;
  return {
    type: 'payment_started',
    terms: {
      ...command,
      payer: { ...command.payer, ...defined({ subscriptionId }) },
      invoiceId,
      id: String(invoice.paymentsMade + 1),
      partyId,
      shopId,
      amount,
      createdAt: latest(now, invoice.changedAt),
      flow: flow.type === 'hold' ? holdOf(flow, now) : flow,
      deadline: command.deadline ?? laterBy(now, authorisationMs),
    },
  };
}

export type CapturePayment = {
  readonly amountMinor?: bigint;
  readonly currency?: string;
  readonly cartTotalMinor?: bigint;
  readonly cart?: unknown;
  readonly reason: string;
};

export function decideCapture(
  payment: Payment,
  command: CapturePayment,
): Outcome<
  PaymentFact,
  | 'inconsistentCaptureCurrency'
  | 'invalidRequest'
  | 'invalidPaymentStatus'
  | 'operationNotPermitted'
  | 'amountExceededCaptureBalance'
> {
  const { amount: held, state, flow } = payment;
  const { amountMinor, cartTotalMinor, currency } = command;
  if (amountMinor !== undefined && currency !== undefined && currency !== held.currency) {
    return refuse('inconsistentCaptureCurrency', { message: `Correct currency: ${held.currency}` });
  }
  if (amountMinor !== undefined && cartTotalMinor !== undefined && amountMinor !== cartTotalMinor) {
    return refuse('invalidRequest', {
      message: 'The total of the cart differs from the amount. Send equal values.',
    });
  }
  if (state.name !== 'held') return wrongStatus(payment);
  if (flow.type !== 'hold') return refuse('operationNotPermitted');
  const minor = amountMinor ?? cartTotalMinor ?? held.minor;
  if (minor > held.minor)
    return refuse('amountExceededCaptureBalance', { message: `Max amount: ${held.minor}` });
  return accept({
    type: 'payment_capture_started',
    amount: { minor, currency: held.currency },
    reason: command.reason,
    ...defined({ cart: command.cart }),
  });
}

/** Of a pending payment, only the wish is stored: its outcome is not known. `nothing`: it is being reversed, or the wish is known. */
export function decideCancel(
  payment: Payment,
  reason: string,
): Outcome<
  PaymentFact | { readonly type: 'nothing' } | { readonly type: 'cancelWanted'; readonly reason: string },
  'invalidPaymentStatus' | 'operationNotPermitted'
> {
  const { state } = payment;
  if (state.name === 'reversing') return accept({ type: 'nothing' });
  if (isUndecided(state))
    return accept(state.cancelReason === undefined ? { type: 'cancelWanted', reason } : { type: 'nothing' });
  if (payment.state.name !== 'held') return wrongStatus(payment);
  if (payment.flow.type !== 'hold') return refuse('operationNotPermitted');
  return accept({ type: 'payment_cancel_started', reason });
}

export function wrongStatus({ id, state }: Payment, message?: string) {
  const status = publicStatus[state.name];
  return refuse('invalidPaymentStatus', {
    ...defined({ message }),
    hint: `The payment is ${status}.`,
    since: { type: `payment_${status}`, paymentId: id },
  });
}

function holdOf({ type, onExpiration, days }: StartPayment['flow'] & { type: 'hold' }, now: Instant): Flow {
  return { type, onExpiration, heldUntil: wholeSeconds(laterBy(now, days * dayMs)) };
}

/** The API shows whole seconds, so the stored value has whole seconds too. */
function wholeSeconds(instant: Instant): Instant {
  return `${instant.slice(0, 19)}.000000Z` as Instant;
}
