// DELETE …/bindings/{customerBindingID}: the payer, or the merchant for him, takes a card back. The one bound before it is
// charged from now on; without one the customer is unready. What was charged already stays as it is. With the last binding of a
// card ends the consent to charge it.
import { latest } from '../../clock.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { decideRevoke } from '../domain/commands.ts';
import { findBinding } from '../store/bindings.ts';
import { BindingPath } from './binding-schema.ts';
import { revokeConsentOf } from '../card-consents.ts';
import { storeBindingFacts } from '../store/binding-changes.ts';
import { retryOnConflict, type Database } from '../../platform/database/database.ts';
import type { Cards } from '../../cards/vault.ts';
import type { Recurring } from '../../recurring/port.ts';

export const withdrawBinding = endpoint({
  operation: 'withdrawBinding',
  access: { scope: 'customers:write', tokens: ['customer'], entity: 'customerID' },
  method: 'DELETE',
  path: '/v2/processing/customers/{customerID}/bindings/{customerBindingID}',
  tag: 'Customers',
  summary: 'Withdraw a card',
  description:
    'The card is not charged any more. It stays in the list, as `succeeded` with `withdrawnAt`. Of those that are left the ' +
    'one bound last is charged; when none is left the customer is `unready`. A second time it changes nothing.',
  params: BindingPath,
  status: 204,
  errors: ['customerNotFound', 'bindingNotFound', 'invalidBindingStatus'],
  handle: async (
    { caller, params, now },
    { db, cards, recurring }: { db: Database; cards: Cards; recurring: Recurring },
  ) => {
    const how = { by: caller.kind === 'apiKey' ? 'merchant' : 'payer' } as const;
    const { customerID: customerId, customerBindingID: bindingId } = params;
    return retryOnConflict(`customer ${customerId}`, async () => {
      const found = await findBinding(db, { partyId: caller.partyId, customerId, bindingId });
      if (!found) return refuse('customerNotFound');
      const { stored, changedAt, boundBefore } = found;
      if (!stored) return refuse('bindingNotFound');
      const at = latest(now, changedAt);
      const decision = decideRevoke(stored.customer, stored.binding, boundBefore, at);
      if (!decision.ok) return decision;
      if (decision.value.length === 0) return accept(undefined);
      const isDone = await db.transaction(async (tx) => {
        if (!(await storeBindingFacts(tx, stored, decision.value, now))) return false;
        await revokeConsentOf(tx, recurring, stored, how, now);
        // Its card should not wait for its turn to be deleted.
        await cards.expedite(tx, stored.binding.card.token, now);
        return true;
      });
      return isDone ? accept(undefined) : 'versionConflict';
    });
  },
});
