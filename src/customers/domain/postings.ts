// The ledger journal for the facts of a binding. One statement writes both, so that neither exists without the other.
import type { Journal } from '../../platform/ledger/domain/ledger.ts';
import { bindingCharged, bindingReturned } from '../../platform/ledger/domain/postings.ts';
import type { Binding, BindingFact } from './binding.ts';
import type { CustomerFact } from './customer.ts';

/** For facts that are written together. Undefined if they move no money. */
export function journalOf(
  before: Binding,
  facts: readonly (BindingFact | CustomerFact)[],
): Journal | undefined {
  const binding = {
    livemode: before.livemode,
    customerId: before.customerId,
    bindingId: before.id,
    acquirerId: before.terminal.bankId,
  };
  const isCharged = before.state.name === 'returning' || before.state.name === 'refunding';
  for (const { type } of facts) {
    if (type === 'binding_charged') return bindingCharged(binding, before.amount);
    if (type === 'binding_succeeded') return bindingReturned(binding);
    // A charge that was never proved is not in the ledger.
    if (type === 'binding_failed' && isCharged) return bindingReturned(binding);
  }
  return undefined;
}
