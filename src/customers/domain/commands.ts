// What a merchant or a payer may ask of bindings, and when the answer is no. Pure: guards in the order of the contract.
import { epochMsOf, laterBy, type Instant } from '../../clock.ts';
import type { Shop } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { Binding, BindingFact, BindingTerms } from './binding.ts';
import { afterWithdrawn, type Customer, type CustomerFact } from './customer.ts';
import { defined } from '../../defined.ts';

/** What the operator has set. */
export type BindingRules = {
  /** What is charged and given back to try a card, by currency. In others no card is bound. */
  readonly verificationChargeMinor: ReadonlyMap<string, bigint>;
  /** Within a day, failed ones with the others; none where it is not limited. */
  readonly maxPerCustomer?: number;
  readonly maxPerCard?: number;
};

/**
 * When the latest bindings were started which, with one more, would be too many: of the customer, and with the card by
 * whatever customer. Undefined where there are not that many.
 */
export type RecentBindings = { readonly ofCustomer?: Instant; readonly withCard?: Instant };

export const velocityWindowMs = 24 * 3_600_000;
const authorisationMs = 30 * 60_000;

export type StartBinding = Pick<
  BindingTerms,
  'id' | 'card' | 'externalId' | 'recurrentTerms' | 'redirectUrl' | 'terminal'
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
      message: `No card is bound in ${shop.currency}: no test charge is agreed for it`,
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
  return refuse('tooManyBindings', { message: `${what}; try again in ${waitSeconds} seconds`, waitSeconds });
}

/**
 * `boundBefore` is the one that would be charged without this one. Withdrawing a second time changes nothing. It is asked of
 * no party and no shop whether they may trade: who takes his card back is not refused.
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

/** Only for a test charge whose return the bank does not confirm, when somebody has made sure the payer has his money. */
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
