// What a change of a binding writes about the series of its card, in the same transaction.
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Recurring } from '../recurring/port.ts';
import type { Binding, BindingFact } from './domain/binding.ts';
import type { CustomerFact } from './domain/customer.ts';
import { consentAfter, isNetworksDecline } from './domain/series-effects.ts';
import { nameSeries } from './store/binding-changes.ts';
import { isBindingFact } from './store/codec.ts';

/** Undefined if there is nothing to write. `answer` is the bank response that led to the change, if one did. */
export function seriesWriteOf(
  before: Binding,
  facts: readonly (BindingFact | CustomerFact)[],
  answer: BankResponse | undefined,
  now: Instant,
  recurring: Pick<Recurring, 'startForBinding' | 'recordDecline'>,
): ((tx: Database) => Promise<void>) | undefined {
  const { customerId, id: bindingId, partyId, shopId, livemode, card, amount } = before;
  if (facts.some(({ type }) => type === 'binding_succeeded')) {
    const consent = consentAfter(before, facts.filter(isBindingFact));
    if (!consent) return undefined;
    return async (tx) => {
      const seriesId = await recurring.startForBinding(tx, consent, now);
      await nameSeries(tx, { customerId, bindingId }, seriesId);
    };
  }
  if (!isNetworksDecline(before, answer)) return undefined;
  const decline = { customerId, bindingId, partyId, shopId, livemode, amount };
  return (tx) => recurring.recordDecline(tx, { ...decline, token: card.token }, now);
}
