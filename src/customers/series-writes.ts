// What a change of a binding writes about the series of its card, in the same transaction.
import type { BankResponse } from '../acquiring/domain/bank-port.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Charging, Consents } from '../recurring/port.ts';
import type { Binding, BindingFact } from './domain/binding.ts';
import type { CustomerFact } from './domain/customer.ts';
import { consentAfter, networksDecline } from './domain/series-effects.ts';
import { nameSeries } from './store/binding-changes.ts';
import { isBindingFact } from './store/codec.ts';

export type SeriesWriteDeps = {
  readonly charging: Pick<Charging, 'recordDecline'>;
  readonly consents: Pick<Consents, 'startForBinding' | 'renew' | 'settings'>;
};

/** Thrown to roll back: the consent to renew was revoked, stopped or renewed in the meantime. */
export class ConsentRevoked extends Error {}

/** Undefined if there is nothing to write. `answer` is the bank response that led to the change, if one did. */
export function seriesWriteOf(
  before: Binding,
  facts: readonly (BindingFact | CustomerFact)[],
  answer: BankResponse | undefined,
  now: Instant,
  { charging, consents }: SeriesWriteDeps,
): ((tx: Database) => Promise<void>) | undefined {
  const { customerId, id: bindingId, partyId, shopId, livemode, card, amount } = before;
  if (facts.some(({ type }) => type === 'binding_succeeded')) {
    const consent = consentAfter(before, facts.filter(isBindingFact));
    if (!consent) return undefined;
    return async (tx) => {
      const seriesId = await consentTo(tx, before, consent, now, consents);
      await nameSeries(tx, { customerId, bindingId }, seriesId);
    };
  }
  const declined = networksDecline(before, answer);
  if (!declined) return undefined;
  const decline = { customerId, bindingId, partyId, shopId, livemode, amount };
  return (tx) => charging.recordDecline(tx, { ...decline, token: card.token }, declined, now);
}

async function consentTo(
  tx: Database,
  { renews }: Binding,
  consent: Parameters<Consents['startForBinding']>[1],
  now: Instant,
  consents: SeriesWriteDeps['consents'],
): Promise<string> {
  if (!renews) return consents.startForBinding(tx, consent, now);
  if (!(await consents.renew(tx, renews.seriesId, consent, now))) throw new ConsentRevoked();
  return renews.seriesId;
}
