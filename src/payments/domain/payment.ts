// A payment: one attempt to collect an invoice's amount from a card, from authorisation to the last refund. Requests are in
// commands.ts, bank operations in bank-actions.ts.
import type { Approval } from '../../acquiring/authorisation/domain/approval.ts';
import {
  endsChallenge,
  nextPoll,
  openChallengeIn,
  type Challenged,
} from '../../acquiring/authorisation/domain/challenge.ts';
import type { PaymentFailure } from '../../acquiring/authorisation/domain/payment-failure.ts';
import type { BankWords } from '../../acquiring/domain/bank-words.ts';
import type { Exemption } from '../../acquiring/domain/authentication.ts';
import type { Interaction, Terminal } from '../../acquiring/domain/bank-port.ts';
import { sendUntil } from '../../acquiring/authorisation/domain/authorisation.ts';
import type { Instant } from '../../clock.ts';
import type { Fees } from '../../platform/ledger/domain/fee.ts';
import type { CartLine } from '../../invoices/domain/invoice.ts';
import type { Money } from '../../money.ts';
import type { MandateGiven } from '../../recurring/domain/mandate.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import type { AuthenticatedElsewhere } from './authentication/elsewhere.ts';
import type { Payer } from './payer/payer.ts';
import { defined } from '../../defined.ts';

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
  /** For a payer who is present. Absent: the bank says. */
  readonly threeDSecure?: 'always' | 'never';
  /** Why the payer need not be authenticated. A card that is saved has none. */
  readonly exemption?: Exemption;
  /** By another server. `keptAs` names its value in the vault, until it is sent. */
  readonly authenticated?: AuthenticatedElsewhere & { readonly keptAs: string };
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

export type PaymentState =
  /** The request is sent or about to be. The outcome is unknown. */
  | ({ readonly name: 'authorising' } & MayBeUnwanted)
  | (Challenged & MayBeUnwanted)
  /** The outcome stayed unknown too long, or the payer did not return. The charge is reversed, whatever its outcome. */
  | ({ readonly name: 'reversing'; readonly failure: PaymentFailure } & TakingBack)
  | { readonly name: 'held'; readonly approval: Approval }
  | {
      readonly name: 'capturing';
      readonly approval: Approval;
      readonly amount: Money;
      readonly reason: string;
    }
  | ({
      readonly name: 'cancelling';
      readonly approval: Approval;
      readonly reason: string;
      /** The merchant did not request it, so they see the reason. */
      readonly isReleased?: true;
      /** What the bank was asked to capture before. */
      readonly captureMinor?: bigint;
    } & TakingBack)
  | ({ readonly name: 'captured' } & Taken)
  /** One refund is in progress. */
  | ({ readonly name: 'refunding'; readonly refund: RefundInProgress } & Taken)
  /** Payments cancelled before the approval was stored have none. */
  | { readonly name: 'cancelled'; readonly approval?: Approval }
  | { readonly name: 'refunded'; readonly approval: Approval; readonly amount: Money }
  | ({ readonly name: 'failed' } & Failed & ApprovedLate);

/** The bank has refused the reversal for good. What it may have charged is refunded, under an ID of its own. */
type TakingBack = { readonly isRefunding?: true };

/** The merchant has cancelled it before its outcome is known. As soon as it is known, the charge is reversed. */
type MayBeUnwanted = { readonly cancelReason?: string };

/** The class says who can help, if the bank or its silence is the reason. Facts of older releases have none. */
type Failed = {
  readonly failure: PaymentFailure;
  readonly declineClass?: DeclineClass;
  readonly bank?: BankWords;
};

/** The bank approved the charge after it was given up. It is undone while this is set. */
type ApprovedLate = { readonly isUndoing?: true };

type Taken = {
  readonly approval: Approval;
  readonly amount: Money;
  readonly refundedMinor: bigint;
  /** Includes failed refunds. */
  readonly refundsMade: number;
};

export type RefundInProgress = {
  readonly id: string;
  readonly minor: bigint;
  readonly feeMinor: bigint;
  /** The shop's money is not reserved yet, and nothing was sent. If that does not change until then, the refund fails. */
  readonly waitsUntil?: Instant;
};

