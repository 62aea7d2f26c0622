// A payment: one attempt to collect an invoice's amount from a card, from authorisation to the last refund. Requests are in
// commands.ts, bank operations in bank-actions.ts.
import type { Interaction, Terminal } from '../../acquiring/domain/bank-port.ts';
import type { CardDetails } from '../../cards/domain/card.ts';
import { laterBy, type Instant } from '../../clock.ts';
import type { Fees } from '../../platform/ledger/domain/fee.ts';
import type { CartLine } from '../../invoices/domain/invoice.ts';
import type { Money } from '../../money.ts';
import type { ContactInfo, MandateGiven } from '../../recurring/domain/mandate.ts';
import type { PaymentFailure } from './payment-failure.ts';

export type Payer = {
  /** The card's token in the vault. */
  readonly token: string;
  readonly contactInfo: ContactInfo;
  readonly redirectUrl?: string;
} & (
  | {
      /** The payer is present with a card. */
      readonly type: 'resource';
      readonly session: string;
      readonly card: CardDetails;
      readonly clientInfo: { readonly fingerprint: string; readonly ip: string; readonly url?: string };
    }
  | {
      /** The payer is absent and consented in an earlier payment. */
      readonly type: 'recurrent';
      /**
       * An invoice token started the charge and may be in a stranger's browser. The receipt goes only to the address of the
       * consent.
       */
      readonly receiptGoesToConsent?: true;
      readonly seriesId: string;
      readonly parent: { readonly invoiceId: string; readonly paymentId: string };
      readonly rootNetworkTransactionId?: string;
      readonly previousNetworkTransactionId?: string;
      readonly warnings: readonly string[];
    }
  | {
      /** The payer is absent and saved a card. The card is chosen when the payment is created. */
      readonly type: 'customer';
      readonly customerId: string;
      readonly bindingId: string;
      readonly card: CardDetails;
      readonly seriesId: string;
      readonly rootNetworkTransactionId?: string;
      readonly previousNetworkTransactionId?: string;
      readonly warnings: readonly string[];
    }
);

export type Flow =
  | { readonly type: 'instant' }
  | { readonly type: 'hold'; readonly onExpiration: 'cancel' | 'capture'; readonly heldUntil: Instant };

/** What is fixed when the payment is created. */
export type PaymentTerms = {
  readonly invoiceId: string;
  /** The number of the payment in its invoice, from 1. */
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly createdAt: Instant;
  readonly amount: Money;
  readonly flow: Flow;
  readonly payer: Payer;
  readonly makeRecurrent: boolean;
  /** What the payer agreed to, if the request says so. */
  readonly recurrentTerms?: MandateGiven;
  readonly metadata?: unknown;
  readonly externalId?: string;
  /** Until when the payment must be authorised. */
  readonly deadline: Instant;
  /** Changes only by a reroute, before anything was sent. */
  readonly terminal: Terminal;
  readonly livemode: boolean;
  /** The shop's fees, as agreed when the payment was created. */
  readonly fees: Fees;
};

/** What the bank returned with its approval. */
export type Approval = {
  readonly reference: string;
  readonly approvalCode?: string;
  readonly networkTransactionId?: string;
  readonly eci?: string;
};

export type PaymentState =
  /** The request is sent or about to be. The outcome is unknown. */
  | { readonly name: 'authorising' }
  /** The bank waits for the payer, until that time. */
  | { readonly name: 'challenged'; readonly interaction: Interaction; readonly until: Instant }
  /** The outcome stayed unknown too long, or the payer did not return. The charge is reversed, whatever its outcome. */
  | { readonly name: 'reversing'; readonly failure: PaymentFailure }
  | { readonly name: 'held'; readonly approval: Approval }
  | {
      readonly name: 'capturing';
      readonly approval: Approval;
      readonly amount: Money;
      readonly reason: string;
    }
  | {
      readonly name: 'cancelling';
      readonly approval: Approval;
      readonly reason: string;
      /** Set when the operator released a hold whose capture was requested. The merchant sees the reason. */
      readonly isReleased?: true;
    }
  | ({ readonly name: 'captured' } & Taken)
  /** One refund is in progress. */
  | ({ readonly name: 'refunding'; readonly refund: RefundInProgress } & Taken)
  /** Payments cancelled before the approval was stored have none. */
  | { readonly name: 'cancelled'; readonly approval?: Approval }
  | { readonly name: 'refunded'; readonly approval: Approval; readonly amount: Money }
  | { readonly name: 'failed'; readonly failure: PaymentFailure };

type Taken = {
  readonly approval: Approval;
  readonly amount: Money;
  readonly refundedMinor: bigint;
  /** Includes failed refunds. */
  readonly refundsMade: number;
};

export type RefundInProgress = { readonly id: string; readonly minor: bigint; readonly feeMinor: bigint };

