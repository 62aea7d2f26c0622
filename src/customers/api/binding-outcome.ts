// The outcome of a binding that a caller can wait for.
import type { Database } from '../../platform/database/database.ts';
import type { AwaitedOutcome } from '../../platform/http/waiting/outcome-waits.ts';
import { bindingStatus } from '../domain/binding.ts';
import { loadBinding } from '../store/bindings.ts';
import { bindingBody, type BindingBody } from './binding-schema.ts';

export const bindingOutcome: AwaitedOutcome<
  { readonly customerID: string },
  BindingBody,
  { readonly db: Database }
> = {
  job: ({ id }, { customerID }) => ['binding', [customerID, id]],
  look: async ({ db }, { answer, params, caller }) => {
    const found = await loadBinding(db, { customerId: params.customerID, bindingId: answer.id });
    if (!found) return undefined;
    const { binding, customer } = found;
    const isPending = bindingStatus[binding.state.name] === 'pending';
    const asks = binding.state.name === 'challenged' ? 'payerAsked' : 'pending';
    return { body: bindingBody(binding, customer, caller), is: isPending ? asks : 'known' };
  },
};