/** A bank that gave the IDs knows them; another one may not take them. */
export function carriesNetworkIds({ payer }: Pick<Payment, 'payer'>): boolean {
  if (!('seriesId' in payer)) return false;
  const { rootNetworkTransactionId, previousNetworkTransactionId, rootNetworkIds, previousNetworkIds } =
    payer;
  const ids = [rootNetworkTransactionId, previousNetworkTransactionId, rootNetworkIds, previousNetworkIds];
  return ids.some((id) => id !== undefined);
}

/** Until when its authorisation may be sent. */
export function sendUntilOf({ payer, createdAt, deadline }: Payment): Instant {
  return sendUntil('seriesId' in payer ? { deadline } : { payerActedAt: createdAt, deadline });
}

export type PaymentStateName = PaymentState['name'];
export type Payment = PaymentTerms & {
  readonly state: PaymentState;
  /** The issuer declined the first charge for lack of a challenge. A second one demands it, under an ID of its own. */
  readonly isSteppedUp?: true;
};
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
  /** The shop's balance was too small. The refund waits for money until then. */
  readonly waitsUntil?: Instant;
};

/** What the bank returned with a refund. */
export type RefundReferences = {
  readonly rrn?: string;
  /** The acquirer reference number, by which the payer's bank finds the refund. */
  readonly arn?: string;
};

export type PaymentFact =
  | { readonly type: 'payment_started'; readonly terms: PaymentTerms }
  /** The bank was unavailable and nothing was sent. */
  | { readonly type: 'payment_rerouted'; readonly terminal: Terminal; readonly why: string }
  /** The decline that only a challenge can heal. */
  | { readonly type: 'payment_stepped_up'; readonly network: string; readonly code: string }
  | {
      readonly type: 'payment_interaction_requested';
      readonly interaction: Interaction;
      readonly until: Instant;
    }
  /** The payer came back, or the bank decided without that. No more is asked of the payer. */
  | { readonly type: 'payment_interaction_completed' }
  | { readonly type: 'payment_reversal_started'; readonly failure: PaymentFailure }
  | { readonly type: 'payment_processed'; readonly approval: Approval }
  | {
      readonly type: 'payment_capture_started';
      readonly amount: Money;
      readonly reason: string;
      readonly cart?: unknown;
    }
  | ({ readonly type: 'payment_captured'; readonly amount: Money } & Settled)
  | {
      readonly type: 'payment_cancel_started';
      readonly reason: string;
      /** The bank ended the hold, or an operator released it. */
      readonly isReleased?: true;
      /** The code with which the bank refused the capture. */
      readonly code?: string;
      /** What the capture would have taken, if one was requested. Facts of older releases have none. */
      readonly captureMinor?: bigint;
    }
  /** For good: the bank gives one answer per ID. A charge that it proves is refunded. */
  | {
      readonly type: 'payment_reversal_refused';
      readonly code: string;
      /** The bank has taken no money. The payment ends with the same event. */
      readonly isUncharged?: true;
    }
  /** A charge that never counted is undone. Without an amount a hold was released, or an operator says so. */
  | ({ readonly type: 'payment_given_back'; readonly amount?: Money } & RefundReferences & Settled)
  /** With a reason only if the merchant did not request the cancellation. */
  | ({ readonly type: 'payment_cancelled'; readonly reason?: string } & Settled)
  | ({ readonly type: 'payment_failed' } & Failed & Settled)
  /** An operator's refund has their reason. */
  | { readonly type: 'refund_started'; readonly refund: RefundTerms; readonly byOperator?: true }
  /** The money that the refund waited for is reserved. */
  | { readonly type: 'refund_funded'; readonly refundId: string }
  | ({
      readonly type: 'refund_failed';
      readonly refundId: string;
      readonly failure: PaymentFailure;
      readonly bank?: BankWords;
    } & Settled)
  | ({ readonly type: 'refund_succeeded'; readonly refundId: string } & RefundReferences & Settled)
  | { readonly type: 'payment_refunded' }
  | ToldLater;

