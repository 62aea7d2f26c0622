// Stored JSON of payments: facts in the invoice's log, terms and states in their rows.
import { interaction, terminal } from '../../acquiring/store/codec.ts';
import { cardDetails, clientInfo } from '../../cards/store/codec.ts';
import { cart, invoiceFacts } from '../../invoices/store/codec.ts';
import type { InvoiceFact } from '../../invoices/domain/invoice.ts';
import {
  anything,
  flag,
  instant,
  list,
  livemode,
  minorUnits,
  money,
  notEmpty,
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
import { contactInfo, mandateGiven } from '../../recurring/store/codec.ts';
import type {
  Approval,
  Flow,
  Payer,
  PaymentFact,
  PaymentState,
  PaymentTerms,
  RefundTerms,
} from '../domain/payment.ts';
import type { PaymentFailure } from '../domain/payment-failure.ts';

/** In the invoice's log, a fact names its payment. */
export type InvoiceLogFact = InvoiceFact | (PaymentFact & { readonly paymentId: string });

const payerMembers = {
  token: text,
  contactInfo,
  redirectUrl: optional(text),
};
const chain = {
  seriesId: text,
  rootNetworkTransactionId: optional(text),
  previousNetworkTransactionId: optional(text),
  warnings: list(text),
};
const payer: Codec<Payer> = variants<Payer, 'type'>('type', {
  resource: { ...payerMembers, session: text, card: cardDetails, clientInfo },
  recurrent: {
    ...payerMembers,
    ...chain,
    receiptGoesToConsent: optional(oneOf(true)),
    parent: object({ invoiceId: text, paymentId: text }),
  },
  customer: { ...payerMembers, ...chain, customerId: text, bindingId: text, card: cardDetails },
});

const flow: Codec<Flow> = variants<Flow, 'type'>('type', {
  instant: {},
  hold: { onExpiration: oneOf('cancel', 'capture'), heldUntil: instant },
});

export const failure: Codec<PaymentFailure> = notEmpty(list(text));

export const approval: Codec<Approval> = object({
  reference: text,
  approvalCode: optional(text),
  networkTransactionId: optional(text),
  eci: optional(text),
});

/** Terms without a column of their own. */
export type RowTerms = Pick<
  PaymentTerms,
  | 'flow'
  | 'payer'
  | 'makeRecurrent'
  | 'recurrentTerms'
  | 'metadata'
  | 'deadline'
  | 'terminal'
  | 'livemode'
  | 'fees'
>;
const termsMembers = {
  flow,
  payer,
  makeRecurrent: flag,
  recurrentTerms: optional(mandateGiven),
  metadata: optional(anything),
  deadline: instant,
  terminal,
  livemode: storedAs('realm', livemode),
  fees,
};

export const rowTerms: Codec<RowTerms> = object(termsMembers);

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

/** The state without amounts that have a column. */
export type RowState = WithoutMoney<PaymentState>;
type WithoutMoney<State> = State extends unknown ? Omit<State, 'amount' | 'refundedMinor'> : never;
export const rowState: Codec<RowState> = variants<RowState, 'name'>('name', {
  authorising: {},
  challenged: { interaction, until: instant },
  reversing: { failure },
  held: { approval },
  capturing: { approval, reason: text },
  cancelling: { approval, reason: text, isReleased: optional(oneOf(true)) },
  captured: { approval, refundsMade: wholeNumber },
  refunding: {
    approval,
    refundsMade: wholeNumber,
    refund: object({ id: text, minor: minorUnits, feeMinor: minorUnits }),
  },
  cancelled: { approval: optional(approval) },
  refunded: { approval },
  failed: { failure },
});

const refund: Codec<RefundTerms> = object({
  id: text,
  createdAt: instant,
  amount: money,
  feeMinor: minorUnits,
  reason: optional(text),
  cart: optional(cart),
  externalId: optional(text),
});

const about = { paymentId: text };
const settled = { ...about, settledBecause: optional(text) };

export const invoiceLogFact = variants<InvoiceLogFact, 'type'>('type', {
  ...invoiceFacts,
  payment_started: { ...about, terms },
  payment_rerouted: { ...about, terminal, why: text },
  payment_interaction_requested: { ...about, interaction, until: instant },
  payment_reversal_started: { ...about, failure },
  payment_processed: { ...about, approval },
  payment_capture_started: { ...about, amount: money, reason: text, cart: optional(anything) },
  payment_captured: { ...settled, amount: money },
  payment_cancel_started: { ...about, reason: text },
  payment_cancelled: { ...settled, reason: optional(text) },
  payment_failed: { ...settled, failure },
  refund_started: { ...about, refund },
  refund_failed: { ...settled, refundId: text, failure },
  refund_succeeded: { ...settled, refundId: text },
  payment_refunded: about,
});
