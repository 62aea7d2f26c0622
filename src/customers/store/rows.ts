// A binding as a row: money and what queries filter by in columns, the rest of its terms and state as JSON.
import { currency } from '../../platform/database/codec.ts';
import { stored, storedBeside, type Values } from '../../platform/database/statement.ts';
import type { Binding, BindingState } from '../domain/binding.ts';
import { defined } from '../../defined.ts';
import { rowState, rowTerms } from './codec.ts';

export const stateColumns = {
  status: 'text',
  state: storedBeside('status', 'name', rowState),
  refund_due_at: 'timestamptz?',
} as const;

export const bindingColumns = {
  customer_id: 'text',
  binding_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  number: 'int4',
  status: stateColumns.status,
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: stored('text', currency),
  terms: stored('json', rowTerms),
  state: stateColumns.state,
  external_id: 'text?',
  refund_due_at: stateColumns.refund_due_at,
} as const;

export function rowOf(binding: Binding, version: number): Values<typeof bindingColumns> {
  const { card, email, recurrentTerms, renews, imported, redirectUrl, deadline, terminal, livemode } =
    binding;
  return {
    customer_id: binding.customerId,
    binding_id: binding.id,
    party_id: binding.partyId,
    shop_id: binding.shopId,
    version,
    number: binding.number,
    created_at: binding.createdAt,
    amount_minor: binding.amount.minor,
    currency: binding.amount.currency,
    terms: {
      card,
      deadline,
      terminal,
      livemode,
      ...defined({ email, recurrentTerms, renews, imported, redirectUrl }),
    },
    external_id: binding.externalId ?? null,
    ...stateRowOf(binding.state),
  };
}

export function stateRowOf(state: BindingState): Values<typeof stateColumns> {
  const { returnBy = null, ...rest } = { returnBy: undefined, ...state };
  return { status: state.name, state: rest, refund_due_at: returnBy };
}

export function bindingFromRow(row: Values<typeof bindingColumns>): Binding {
  const { card, deadline, terminal, livemode } = row.terms;
  const { email, recurrentTerms, renews, imported, redirectUrl } = row.terms;
  // Member by member, rare ones last: V8 defines members after a spread slowly.
  return {
    card,
    deadline,
    terminal,
    livemode,
    customerId: row.customer_id,
    id: row.binding_id,
    number: row.number,
    partyId: row.party_id,
    shopId: row.shop_id,
    createdAt: row.created_at,
    amount: { minor: row.amount_minor, currency: row.currency },
    state: stateFromRow(row),
    ...defined({
      email,
      recurrentTerms,
      renews,
      imported,
      redirectUrl,
      externalId: row.external_id,
    }),
  };
}

function stateFromRow({
  binding_id,
  state,
  refund_due_at: returnBy,
}: Values<typeof bindingColumns>): BindingState {
  switch (state.name) {
    case 'reversing':
    case 'returning':
    case 'refunding':
      if (returnBy === null) throw new Error(`binding ${binding_id} is ${state.name} without refund_due_at`);
      return { ...state, returnBy };
    default:
      return state;
  }
}