/** What a bank tells after an outcome that was final (facts-of-update.ts). */
type ToldLater =
  /** The bank does not pay the captured amount. */
  | {
      readonly type: 'payment_capture_failed';
      readonly amount: Money;
      readonly feeMinor: bigint;
      readonly code?: string;
      /** The shop's balance was too small, so the amount is booked aside. */
      readonly isAside?: true;
    }
  /** A charge that was given up has been approved after all. */
  | { readonly type: 'payment_approved_late' }
  | UndoFact
  /** The money of a refund came back to the shop. */
  | {
      readonly type: 'refund_returned';
      readonly refundId: string;
      readonly amount: Money;
      readonly feeMinor: bigint;
      /** Of the payment, because one that is fully refunded does not keep the number. */
      readonly refundsMade: number;
      readonly failure: PaymentFailure;
    };

/** How the ID ends under which a charge before a step-up is undone (`f`). The others repeat a refund of that name that failed later. */
export const undoNames = ['f', 'f2', 'u2', 'l2'] as const;
export type UndoName = (typeof undoNames)[number];

/** What follows from a charge that does not decide its payment: the payment stays as it is. */
export type UndoFact =
  /** The bank has approved it after it had declined it, or the refund that undid it has failed. Without an amount it is a hold. */
  | {
      readonly type: 'payment_undo_started';
      readonly operation: UndoName;
      readonly amount?: Money;
      /** Why the refund before it failed. */
      readonly code?: string;
    }
  /** For good. An operator finds out what is true. */
  | { readonly type: 'payment_undo_refused'; readonly operation: UndoName; readonly code: string }
  | ({
      readonly type: 'payment_undone';
      readonly operation: UndoName;
      readonly amount?: Money;
    } & RefundReferences &
      Settled);

/** The operator's source for an outcome that no bank reports (resolution.ts). */
type Settled = { readonly settledBecause?: string };

/** All allowed transitions. Any other is a bug. */
const paymentLifecycle = {
  absent: { payment_started: 'authorising' },
  authorising: {
    payment_rerouted: 'authorising',
    payment_stepped_up: 'authorising',
    payment_interaction_requested: 'challenged',
    payment_processed: 'held',
    payment_failed: 'failed',
    payment_reversal_started: 'reversing',
  },
  challenged: {
    payment_interaction_completed: 'challenged',
    payment_processed: 'held',
    payment_failed: 'failed',
    payment_reversal_started: 'reversing',
  },
  // If the bank also refuses the refund, what it says about the charge decides: see bank-actions.ts.
  reversing: {
    payment_reversal_refused: 'reversing',
    payment_given_back: 'reversing',
    payment_processed: 'held',
    payment_failed: 'failed',
  },
  // One bank operation authorises and captures an instant payment, so its two facts are written together.
  held: {
    payment_captured: 'captured',
    payment_capture_started: 'capturing',
    payment_cancel_started: 'cancelling',
  },
  // A hold that the bank does not capture is released.
  capturing: { payment_captured: 'captured', payment_cancel_started: 'cancelling' },
  cancelling: {
    payment_reversal_refused: 'cancelling',
    payment_given_back: 'cancelling',
    payment_captured: 'captured',
    payment_cancelled: 'cancelled',
  },
  captured: {
    refund_started: 'refunding',
    payment_refunded: 'refunded',
    refund_returned: 'captured',
    payment_capture_failed: 'cancelled',
  },
  refunding: {
    refund_funded: 'refunding',
    refund_failed: 'captured',
    refund_succeeded: 'captured',
    refund_returned: 'refunding',
  },
  cancelled: {},
  refunded: { refund_returned: 'captured' },
  failed: { payment_approved_late: 'failed', payment_given_back: 'failed' },
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

/** The amount to give back when the bank refuses to reverse: never more than it may have taken. */
export function amountAtRisk({ state, amount }: Payment): Money {
  return state.name === 'cancelling' && state.captureMinor !== undefined
    ? { minor: state.captureMinor, currency: amount.currency }
    : amount;
}

/** A bank operation is in progress, and only the bank knows its outcome. */
export const statesAtBank: readonly PaymentStateName[] = [
  'authorising',
  'reversing',
  'capturing',
  'cancelling',
  'refunding',
];

/** While the payment may still take its money, the invoice accepts no other payment. */
export function isInProgress(payment: Payment): boolean {
  const status = publicStatus[payment.state.name];
  return status === 'pending' || status === 'processed';
}

/**
 * The ID under which the bank knows an operation, fixed before the first send; no two kinds share one. `undo` refunds what was not
 * reversed, `late` undoes a late approval, and `stepUp` is the charge of a payment that is stepped up.
 */
export function operationIdOf(
  payment: { readonly invoiceId: string; readonly id: string; readonly isSteppedUp?: true },
  operation:
    | 'authorise'
    | 'stepUp'
    | 'capture'
    | 'reverse'
    | 'undo'
    | 'late'
    | UndoName
    | { readonly refund: string },
): string {
  const kind = operation === 'authorise' && payment.isSteppedUp ? 'stepUp' : operation;
  const name = typeof kind !== 'string' ? kind.refund : isUndoName(kind) ? kind : kind[0];
  return `${payment.invoiceId}.${payment.id}.${name}`;
}

export function isUndoFact(fact: PaymentFact): fact is UndoFact {
  return undoFacts.includes(fact.type);
}
const undoFacts: readonly PaymentFact['type'][] = [
  'payment_undo_started',
  'payment_undo_refused',
  'payment_undone',
];

function isUndoName(kind: string): kind is UndoName {
  return (undoNames as readonly string[]).includes(kind);
}

/** The first charge of a payment, which a step-up leaves behind. */
export function firstChargeIdOf({ invoiceId, id }: Pick<Payment, 'invoiceId' | 'id'>): string {
  return operationIdOf({ invoiceId, id }, 'authorise');
}

/** The payment of a bank operation ID. */
export function paymentOfOperation(
  operationId: string,
): readonly [invoiceId: string, paymentId: string] | undefined {
  const [invoiceId, paymentId, kind] = operationId.split('.');
  return invoiceId && paymentId && kind ? [invoiceId, paymentId] : undefined;
}

/** The key of the job that undoes a charge which does not decide its payment. */
export function undoOfOperation(
  operationId: string,
): readonly [invoiceId: string, paymentId: string, operation: UndoName] | undefined {
  const [invoiceId, paymentId, kind] = operationId.split('.');
  return invoiceId && paymentId && kind && isUndoName(kind) ? [invoiceId, paymentId, kind] : undefined;
}

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
      return nextPoll(state, now);
    case 'held':
      return flow.type === 'hold' ? flow.heldUntil : now;
    case 'failed':
      return state.isUndoing ? now : null;
    case 'captured':
    case 'cancelled':
    case 'refunded':
      return null;
  }
}

