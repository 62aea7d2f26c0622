// What the facts of a binding mean for the books. Written by the statement that writes the facts, so that neither is ever
// without the other.
import type { Journal } from '../../platform/ledger/domain/ledger.ts';
import { bindingCharged, bindingReturned } from '../../platform/ledger/domain/postings.ts';
import type { Binding, BindingFact } from './binding.ts';
import type { CustomerFact } from './customer.ts';

/** Of the facts that follow on `before`, all written at once; undefined when they move no money. */
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
    // What was never proved to be charged is not in the books.
    if (type === 'binding_failed' && isCharged) return bindingReturned(binding);
  }
  return undefined;
}
