// The page a payer's browser returns to after a challenge for a binding.
import type { FastifyInstance } from 'fastify';
import { returnAddressOf } from '../merchants/domain/return-address.ts';
import { addPayerReturn } from '../platform/http/pages/payer-return.ts';
import { readUntil } from '../platform/jobs/wait-for.ts';
import { handOnReturn, payerWaitsMs, type PayerReturnDeps } from '../acquiring/hand-on-return.ts';
import { bindingOperationId, bindingStatus, type Binding } from './domain/binding.ts';
import { storeBindingFacts } from './store/binding-changes.ts';
import { loadBinding } from './store/bindings.ts';

const returnPath = '/payer/return/customers';

/** Needs no token: the IDs cannot be guessed, and the page only says "done". */
export function bindingReturnUrlOf(publicUrl: string, binding: Binding): string {
  return `${publicUrl}${returnPath}/${binding.customerId}/${binding.id}`;
}

export function addBindingReturn(
  app: FastifyInstance,
  { db, clock, jobs, banks, pause, sendOn }: PayerReturnDeps,
): void {
  addPayerReturn(
    app,
    returnPath,
    async (customerId, bindingId, returned) => {
      const read = () => loadBinding(db, { customerId, bindingId });
      const stored = await read();
      const binding = stored?.binding;
      if (stored && binding?.state.name === 'challenged') {
        const operationId = bindingOperationId(binding, 'charge');
        await handOnReturn(banks, { operationId, terminal: binding.terminal }, returned);
        if (!binding.state.isCompleted)
          await storeBindingFacts(db, stored, [{ type: 'binding_interaction_completed' }], clock.now());
        await jobs.expedite('binding', [customerId, bindingId]);
        // A shop that still sees the binding waiting for its payer would return them to the bank.
        const hasMovedOn = (now: typeof stored | undefined) =>
          now === undefined || bindingStatus[now.binding.state.name] !== 'pending';
        await readUntil(read, hasMovedOn, { forMs: payerWaitsMs, pause });
      }
      const address = returnAddressOf(binding?.redirectUrl);
      return binding && address !== undefined ? { address, shop: binding } : undefined;
    },
    sendOn,
  );
}