/** The payment after a fact. Throws if the lifecycle does not allow the fact: the code or the data has a bug. */
export function evolve(payment: Payment | undefined, fact: PaymentFact): Payment {
  if (isUndoFact(fact)) return unchangedBy(fact, payment);
  const from = payment?.state.name ?? 'absent';
  const moves: Partial<Record<PaymentFact['type'], PaymentStateName>> = paymentLifecycle[from];
  if (moves[fact.type] === undefined)
    throw new Error(`A payment in state ${from} cannot have fact ${fact.type}.`);
  if (fact.type === 'payment_started') return { ...fact.terms, state: { name: 'authorising' } };
  if (!payment) throw new Error(`Fact ${fact.type} came before the payment was created.`);
  if (fact.type === 'payment_rerouted') return { ...payment, terminal: fact.terminal };
  if (fact.type === 'payment_stepped_up') return steppedUp(payment);
  return { ...payment, state: stateAfter(payment, fact) };
}

/** Whatever its state: its own charge decides it. */
function unchangedBy({ type, operation }: UndoFact, payment: Payment | undefined): Payment {
  if (!payment) throw new Error(`Fact ${type} came before the payment was created.`);
  if (operation.startsWith('f') && !payment.isSteppedUp)
    throw new Error(`Fact ${type} came to a payment that was not stepped up.`);
  return payment;
}

function steppedUp(payment: Payment): Payment {
  if (payment.isSteppedUp) throw new Error('A payment is stepped up once.');
  return { ...payment, isSteppedUp: true };
}

