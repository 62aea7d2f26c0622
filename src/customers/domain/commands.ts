// Commands on bindings, and when they are refused. The guards have the order of the contract.
import { epochMsOf, laterBy, type Instant } from '../../clock.ts';
import type { Shop } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { Binding, BindingFact, BindingTerms } from './binding.ts';
import { afterWithdrawn, type Customer, type CustomerFact } from './customer.ts';
import { defined } from '../../defined.ts';

/** Set by the operator. */
export type BindingRules = {
  /** The verification charge by currency. In other currencies no card can be bound. */
  readonly verificationChargeMinor: ReadonlyMap<string, bigint>;
  /** Within 24 hours, including failed bindings. Undefined means no limit. */
  readonly maxPerCustomer?: number;
  readonly maxPerCard?: number;
};

/**
 * When the oldest binding that counts towards the limit was created: of this customer, or with this card by any customer.
 * Undefined if there are fewer than the limit.
 */
export type RecentBindings = { readonly ofCustomer?: Instant; readonly withCard?: Instant };

export const velocityWindowMs = 24 * 3_600_000;
const authorisationMs = 30 * 60_000;

export type StartBinding = Pick<
  BindingTerms,
  'id' | 'card' | 'externalId' | 'recurrentTerms' | 'renews' | 'redirectUrl' | 'terminal'
>;

export function decideStart(
  customer: Customer,
  shop: Shop,
  command: StartBinding,
  rules: BindingRules,
  earlier: RecentBindings,
  now: Instant,
): Outcome<BindingFact & { type: 'binding_started' }, 'operationNotPermitted' | 'tooManyBindings'> {
  const minor = rules.verificationChargeMinor.get(shop.currency);
  if (minor === undefined) {
    return refuse('operationNotPermitted', {
      message: `No card can be bound in ${shop.currency}: the operator has set no verification charge for it`,
    });
  }
  const waited = tooSoon(earlier.ofCustomer, now, 'Too many cards were tried for this customer');
  if (waited) return waited;
  const rested = tooSoon(earlier.withCard, now, 'This card was tried too often');
  if (rested) return rested;
  const { email } = customer.contactInfo;
  return accept({
    type: 'binding_started',
    terms: {
      ...command,
      customerId: customer.id,
      number: customer.bindingsMade + 1,
      partyId: customer.partyId,
      shopId: customer.shopId,
      createdAt: now,
      ...defined({ email }),
      deadline: laterBy(now, authorisationMs),
      amount: { minor, currency: shop.currency },
      livemode: shop.livemode,
    },
  });
}

function tooSoon(oldestCounted: Instant | undefined, now: Instant, what: string) {
  if (oldestCounted === undefined) return undefined;
  const waitSeconds = Math.ceil((epochMsOf(oldestCounted) + velocityWindowMs - epochMsOf(now)) / 1_000);
  if (waitSeconds <= 0) return undefined;
  return refuse('tooManyBindings', { message: `${what}. Try again in ${waitSeconds} seconds.`, waitSeconds });
}

/**
 * `boundBefore` is the binding that would be active without this one. Whether party and shop may trade is not checked: a
 * payer can always revoke a card.
 */
export function decideRevoke(
  customer: Pick<Customer, 'state'>,
  binding: Binding,
  boundBefore: string | undefined,
  now: Instant,
): Outcome<readonly (BindingFact | CustomerFact)[], 'invalidBindingStatus'> {
  const { state, id } = binding;
  if (state.name === 'withdrawn') return accept([]);
  if (state.name !== 'succeeded') return refuse('invalidBindingStatus');
  return accept([{ type: 'binding_withdrawn', at: now }, ...afterWithdrawn(customer, id, boundBefore)]);
}

/** For a refund the bank does not confirm, once an operator has made sure that the payer has the money back. */
export function decideClose(binding: Binding, reason: string): Outcome<BindingFact, 'invalidBindingStatus'> {
  const { state } = binding;
  switch (state.name) {
    case 'reversing':
      return accept({ type: 'binding_failed', failure: state.failure, reason });
    case 'returning':
    case 'refunding':
      return accept({ type: 'binding_failed', failure: closedByOperator, reason });
    default:
      return refuse('invalidBindingStatus');
  }
}

const closedByOperator = ['return_unconfirmed'] as const;
