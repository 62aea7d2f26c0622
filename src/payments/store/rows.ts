// A payment as a row: money and what is looked for in columns, the rest of its terms and of its state as JSON.
import { livemodeOf, modeName, type ModeName } from '../../livemode.ts';
import type { Values } from '../../platform/database/statement.ts';
import { feesFromJson, feesToJson, type FeesJson } from '../../platform/ledger/domain/fee.ts';
import type { Currency, Money } from '../../money.ts';
import type { Payment, PaymentState } from '../domain/payment.ts';
import { defined } from '../../defined.ts';

export type StoredPayment = { readonly payment: Payment; readonly version: number };

export const paymentColumns = {
  invoice_id: 'text',
  payment_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  status: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: 'text',
  captured_minor: 'int8?',
  refunded_minor: 'int8',
  terms: 'json',
  state: 'json',
  external_id: 'text?',
} as const;

type TermsJson = Pick<Payment, 'flow' | 'payer' | 'makeRecurrent' | 'deadline' | 'terminal'> & {
  realm: ModeName;
  fees: FeesJson;
  metadata?: unknown;
  recurrentTerms?: NonNullable<Payment['recurrentTerms']>;
};

export function rowOf(payment: Payment, version: number): Values<typeof paymentColumns> {
  const { flow, payer, makeRecurrent, deadline, terminal, livemode, metadata, state } = payment;
  const terms: TermsJson = {
    flow,
    payer,
    makeRecurrent,
    deadline,
    terminal,
    realm: modeName(livemode),
    fees: feesToJson(payment.fees),
    ...defined({ metadata, recurrentTerms: payment.recurrentTerms }),
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
    state: stateToJson(state),
    external_id: payment.externalId ?? null,
  };
}

/** What of a state is neither its name nor money that has a column. */
function stateToJson(state: PaymentState): unknown {
  const { name: _, ...rest } = state;
  const { amount: _amount, refundedMinor: _refunded, refund, ...more } = { ...undefinedMoney, ...rest };
  if (!refund) return more;
  return {
    ...more,
    refund: { id: refund.id, minor: Number(refund.minor), feeMinor: Number(refund.feeMinor) },
  };
}
const undefinedMoney = { amount: undefined, refundedMinor: undefined, refund: undefined };

export function storedFromRow(row: Values<typeof paymentColumns>): StoredPayment {
  return { payment: paymentFromRow(row), version: row.version };
}

function paymentFromRow(row: Values<typeof paymentColumns>): Payment {
  const terms = row.terms as TermsJson;
  const { metadata, recurrentTerms } = terms;
  // Member by member, and what few payments have last: what stands behind a spread is defined in V8's slow way.
  const payment: Payment = {
    flow: terms.flow,
    payer: terms.payer,
    makeRecurrent: terms.makeRecurrent,
    deadline: terms.deadline,
    terminal: terms.terminal,
    livemode: livemodeOf(terms.realm),
    fees: feesFromJson(terms.fees),
    invoiceId: row.invoice_id,
    id: row.payment_id,
    partyId: row.party_id,
    shopId: row.shop_id,
    createdAt: row.created_at,
    amount: money(row.amount_minor, row.currency),
    state: stateFromRow(row),
  };
  const hasMore = metadata !== undefined || recurrentTerms !== undefined || row.external_id !== null;
  if (!hasMore) return payment;
  return {
    ...payment,
    ...defined({ metadata, recurrentTerms, externalId: row.external_id }),
  };
}

function stateFromRow(row: Values<typeof paymentColumns>): PaymentState {
  const { captured_minor, refunded_minor, currency } = row;
  // What was read belongs to nobody else, so it is not copied.
  const state = row.state as Record<string, unknown> & {
    refund?: { id: string; minor: unknown; feeMinor: unknown };
  };
  state['name'] = row.status;
  if (captured_minor !== null) state['amount'] = money(captured_minor, currency);
  if ('refundsMade' in state) state['refundedMinor'] = refunded_minor;
  const { refund } = state;
  if (refund) {
    const { id, minor, feeMinor } = refund;
    state.refund = { id, minor: BigInt(minor as number), feeMinor: BigInt(feeMinor as number) };
  }
  return state as PaymentState;
}

export function money(minor: bigint, currency: string): Money {
  return { minor, currency: currency as Currency };
}
