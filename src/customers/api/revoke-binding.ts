// DELETE …/bindings/{customerBindingID} revokes a binding, for the payer or the merchant. The card bound before it becomes
// active; revoking the last binding of a card also revokes the consent to charge it.
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
import type { Consents } from '../../recurring/port.ts';

export const withdrawBinding = endpoint({
  operation: 'withdrawBinding',
  access: { scope: 'customers:write', tokens: ['customer'], entity: 'customerID' },
  method: 'DELETE',
  path: '/v2/processing/customers/{customerID}/bindings/{customerBindingID}',
  tag: 'Customers',
  summary: 'Revoke a binding',
  description:
    'It stays in the list as `succeeded`, with `withdrawnAt`. The remaining card that was bound last becomes active. If ' +
    'none is left, the customer is `unready`.',
  params: BindingPath,
  status: 204,
  errors: ['customerNotFound', 'bindingNotFound', 'invalidBindingStatus'],
  handle: async (
    { caller, params, now },
    { db, cards, consents }: { db: Database; cards: Cards; consents: Consents },
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
        await revokeConsentOf(tx, consents, stored, how, now);
        // Check now whether the vault can delete the card, instead of at its next turn.
        await cards.expedite(tx, stored.binding.card.token, now);
        return true;
      });
      return isDone ? accept(undefined) : 'versionConflict';
    });
  },
});
