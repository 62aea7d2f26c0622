// A payment as a row. Amounts and searched values have columns; the rest of terms and state is JSON.
import { currency } from '../../platform/database/codec.ts';
import { stored, storedBeside, type Values } from '../../platform/database/statement.ts';
import type { Payment, PaymentState } from '../domain/payment.ts';
import { defined } from '../../defined.ts';
import { rowState, rowTerms, type RowState, type RowTerms } from './codec.ts';

export type StoredPayment = {
  readonly payment: Payment;
  readonly version: number;
  /** How many attempts to send it, from the first, have reached no bank. Absent: none. */
  readonly unsentAttempts?: number;
};

export const paymentColumns = {
  invoice_id: 'text',
  payment_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  status: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: stored('text', currency),
  captured_minor: 'int8?',
  refunded_minor: 'int8',
  terms: stored('json', rowTerms),
  state: storedBeside('status', 'name', rowState),
  external_id: 'text?',
} as const;

export function rowOf(payment: Payment, version: number): Values<typeof paymentColumns> {
  const { flow, payer, makeRecurrent, deadline, terminal, livemode, metadata, state } = payment;
  const { recurrentTerms, threeDSecure, exemption, authenticated, isSteppedUp } = payment;
  const terms: RowTerms = {
    flow,
    payer,
    makeRecurrent,
    deadline,
    terminal,
    livemode,
    fees: payment.fees,
    ...defined({ metadata, recurrentTerms, threeDSecure, exemption, authenticated, isSteppedUp }),
  };
  return {
    invoice_id: payment.invoiceId,
    payment_id: payment.id,
    party_id: payment.partyId,
    shop_id: payment.shopId,
    version,
    status: state.name,
    created_at: payment.createdAt,
    amount_minor: payment.amount.minor,
    currency: payment.amount.currency,
    captured_minor: 'amount' in state ? state.amount.minor : null,
    refunded_minor:
      'refundedMinor' in state ? state.refundedMinor : state.name === 'refunded' ? state.amount.minor : 0n,
    terms,
    state: withoutMoney(state),
    external_id: payment.externalId ?? null,
  };
}

/** The state without what has a column. */
function withoutMoney(state: PaymentState): RowState {
  const { amount: _amount, refundedMinor: _refunded, ...more } = state as PaymentState & MayHaveMoney;
  return more;
}
type MayHaveMoney = { readonly amount?: unknown; readonly refundedMinor?: unknown };

export function storedFromRow(row: Values<typeof paymentColumns>): StoredPayment {
  return { payment: paymentFromRow(row), version: row.version };
}

function paymentFromRow(row: Values<typeof paymentColumns>): Payment {
  const { terms } = row;
  const { metadata, recurrentTerms, threeDSecure, exemption, authenticated, isSteppedUp } = terms;
  // Member by member, rare ones last: V8 defines members after a spread slowly.
  const payment: Payment = {
    flow: terms.flow,
    payer: terms.payer,
    makeRecurrent: terms.makeRecurrent,
    deadline: terms.deadline,
    terminal: terms.terminal,
    livemode: terms.livemode,
    fees: terms.fees,
    invoiceId: row.invoice_id,
    id: row.payment_id,
    partyId: row.party_id,
    shopId: row.shop_id,
    createdAt: row.created_at,
    amount: { minor: row.amount_minor, currency: row.currency },
    state: stateFromRow(row),
  };
  const rare = { metadata, recurrentTerms, threeDSecure, exemption, authenticated, isSteppedUp };
  const more = { ...rare, externalId: row.external_id };
  const hasMore = Object.values(more).some((value) => value !== undefined && value !== null);
  return hasMore ? { ...payment, ...defined(more) } : payment;
}

function stateFromRow({
  state,
  captured_minor,
  refunded_minor,
  currency: of,
}: Values<typeof paymentColumns>): PaymentState {
  const amount = { minor: captured_minor ?? 0n, currency: of };
  switch (state.name) {
    case 'capturing':
    case 'refunded':
      return { ...state, amount };
    case 'captured':
    case 'refunding':
      return { ...state, amount, refundedMinor: refunded_minor };
    default:
      return state;
  }
}
