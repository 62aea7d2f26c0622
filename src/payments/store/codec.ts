// Stored JSON of payments: facts in the invoice's log, terms and states in their rows.
import type { PaymentFailure } from '../../acquiring/authorisation/domain/payment-failure.ts';
import {
  approval,
  bankWords,
  challengeMembers,
  failure,
  interaction,
  networkId,
  terminal,
} from '../../acquiring/store/codec.ts';
import { cardDetails, clientInfo, paymentSystem } from '../../cards/store/codec.ts';
import { cart, invoiceFacts } from '../../invoices/store/codec.ts';
import type { Instant } from '../../clock.ts';
import type { InvoiceFact } from '../../invoices/domain/invoice.ts';
import {
  anything,
  flag,
  instant,
  list,
  livemode,
  mapped,
  minorUnits,
  money,
  object,
  oneOf,
  optional,
  storedAs,
  text,
  variants,
  wholeNumber,
  type Codec,
} from '../../platform/database/codec.ts';
import { fees } from '../../platform/ledger/store/codec.ts';
import { contactInfo, declineClass, mandateGiven } from '../../recurring/store/codec.ts';
import type {
  Flow,
  Payment,
  PaymentFact,
  PaymentState,
  PaymentTerms,
  RefundInProgress,
  RefundTerms,
} from '../domain/payment.ts';
import { undoNames } from '../domain/payment.ts';
import type { Payer, Retry } from '../domain/payer/payer.ts';
import { exemptions } from '../../acquiring/domain/authentication.ts';
import { chargeReasons, type InstalmentSequence } from '../../acquiring/domain/initiation.ts';

/** In the invoice's log, a fact names its payment. */
export type InvoiceLogFact = InvoiceFact | (PaymentFact & { readonly paymentId: string });

const payerMembers = {
  token: text,
  contactInfo,
  redirectUrl: optional(text),
  subscriptionId: optional(text),
};
const chain = {
  seriesId: text,
  rootNetworkTransactionId: optional(text),
  rootNetworkIds: optional(list(networkId)),
  previousNetworkTransactionId: optional(text),
  previousNetworkIds: optional(list(networkId)),
  warnings: list(text),
  agreedAmount: optional(oneOf('fixed', 'variable')),
  chargeReason: optional(oneOf(...chargeReasons)),
  sequence: optional(object<InstalmentSequence>({ number: wholeNumber, of: optional(wholeNumber) })),
  followsLackOfFunds: optional(oneOf(true)),
  retry: optional(
    object<Retry>({
      number: wholeNumber,
      declineClass,
      days: wholeNumber,
      localHour: wholeNumber,
      policy: text,
      policyVersion: wholeNumber,
    }),
  ),
};
const payer: Codec<Payer> = variants<Payer, 'type'>('type', {
  resource: {
    ...payerMembers,
    session: text,
    card: cardDetails,
    clientInfo,
    savedBy: optional(object({ customerId: text, bindingId: text })),
  },
  recurrent: {
    ...payerMembers,
    ...chain,
    receiptGoesToConsent: optional(oneOf(true)),
    paymentSystem: optional(paymentSystem),
    parent: object({ invoiceId: text, paymentId: text }),
  },
  customer: {
    ...payerMembers,
    ...chain,
    customerId: text,
    bindingId: text,
    card: cardDetails,
  },
});

const flow: Codec<Flow> = variants<Flow, 'type'>('type', {
  instant: {},
  hold: { onExpiration: oneOf('cancel', 'capture'), heldUntil: instant },
});

const saidByBank = { bank: optional(bankWords) };
const helper = { declineClass: optional(declineClass), ...saidByBank };

const authenticated = object<NonNullable<PaymentTerms['authenticated']>>({
  version: text,
  status: oneOf('Y', 'A'),
  eci: text,
  dsTransId: text,
  acsTransId: optional(text),
  at: instant,
  keptAs: text,
});

/** Terms without a column of their own. */
export type RowTerms = Pick<
  PaymentTerms,
  | 'flow'
  | 'payer'
  | 'makeRecurrent'
  | 'recurrentTerms'
  | 'threeDSecure'
  | 'exemption'
  | 'authenticated'
  | 'metadata'
  | 'deadline'
  | 'terminal'
  | 'livemode'
  | 'fees'
> &
  Pick<Payment, 'isSteppedUp'>;
const termsMembers = {
  flow,
  payer,
  makeRecurrent: flag,
  recurrentTerms: optional(mandateGiven),
  threeDSecure: optional(oneOf('always', 'never')),
  exemption: optional(oneOf(...exemptions)),
  authenticated: optional(authenticated),
  metadata: optional(anything),
  deadline: instant,
  terminal,
  livemode: storedAs('realm', livemode),
  fees,
};

type StoredTerms = Omit<RowTerms, 'deadline'> & {
  readonly deadline?: Instant;
  readonly stepUpDeadline?: Instant;
};

/** Of a payment that is stepped up the deadline has another name: 0.2.0 would query its first charge, which was declined. */
export const rowTerms: Codec<RowTerms> = mapped(
  object<StoredTerms>({
    ...termsMembers,
    deadline: optional(instant),
    isSteppedUp: optional(oneOf(true)),
    stepUpDeadline: optional(instant),
  }),
  {
    read(stored) {
      if (stored.deadline !== undefined) return stored as RowTerms;
      const { stepUpDeadline: deadline, ...terms } = stored;
      if (deadline === undefined) throw new Error('A payment is stored without its deadline.');
      return { ...terms, deadline };
    },
    write(terms) {
      if (!terms.isSteppedUp) return terms;
      const { deadline: stepUpDeadline, ...stored } = terms;
      return { ...stored, stepUpDeadline };
    },
  },
);

