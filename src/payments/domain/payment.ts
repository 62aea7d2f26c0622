// A payment: one attempt to take an invoice's money from a card, from the first message to the bank to the last kopeck
// given back. Its states, its facts, its moves. What merchants may ask of it is in commands.ts, what the bank is
// asked and what its answers mean in bank-actions.ts; all three are pure.
import type { Interaction, Terminal } from '../../acquiring/domain/bank-port.ts';
import type { CardDetails } from '../../cards/domain/card.ts';
import { laterBy, type Instant } from '../../clock.ts';
import type { Fees } from '../../platform/ledger/domain/fee.ts';
import type { CartLine } from '../../invoices/domain/invoice.ts';
import type { Money } from '../../money.ts';
import type { ContactInfo, MandateGiven } from '../../recurring/domain/mandate.ts';
import type { PaymentFailure } from './payment-failure.ts';

export type Payer = {
  /** Of the card in the vault. */
  readonly token: string;
  readonly contactInfo: ContactInfo;
  readonly redirectUrl?: string;
} & (
  | {
      /** He is there, with a card. */
      readonly type: 'resource';
      readonly session: string;
      readonly card: CardDetails;
      readonly clientInfo: { readonly fingerprint: string; readonly ip: string; readonly url?: string };
    }
  | {
      /** He is not; he agreed to it in an earlier payment. */
      readonly type: 'recurrent';
      /** Not to the address given here: an invoice's token asked for it, and may be in anybody's browser. */
      readonly receiptGoesToConsent?: true;
      readonly seriesId: string;
      readonly parent: { readonly invoiceId: string; readonly paymentId: string };
      readonly rootNetworkTransactionId?: string;
      readonly previousNetworkTransactionId?: string;
      readonly warnings: readonly string[];
    }
  | {
      /** He is not; he bound a card. Which one, is settled when the payment is made. */
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

/** What is fixed when the payment is made. */
export type PaymentTerms = {
  readonly invoiceId: string;
  /** Counts the payments of the invoice, from 1. */
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly createdAt: Instant;
  readonly amount: Money;
  readonly flow: Flow;
  readonly payer: Payer;
  readonly makeRecurrent: boolean;
  /** What the payer agreed to, where the payment says so. */
  readonly recurrentTerms?: MandateGiven;
  readonly metadata?: unknown;
  readonly externalId?: string;
  /** Until when it must be authorised. */
  readonly deadline: Instant;
  /** Becomes another one only before anything was sent. */
  readonly terminal: Terminal;
  readonly livemode: boolean;
  /** What the shop is charged for it, as agreed when it was made. */
  readonly fees: Fees;
};

/** What the bank said when it approved. */
export type Approval = {
  readonly reference: string;
  readonly approvalCode?: string;
  readonly networkTransactionId?: string;
  readonly eci?: string;
};

export type PaymentState =
  /** The bank has been asked, or is about to be; nobody knows the outcome yet. */
  | { readonly name: 'authorising' }
  /** The bank waits for the payer, who has until then. */
  | { readonly name: 'challenged'; readonly interaction: Interaction; readonly until: Instant }
  /** The outcome stayed unknown for too long, or the payer never came back: it is taken back, whatever it was. */
  | { readonly name: 'reversing'; readonly failure: PaymentFailure }
  /** The money is held on the card. */
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
      /** It should have been captured: the merchant did not ask for this, and is told why. */
      readonly isReleased?: true;
    }
  | ({ readonly name: 'captured' } & Taken)
  /** A part of what was captured is on its way back; one at a time. */
  | ({ readonly name: 'refunding'; readonly refund: RefundUnderWay } & Taken)
  /** Those from before this was kept have no approval. */
  | { readonly name: 'cancelled'; readonly approval?: Approval }
  | { readonly name: 'refunded'; readonly approval: Approval; readonly amount: Money }
  | { readonly name: 'failed'; readonly failure: PaymentFailure };

type Taken = {
  readonly approval: Approval;
  readonly amount: Money;
  readonly refundedMinor: bigint;
  /** With those that failed. */
  readonly refundsMade: number;
};

export type RefundUnderWay = { readonly id: string; readonly minor: bigint; readonly feeMinor: bigint };

export type PaymentStateName = PaymentState['name'];
export type Payment = PaymentTerms & { readonly state: PaymentState };
export type PublicStatus = 'pending' | 'processed' | 'captured' | 'cancelled' | 'refunded' | 'failed';

/** What is fixed when a refund is made. */
export type RefundTerms = {
  /** Counts the refunds of the payment, from 100. */
  readonly id: string;
  readonly createdAt: Instant;
  readonly amount: Money;
  readonly feeMinor: bigint;
  readonly reason?: string;
  /** What remains with the payer. */
  readonly cart?: readonly CartLine[];
  readonly externalId?: string;
};

export type PaymentFact =
  | { readonly type: 'payment_started'; readonly terms: PaymentTerms }
  /** Its bank was away, and nothing was sent there. */
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
  /** With a reason the merchant is told, who had not asked for it. */
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

/** How an operator knows what no bank has said (resolution.ts). */
type Settled = { readonly settledBecause?: string };

/** Every move there is; what is not in this table cannot happen. */
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
  // An instant payment is captured by the message that authorises it: its two facts are written together.
  held: {
    payment_captured: 'captured',
    payment_capture_started: 'capturing',
    payment_cancel_started: 'cancelling',
  },
  // What the bank will not capture an operator lets go.
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

/** Also where it was given back since, or is on its way back. */
export function isTaken(state: PaymentState): state is PaymentState & Pick<Taken, 'approval' | 'amount'> {
  return publicStatus[state.name] === 'captured' || state.name === 'refunded';
}

/** What was taken, or is to be. */
export function amountOf({ state, amount }: Payment): Money {
  return isTaken(state) ? state.amount : amount;
}

/** The invoice can take no other payment while this one may still take its money. */
export function isInProgress(payment: Payment): boolean {
  const status = publicStatus[payment.state.name];
  return status === 'pending' || status === 'processed';
}

/**
 * What the bank knows our operations by. Each payment has at most one of each kind, and refunds have numbers, so the ids
 * follow from the payment's own and are fixed before anything is sent.
 */
export function operationIdOf(
  payment: { readonly invoiceId: string; readonly id: string },
  operation: 'authorise' | 'capture' | 'reverse' | { readonly refund: string },
): string {
  const name = typeof operation === 'string' ? operation[0] : operation.refund;
  return `${payment.invoiceId}.${payment.id}.${name}`;
}

/** The payment behind one of those ids. */
export function paymentOfOperation(
  operationId: string,
): readonly [invoiceId: string, paymentId: string] | undefined {
  const [invoiceId, paymentId, kind] = operationId.split('.');
  return invoiceId && paymentId && kind ? [invoiceId, paymentId] : undefined;
}

/** How often a bank that has not finished is asked again, where no callback and no returning payer comes first. */
export const pollIntervalMs = 15_000;

/** When somebody must look at the payment next; null when never. */
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

/** The payment after a fact. A fact the lifecycle does not allow is a bug, and stops the step. */
export function evolve(payment: Payment | undefined, fact: PaymentFact): Payment {
  const from = payment?.state.name ?? 'absent';
  const moves: Partial<Record<PaymentFact['type'], PaymentStateName>> = paymentLifecycle[from];
  if (moves[fact.type] === undefined) throw new Error(`a payment that is ${from} cannot have ${fact.type}`);
  if (fact.type === 'payment_started') return { ...fact.terms, state: { name: 'authorising' } };
  if (!payment) throw new Error(`${fact.type} without a payment`);
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
  if (!('refundsMade' in state)) throw new Error(`nothing is taken by a payment that is ${state.name}`);
  const { approval, amount, refundedMinor, refundsMade } = state;
  return { approval, amount, refundedMinor, refundsMade };
}

function refundIn({ state }: Payment, refundId: string): RefundUnderWay {
  if (state.name === 'refunding' && state.refund.id === refundId) return state.refund;
  throw new Error(`refund ${refundId} is not under way`);
}

export function approvalIn({ state }: Payment): Approval {
  if ('approval' in state) return state.approval;
  throw new Error(`a payment that is ${state.name} has no approval`);
}
