// A binding as a row: money and what is looked for in columns, the rest of its terms and of its state as JSON. What the
// customer has to do with it comes along.
import { livemodeOf, modeName, type ModeName } from '../../livemode.ts';
import type { Values } from '../../platform/database/statement.ts';
import type { Currency } from '../../money.ts';
import type { Binding, BindingState } from '../domain/binding.ts';
import { defined } from '../../defined.ts';

export const bindingColumns = {
  customer_id: 'text',
  binding_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  number: 'int4',
  status: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: 'text',
  terms: 'json',
  state: 'json',
  external_id: 'text?',
  refund_due_at: 'timestamptz?',
} as const;

type TermsJson = Pick<
  Binding,
  'card' | 'email' | 'recurrentTerms' | 'redirectUrl' | 'deadline' | 'terminal'
> & { readonly realm: ModeName };

export function rowOf(binding: Binding, version: number): Values<typeof bindingColumns> {
  const { card, email, recurrentTerms, redirectUrl, deadline, terminal, livemode } = binding;
  const terms: TermsJson = {
    card,
    deadline,
    terminal,
    realm: modeName(livemode),
    ...defined({ email, recurrentTerms, redirectUrl }),
  };
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
    terms,
    external_id: binding.externalId ?? null,
    ...stateColumns(binding.state),
  };
}

export function stateColumns(state: BindingState) {
  const { name: status, ...rest } = state;
  const { returnBy = null, ...more } = { returnBy: undefined, ...rest };
  return { status, state: more as unknown, refund_due_at: returnBy };
}

export function bindingFromRow(row: Values<typeof bindingColumns>): Binding {
  const { realm, ...terms } = row.terms as TermsJson;
  return {
    ...terms,
    livemode: livemodeOf(realm),
    customerId: row.customer_id,
    id: row.binding_id,
    number: row.number,
    partyId: row.party_id,
    shopId: row.shop_id,
    createdAt: row.created_at,
    amount: { minor: row.amount_minor, currency: row.currency as Currency },
    ...defined({ externalId: row.external_id }),
    state: {
      name: row.status,
      ...(row.state as object),
      ...defined({ returnBy: row.refund_due_at }),
    } as BindingState,
  };
}