const terms: Codec<PaymentTerms> = object({
  invoiceId: text,
  id: text,
  partyId: text,
  shopId: text,
  createdAt: instant,
  amount: money,
  externalId: optional(text),
  ...termsMembers,
});

/** The amount of a refund that waits has another name, because 0.2.0 would send a refund whose amount it can read. */
const refundInProgress: Codec<RefundInProgress> = mapped(
  object<Omit<RefundInProgress, 'minor'> & { readonly minor?: bigint; readonly waitingMinor?: bigint }>({
    id: text,
    minor: optional(minorUnits),
    waitingMinor: optional(minorUnits),
    feeMinor: minorUnits,
    waitsUntil: optional(instant),
  }),
  {
    read({ minor, waitingMinor, ...refund }) {
      const amount = refund.waitsUntil === undefined ? minor : waitingMinor;
      if (amount === undefined) throw new Error(`Refund ${refund.id} is stored without its amount.`);
      return { ...refund, minor: amount };
    },
    write: ({ minor, ...refund }) =>
      refund.waitsUntil === undefined ? { ...refund, minor } : { ...refund, waitingMinor: minor },
  },
);

const takingBack = { isRefunding: optional(oneOf(true)) };

/** The state without amounts that have a column. */
export type RowState = WithoutMoney<PaymentState>;
type WithoutMoney<State> = State extends unknown ? Omit<State, 'amount' | 'refundedMinor'> : never;
const unwanted = { cancelReason: optional(text) };
type Failed = Extract<RowState, { readonly name: 'failed' }>;
type StoredFailed = Omit<Failed, 'failure' | 'isUndoing'> & {
  readonly failure?: PaymentFailure;
  readonly lateFailure?: PaymentFailure;
};
type StoredState = Exclude<RowState, Failed> | StoredFailed;
const storedState: Codec<StoredState> = variants<StoredState, 'name'>('name', {
  authorising: unwanted,
  challenged: { ...challengeMembers, ...unwanted },
  reversing: { failure, ...takingBack },
  held: { approval },
  capturing: { approval, reason: text },
  cancelling: {
    approval,
    reason: text,
    isReleased: optional(oneOf(true)),
    captureMinor: optional(minorUnits),
    ...takingBack,
  },
  captured: { approval, refundsMade: wholeNumber },
  refunding: {
    approval,
    refundsMade: wholeNumber,
    refund: refundInProgress,
  },
  cancelled: { approval: optional(approval) },
  refunded: { approval },
  failed: { failure: optional(failure), lateFailure: optional(failure), ...helper },
});

/** While a late approval is undone the failure has another name: 0.2.0 would take the payment for final, and forget the job. */
export const rowState: Codec<RowState> = mapped<StoredState, RowState>(storedState, {
  read(stored) {
    if (stored.name !== 'failed') return stored;
    const { failure: known, lateFailure, ...state } = stored;
    if (lateFailure) return { ...state, failure: lateFailure, isUndoing: true };
    if (!known) throw new Error('A failed payment is stored without its failure.');
    return { ...state, failure: known };
  },
  write(state) {
    if (state.name !== 'failed' || !state.isUndoing) return state;
    const { failure: lateFailure, isUndoing: _, ...stored } = state;
    return { ...stored, lateFailure };
  },
});

const refund: Codec<RefundTerms> = object({
  id: text,
  createdAt: instant,
  amount: money,
  feeMinor: minorUnits,
  reason: optional(text),
  cart: optional(cart),
  externalId: optional(text),
  waitsUntil: optional(instant),
});

const about = { paymentId: text };
const refundReferences = { rrn: optional(text), arn: optional(text) };
const settled = { ...about, settledBecause: optional(text) };
const undo = { ...about, operation: oneOf(...undoNames) };

export const invoiceLogFact = variants<InvoiceLogFact, 'type'>('type', {
  ...invoiceFacts,
  payment_started: { ...about, terms },
  payment_rerouted: { ...about, terminal, why: text },
  payment_stepped_up: { ...about, network: text, code: text },
  payment_interaction_requested: { ...about, interaction, until: instant },
  payment_interaction_completed: about,
  payment_reversal_started: { ...about, failure },
  payment_processed: { ...about, approval },
  payment_capture_started: { ...about, amount: money, reason: text, cart: optional(anything) },
  payment_captured: { ...settled, amount: money },
  payment_cancel_started: {
    ...about,
    reason: text,
    isReleased: optional(oneOf(true)),
    code: optional(text),
    captureMinor: optional(minorUnits),
  },
  payment_reversal_refused: { ...about, code: text, isUncharged: optional(oneOf(true)) },
  payment_given_back: { ...settled, amount: optional(money), ...refundReferences },
  payment_cancelled: { ...settled, reason: optional(text) },
  payment_failed: { ...settled, failure, ...helper },
  refund_started: { ...about, refund, byOperator: optional(oneOf(true)) },
  refund_funded: { ...about, refundId: text },
  refund_failed: { ...settled, refundId: text, failure, ...saidByBank },
  refund_succeeded: { ...settled, refundId: text, ...refundReferences },
  payment_refunded: about,
  payment_capture_failed: {
    ...about,
    amount: money,
    feeMinor: minorUnits,
    code: optional(text),
    isAside: optional(oneOf(true)),
  },
  payment_approved_late: about,
  payment_undo_started: { ...undo, amount: optional(money), code: optional(text) },
  payment_undo_refused: { ...undo, code: text },
  payment_undone: { ...settled, ...undo, amount: optional(money), ...refundReferences },
  refund_returned: {
    ...about,
    refundId: text,
    amount: money,
    feeMinor: minorUnits,
    refundsMade: wholeNumber,
    failure,
  },
});