function stateAfter(
  payment: Payment,
  fact: Exclude<
    PaymentFact,
    UndoFact | { type: 'payment_started' | 'payment_rerouted' | 'payment_stepped_up' }
  >,
): PaymentState {
  switch (fact.type) {
    case 'payment_interaction_requested':
      return { name: 'challenged', interaction: fact.interaction, until: fact.until };
    case 'payment_interaction_completed':
      return { ...openChallengeIn(payment.state), isCompleted: true };
    case 'payment_reversal_started':
      return { name: 'reversing', failure: fact.failure };
    case 'payment_reversal_refused':
      return { ...takingBackIn(payment), ...(fact.isUncharged ? {} : { isRefunding: true }) };
    case 'payment_given_back':
      return givenBack(payment);
    case 'payment_approved_late':
      return { ...failedIn(payment), isUndoing: true };
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
      return cancellingAfter(payment, fact);
    case 'payment_cancelled':
    case 'payment_capture_failed':
      return { name: 'cancelled', approval: approvalIn(payment) };
    case 'payment_failed': {
      const { failure, declineClass, bank } = fact;
      return { name: 'failed', failure, ...defined({ declineClass, bank }) };
    }
    case 'refund_started': {
      const { id, amount, feeMinor, waitsUntil } = fact.refund;
      const refundsMade = takenIn(payment).refundsMade + 1;
      return {
        name: 'refunding',
        ...takenIn(payment),
        refundsMade,
        refund: { id, minor: amount.minor, feeMinor, ...defined({ waitsUntil }) },
      };
    }
    case 'refund_funded': {
      const { waitsUntil, ...refund } = refundIn(payment, fact.refundId);
      if (waitsUntil === undefined) throw new Error('A refund that has its money cannot have it again.');
      return { name: 'refunding', ...takenIn(payment), refund };
    }
    case 'refund_failed':
      refundIn(payment, fact.refundId);
      return { name: 'captured', ...takenIn(payment) };
    case 'refund_succeeded': {
      const { minor, waitsUntil } = refundIn(payment, fact.refundId);
      if (waitsUntil !== undefined) throw new Error('A refund that waits for money cannot have succeeded.');
      const { refundedMinor, ...taken } = takenIn(payment);
      return { name: 'captured', ...taken, refundedMinor: refundedMinor + minor };
    }
    case 'payment_refunded': {
      const { approval, amount } = takenIn(payment);
      return { name: 'refunded', approval, amount };
    }
    case 'refund_returned':
      return afterReturn(payment, fact);
  }
}

function cancellingAfter(
  payment: Payment,
  { reason, isReleased, captureMinor }: PaymentFact & { type: 'payment_cancel_started' },
): PaymentState {
  const { state } = payment;
  const approval = approvalIn(payment);
  if (state.name === 'capturing')
    return { name: 'cancelling', approval, reason, isReleased: true, ...defined({ captureMinor }) };
  return { name: 'cancelling', approval, reason, ...defined({ isReleased }) };
}

export function withInteractionEnd(
  { state }: Payment,
  events: readonly (readonly PaymentFact[])[],
): readonly (readonly PaymentFact[])[] {
  if (!endsChallenge(state, events.flat())) return events;
  return [[{ type: 'payment_interaction_completed' }], ...events];
}

function takingBackIn({ state }: Payment): PaymentState & { name: 'reversing' | 'cancelling' } {
  if ((state.name === 'reversing' || state.name === 'cancelling') && !state.isRefunding) return state;
  throw new Error(`The reversal of a payment in state ${state.name} cannot be refused.`);
}

function failedIn({ state }: Payment): PaymentState & { name: 'failed' } {
  if (state.name === 'failed' && !state.isUndoing) return state;
  throw new Error(`A payment in state ${state.name} cannot be approved late.`);
}

function givenBack({ state }: Payment): PaymentState {
  if ('isRefunding' in state) return state;
  if (state.name !== 'failed' || !state.isUndoing)
    throw new Error(`A payment in state ${state.name} has no charge to undo.`);
  const { isUndoing: _, ...failed } = state;
  return failed;
}

function afterReturn(payment: Payment, fact: PaymentFact & { type: 'refund_returned' }): PaymentState {
  const { state } = payment;
  const { minor } = fact.amount;
  if (state.name === 'refunded') {
    const { approval, amount } = state;
    const refundedMinor = amount.minor - minor;
    return { name: 'captured', approval, amount, refundedMinor, refundsMade: fact.refundsMade };
  }
  const taken = takenIn(payment);
  if (minor > taken.refundedMinor) throw new Error('More came back than was refunded.');
  const left = { ...taken, refundedMinor: taken.refundedMinor - minor };
  return state.name === 'refunding'
    ? { name: 'refunding', ...left, refund: state.refund }
    : { name: 'captured', ...left };
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
