// The ledger transfers of a binding's facts. One statement writes both, so that neither exists without the other.
import type { Money } from '../../money.ts';
import { acquirerUncleared, bindingClearing } from '../../platform/ledger/domain/account.ts';
import type { Entry, Journal } from '../../platform/ledger/domain/ledger.ts';
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

export type LedgerBinding = {
  readonly livemode: boolean;
  readonly customerId: string;
  readonly bindingId: string;
  readonly acquirerId: string;
};

/** The verification charge and its refund, which is pending until the bank has confirmed it. */
export function bindingCharged(binding: LedgerBinding, { minor, currency }: Money): Journal {
  const uncleared = acquirerUncleared({ ...binding, currency });
  const clearing = bindingClearing({ ...binding, currency });
  return ofBinding(binding, [
    { phase: 'single', step: 'charge', debit: uncleared, credit: clearing, minor },
    { phase: 'pending', step: 'return', debit: clearing, credit: uncleared, minor },
  ]);
}

export function bindingReturned(binding: LedgerBinding): Journal {
  return ofBinding(binding, [{ phase: 'post', step: 'return' }]);
}

function ofBinding({ customerId, bindingId }: LedgerBinding, entries: Entry[]): Journal {
  return { aggregateId: customerId, operationId: `binding/${bindingId}`, entries };
}
