// A customer: a payer record of a shop. It can be charged without the payer present while it has an active binding: the one
// that succeeded last and is not revoked.
import type { ContactInfo } from '../../recurring/domain/mandate.ts';
import type { Instant } from '../../clock.ts';
import { requireTrading, type Party, type Shop, type TradingRefusal } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';

/** Fixed when the customer is created. */
export type CustomerTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly createdAt: Instant;
  readonly contactInfo: ContactInfo;
  readonly metadata: object;
  readonly externalId?: string;
};

export type CustomerState =
  | { readonly name: 'unready' }
  /** A ready customer always has an active binding. */
  | { readonly name: 'ready'; readonly activeBindingId: string }
  | { readonly name: 'deleted' };

export type CustomerStateName = CustomerState['name'];
export type Customer = CustomerTerms & {
  readonly state: CustomerState;
  /** Including failed ones. */
  readonly bindingsMade: number;
};

export type CustomerFact =
  | { readonly type: 'customer_created'; readonly terms: CustomerTerms }
  | { readonly type: 'customer_ready'; readonly bindingId: string }
  | { readonly type: 'active_binding_changed'; readonly bindingId: string }
  | { readonly type: 'customer_unready' }
  | { readonly type: 'customer_deleted' };

/** All transitions. Any other fact is a bug. */
const customerLifecycle = {
  absent: { customer_created: 'unready' },
  unready: { customer_ready: 'ready', customer_deleted: 'deleted' },
  ready: { active_binding_changed: 'ready', customer_unready: 'unready', customer_deleted: 'deleted' },
  deleted: {},
} as const satisfies Record<
  CustomerStateName | 'absent',
  Partial<Record<CustomerFact['type'], CustomerStateName>>
>;

export type CreateCustomer = Omit<CustomerTerms, 'partyId' | 'createdAt'> & { readonly partyId?: string };

export function newCustomer(created: CustomerFact & { type: 'customer_created' }): Customer {
  return { ...created.terms, state: customerStateAfter(undefined, created), bindingsMade: 0 };
}

export function decideCreate(
  party: Party,
  shop: Shop | undefined,
  command: CreateCustomer,
  now: Instant,
): Outcome<CustomerFact & { type: 'customer_created' }, TradingRefusal | 'invalidPartyID'> {
  if (command.partyId !== undefined && command.partyId !== party.id) return refuse('invalidPartyID');
  const trading = requireTrading(party, shop);
  if (!trading.ok) return trading;
  return accept({
    type: 'customer_created',
    terms: { ...command, partyId: party.id, createdAt: now },
  });
}

export function activeBindingOf({ state }: Pick<Customer, 'state'>): string | undefined {
  return state.name === 'ready' ? state.activeBindingId : undefined;
}

/** The card that was bound last is the active one. */
export function afterBound(customer: Pick<Customer, 'state'>, bindingId: string): CustomerFact {
  return customer.state.name === 'ready'
    ? { type: 'active_binding_changed', bindingId }
    : { type: 'customer_ready', bindingId };
}

/** Changes nothing unless the revoked binding was active. Then the one bound before becomes active, if there is one. */
export function afterWithdrawn(
  customer: Pick<Customer, 'state'>,
  bindingId: string,
  boundBefore: string | undefined,
): CustomerFact[] {
  if (activeBindingOf(customer) !== bindingId) return [];
  if (boundBefore === undefined) return [{ type: 'customer_unready' }];
  return [{ type: 'active_binding_changed', bindingId: boundBefore }];
}

/** Throws for a fact the lifecycle does not allow: that is a bug, in the code or in the data. */
export function customerStateAfter(state: CustomerState | undefined, fact: CustomerFact): CustomerState {
  const from = state?.name ?? 'absent';
  const moves: Partial<Record<CustomerFact['type'], CustomerStateName>> = customerLifecycle[from];
  if (moves[fact.type] === undefined) throw new Error(`a customer that is ${from} cannot have ${fact.type}`);
  switch (fact.type) {
    case 'customer_created':
      return { name: 'unready' };
    case 'customer_ready':
    case 'active_binding_changed':
      return { name: 'ready', activeBindingId: fact.bindingId };
    case 'customer_unready':
      return { name: 'unready' };
    case 'customer_deleted':
      return { name: 'deleted' };
  }
}