export type PaymentStateName = PaymentState['name'];
export type Payment = PaymentTerms & { readonly state: PaymentState };
export type PublicStatus = 'pending' | 'processed' | 'captured' | 'cancelled' | 'refunded' | 'failed';

/** What is fixed when a refund is created. */
export type RefundTerms = {
  /** The number of the refund in its payment, from 100. */
  readonly id: string;
  readonly createdAt: Instant;
  readonly amount: Money;
  readonly feeMinor: bigint;
  readonly reason?: string;
  /** What the payer keeps. */
  readonly cart?: readonly CartLine[];
  readonly externalId?: string;
};

export type PaymentFact =
  | { readonly type: 'payment_started'; readonly terms: PaymentTerms }
  /** The bank was unavailable and nothing was sent. */
  | { readonly type: 'payment_rerouted'; readonly terminal: Terminal; readonly why: string }
  | {
      readonly type: 'payment_interaction_requested';
      readonly interaction: Interaction;
      readonly until: Instant;
    }
  | { readonly type: 'payment_reversal_started'; readonly failure: PaymentFailure }
  | { readonly type: 'payment_processed'; readonly approval: Approval }
  | {
      readonly type: 'payment_capture_started';
      readonly amount: Money;
      readonly reason: string;
      readonly cart?: unknown;
    }
  | ({ readonly type: 'payment_captured'; readonly amount: Money } & Settled)
  | { readonly type: 'payment_cancel_started'; readonly reason: string }
  /** With a reason only if the merchant did not request the cancellation. */
  | ({ readonly type: 'payment_cancelled'; readonly reason?: string } & Settled)
  | ({ readonly type: 'payment_failed'; readonly failure: PaymentFailure } & Settled)
  | { readonly type: 'refund_started'; readonly refund: RefundTerms }
  | ({
      readonly type: 'refund_failed';
      readonly refundId: string;
      readonly failure: PaymentFailure;
    } & Settled)
  | ({ readonly type: 'refund_succeeded'; readonly refundId: string } & Settled)
  | { readonly type: 'payment_refunded' };

/** The operator's source for an outcome that no bank reports (resolution.ts). */
type Settled = { readonly settledBecause?: string };

/** All allowed transitions. Any other is a bug. */
const paymentLifecycle = {
  absent: { payment_started: 'authorising' },
  authorising: {
    payment_rerouted: 'authorising',
    payment_interaction_requested: 'challenged',
    payment_processed: 'held',
    payment_failed: 'failed',
    payment_reversal_started: 'reversing',
  },
  challenged: { payment_processed: 'held', payment_failed: 'failed', payment_reversal_started: 'reversing' },
  reversing: { payment_failed: 'failed' },
  // One bank operation authorises and captures an instant payment, so its two facts are written together.
  held: {
    payment_captured: 'captured',
    payment_capture_started: 'capturing',
    payment_cancel_started: 'cancelling',
  },
  // An operator releases a hold that the bank does not capture.
  capturing: { payment_captured: 'captured', payment_cancel_started: 'cancelling' },
  cancelling: { payment_cancelled: 'cancelled' },
  captured: { refund_started: 'refunding', payment_refunded: 'refunded' },
  refunding: { refund_failed: 'captured', refund_succeeded: 'captured' },
  cancelled: {},
  refunded: {},
  failed: {},
} as const satisfies Record<
  PaymentStateName | 'absent',
  Partial<Record<PaymentFact['type'], PaymentStateName>>
>;

export const publicStatus: Readonly<Record<PaymentStateName, PublicStatus>> = {
  authorising: 'pending',
  challenged: 'pending',
  reversing: 'pending',
  held: 'processed',
  capturing: 'processed',
  cancelling: 'processed',
  captured: 'captured',
  refunding: 'captured',
  cancelled: 'cancelled',
  refunded: 'refunded',
  failed: 'failed',
};

/** True also if the money was refunded since, or is being refunded. */
export function isTaken(state: PaymentState): state is PaymentState & Pick<Taken, 'approval' | 'amount'> {
  return publicStatus[state.name] === 'captured' || state.name === 'refunded';
}

/** The captured amount, or the amount to capture. */
export function amountOf({ state, amount }: Payment): Money {
  return isTaken(state) ? state.amount : amount;
}

/** While the payment may still take its money, the invoice accepts no other payment. */
export function isInProgress(payment: Payment): boolean {
  const status = publicStatus[payment.state.name];
  return status === 'pending' || status === 'processed';
}

/**
 * The ID under which the bank knows an operation. It follows from the payment's ID, so it is fixed before the first send.
 */
export function operationIdOf(
  payment: { readonly invoiceId: string; readonly id: string },
  operation: 'authorise' | 'capture' | 'reverse' | { readonly refund: string },
): string {
  const name = typeof operation === 'string' ? operation[0] : operation.refund;
  return `${payment.invoiceId}.${payment.id}.${name}`;
}

