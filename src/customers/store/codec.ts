// Customers and bindings as JSON: their facts in the log, and the terms and states in the rows of bindings.
import { contactInfo, mandateGiven } from '../../recurring/store/codec.ts';
import {
  approval,
  bankWords,
  challengeMembers,
  failure,
  interaction,
  terminal,
} from '../../acquiring/store/codec.ts';
import { cardDetails, clientInfo } from '../../cards/store/codec.ts';
import {
  anyObject,
  instant,
  livemode,
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
import type { BindingFact, BindingState, BindingTerms, Renewal } from '../domain/binding.ts';
import type { CustomerFact, CustomerTerms } from '../domain/customer.ts';

/** In the customer's log, a fact of a binding names the binding. */
export type BindingLogFact = BindingFact & { readonly bindingId: string };
export type CustomerLogFact = CustomerFact | BindingLogFact;
/** What names a binding. */
export type FactOfBinding = Extract<CustomerLogFact, { readonly bindingId: string }>;

/** Decided by the type, because facts of the customer may also name a binding. */
export function isBindingFact<Fact extends { readonly type: string }>(
  fact: Fact,
): fact is Extract<Fact, { readonly type: `binding_${string}` }> {
  return fact.type.startsWith('binding_');
}

const customerTerms: Codec<CustomerTerms> = object({
  id: text,
  partyId: text,
  shopId: text,
  createdAt: instant,
  contactInfo,
  metadata: anyObject,
  externalId: optional(text),
});

/** The terms that have no column of their own. */
export type RowTerms = Pick<
  BindingTerms,
  | 'card'
  | 'email'
  | 'recurrentTerms'
  | 'renews'
  | 'imported'
  | 'redirectUrl'
  | 'deadline'
  | 'terminal'
  | 'livemode'
>;
const termsMembers = {
  card: object<BindingTerms['card']>({ token: text, session: text, details: cardDetails, clientInfo }),
  email: optional(text),
  recurrentTerms: optional(mandateGiven),
  renews: optional(object<Renewal>({ seriesId: text, linkId: text })),
  imported: optional(oneOf(true)),
  redirectUrl: optional(text),
  deadline: instant,
  terminal,
  livemode: storedAs('realm', livemode),
};
export const rowTerms: Codec<RowTerms> = object(termsMembers);

const bindingTerms: Codec<BindingTerms> = object({
  customerId: text,
  id: text,
  number: wholeNumber,
  partyId: text,
  shopId: text,
  createdAt: instant,
  amount: money,
  externalId: optional(text),
  ...termsMembers,
});

/** The members of a state that have no column. */
export type RowState = WithoutDate<BindingState>;
type WithoutDate<State> = State extends unknown ? Omit<State, 'returnBy'> : never;
export const rowState: Codec<RowState> = variants<RowState, 'name'>('name', {
  authorising: {},
  challenged: challengeMembers,
  reversing: { failure },
  returning: { approval },
  refunding: { approval },
  succeeded: { approval },
  withdrawn: { approval, at: instant },
  failed: { failure, bank: optional(bankWords) },
});

const about = { bindingId: text };

export const customerLogFact = variants<CustomerLogFact, 'type'>('type', {
  customer_created: { terms: customerTerms },
  customer_ready: about,
  active_binding_changed: about,
  customer_unready: {},
  customer_deleted: {},
  binding_started: { ...about, terms: bindingTerms },
  binding_rerouted: { ...about, terminal, why: text },
  binding_interaction_requested: { ...about, interaction, until: instant },
  binding_interaction_completed: about,
  binding_reversal_started: { ...about, failure, returnBy: instant },
  binding_charged: { ...about, approval, returnBy: instant },
  binding_refund_started: { ...about, why: text },
  binding_succeeded: about,
  binding_failed: { ...about, failure, bank: optional(bankWords), reason: optional(text) },
  binding_withdrawn: { ...about, at: instant },
});
