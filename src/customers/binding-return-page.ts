// Where the payer's browser returns after a 3-D Secure challenge of a binding.
import type { FastifyInstance } from 'fastify';
import { addReturnPage, type PayerReturnDeps } from '../acquiring/authorisation/return-page.ts';
import { returnAddressOf } from '../merchants/domain/return-address.ts';
import { bindingOperationId, bindingStatus, type Binding } from './domain/binding.ts';
import { storeBindingFacts } from './store/binding-changes.ts';
import { loadBinding, type StoredBinding } from './store/bindings.ts';

const path = '/payer/return/customers';

export function bindingReturnUrlOf(publicUrl: string, binding: Binding): string {
  return `${publicUrl}${path}/${binding.customerId}/${binding.id}`;
}

export function addBindingReturn(app: FastifyInstance, deps: PayerReturnDeps): void {
  const { db } = deps;
  addReturnPage<StoredBinding>(app, deps, {
    path,
    table: 'binding',
    load: (customerId, bindingId) => loadBinding(db, { customerId, bindingId }),
    chargeOf: ({ binding }) => ({ ...binding, operationId: bindingOperationId(binding, 'charge') }),
    complete: (stored, now) =>
      storeBindingFacts(db, stored, [{ type: 'binding_interaction_completed' }], now),
    isWaiting: ({ binding }) => bindingStatus[binding.state.name] === 'pending',
    onwardOf({ binding }) {
      const address = returnAddressOf(binding.redirectUrl);
      return address === undefined ? undefined : { address, shop: binding };
    },
  });
}
