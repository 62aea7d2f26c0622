// What a change of a binding writes of the series its card begins or belongs to, in the transaction of the change.
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Recurring } from '../recurring/port.ts';
import type { Binding, BindingFact } from './domain/binding.ts';
import type { CustomerFact } from './domain/customer.ts';
import { consentAfter, isNetworksDecline } from './domain/series-effects.ts';
import { nameSeries } from './store/binding-changes.ts';
import { isBindingFact } from './store/codec.ts';

/** Undefined when the change concerns no series and no counter. `answer` is what the bank said, where it led to the change. */
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