/** The payment of a bank operation ID. */
export function paymentOfOperation(
  operationId: string,
): readonly [invoiceId: string, paymentId: string] | undefined {
  const [invoiceId, paymentId, kind] = operationId.split('.');
  return invoiceId && paymentId && kind ? [invoiceId, paymentId] : undefined;
}

/** The interval of bank queries, unless a callback or the returning payer comes first. */
export const pollIntervalMs = 15_000;

/** When the job of the payment is due next. Null if never. */
export function wakeOf(payment: Payment, now: Instant): Instant | null {
  const { state, flow } = payment;
  switch (state.name) {
    case 'authorising':
    case 'reversing':
    case 'cancelling':
    case 'capturing':
    case 'refunding':
      return now;
    case 'challenged':
      return earliest(laterBy(now, pollIntervalMs), state.until);
    case 'held':
      return flow.type === 'hold' ? flow.heldUntil : now;
    case 'captured':
    case 'cancelled':
    case 'refunded':
    case 'failed':
      return null;
  }
}

export function earliest(a: Instant, b: Instant): Instant {
  return a < b ? a : b;
}

/** The payment after a fact. Throws if the lifecycle does not allow the fact: the code or the data has a bug. */
export function evolve(payment: Payment | undefined, fact: PaymentFact): Payment {
  const from = payment?.state.name ?? 'absent';
  const moves: Partial<Record<PaymentFact['type'], PaymentStateName>> = paymentLifecycle[from];
  if (moves[fact.type] === undefined)
    throw new Error(`A payment in state ${from} cannot have fact ${fact.type}.`);
  if (fact.type === 'payment_started') return { ...fact.terms, state: { name: 'authorising' } };
  if (!payment) throw new Error(`Fact ${fact.type} came before the payment was created.`);
  if (fact.type === 'payment_rerouted') return { ...payment, terminal: fact.terminal };
  return { ...payment, state: stateAfter(payment, fact) };
}

function stateAfter(
  payment: Payment,
  fact: Exclude<PaymentFact, { type: 'payment_started' | 'payment_rerouted' }>,
): PaymentState {
  switch (fact.type) {
    case 'payment_interaction_requested':
      return { name: 'challenged', interaction: fact.interaction, until: fact.until };
    case 'payment_reversal_started':
      return { name: 'reversing', failure: fact.failure };
    case 'payment_processed':
      return { name: 'held', approval: fact.approval };
    case 'payment_capture_started':
      return { name: 'capturing', approval: approvalIn(payment), amount: fact.amount, reason: fact.reason };
    case 'payment_captured':
      return {
        name: 'captured',
        approval: approvalIn(payment),
        amount: fact.amount,
        refundedMinor: 0n,
        refundsMade: 0,
      };
    case 'payment_cancel_started':
      return {
        name: 'cancelling',
        approval: approvalIn(payment),
        reason: fact.reason,
        ...(payment.state.name === 'capturing' ? { isReleased: true } : {}),
      };
    case 'payment_cancelled':
      return { name: 'cancelled', approval: approvalIn(payment) };
    case 'payment_failed':
      return { name: 'failed', failure: fact.failure };
    case 'refund_started': {
      const { id, amount, feeMinor } = fact.refund;
      const refundsMade = takenIn(payment).refundsMade + 1;
      return {
        name: 'refunding',
        ...takenIn(payment),
        refundsMade,
        refund: { id, minor: amount.minor, feeMinor },
      };
    }
    case 'refund_failed':
      refundIn(payment, fact.refundId);
      return { name: 'captured', ...takenIn(payment) };
    case 'refund_succeeded': {
      const { minor } = refundIn(payment, fact.refundId);
      const { refundedMinor, ...taken } = takenIn(payment);
      return { name: 'captured', ...taken, refundedMinor: refundedMinor + minor };
    }
    case 'payment_refunded': {
      const { approval, amount } = takenIn(payment);
      return { name: 'refunded', approval, amount };
    }
  }
}

function takenIn({ state }: Payment): Taken {
  if (!('refundsMade' in state)) throw new Error(`A payment in state ${state.name} has no captured amount.`);
  const { approval, amount, refundedMinor, refundsMade } = state;
  return { approval, amount, refundedMinor, refundsMade };
}

function refundIn({ state }: Payment, refundId: string): RefundInProgress {
  if (state.name === 'refunding' && state.refund.id === refundId) return state.refund;
  throw new Error(`Refund ${refundId} is not in progress.`);
}

export function approvalIn({ state }: Payment): Approval {
  if ('approval' in state) return state.approval;
  throw new Error(`A payment in state ${state.name} has no approval.`);
}
