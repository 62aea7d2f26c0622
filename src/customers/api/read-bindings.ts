// Reads bindings: all of a customer, or one.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { findBinding, findBindings } from '../store/bindings.ts';
import { bindingOutcome } from './binding-outcome.ts';
import { bindingBody, BindingPage, BindingPath, BindingSchema } from './binding-schema.ts';
import { CustomerPath, payerMayRead } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

const all = 2_147_483_647;

export const listBindings = endpoint({
  operation: 'listBindings',
  access: payerMayRead,
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/bindings',
  tag: 'Customers',
  summary: 'List the bindings of a customer',
  description:
    'Oldest first, including failed and revoked bindings. Use `limit` and `bindingID` to page through many.',
  params: CustomerPath,
  query: BindingPage,
  status: 200,
  response: Type.Array(BindingSchema),
  errors: ['customerNotFound', 'bindingNotFound'],
  handle: async ({ caller, params, query }, { db }: { db: Database }) => {
    const name = { partyId: caller.partyId, customerId: params.customerID };
    let after = 0;
    if (query.bindingID !== undefined) {
      const last = await findBinding(db, { ...name, bindingId: query.bindingID });
      if (!last) return refuse('customerNotFound');
      if (!last.stored) return refuse('bindingNotFound');
      after = last.stored.binding.number;
    }
    const found = await findBindings(db, name, { after, limit: query.limit ?? all });
    if (!found) return refuse('customerNotFound');
    return accept(found.map(({ binding, customer }) => bindingBody(binding, customer, caller)));
  },
});

export const getBinding = endpoint({
  operation: 'getBinding',
  access: payerMayRead,
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/bindings/{customerBindingID}',
  tag: 'Customers',
  summary: 'Get a binding',
  params: BindingPath,
  status: 200,
  response: BindingSchema,
  outcome: bindingOutcome,
  errors: ['customerNotFound', 'bindingNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const found = await findBinding(db, {
      partyId: caller.partyId,
      customerId: params.customerID,
      bindingId: params.customerBindingID,
    });
    if (!found) return refuse('customerNotFound');
    if (!found.stored) return refuse('bindingNotFound');
    const { binding, customer } = found.stored;
    return accept(bindingBody(binding, customer, caller));
  },
});
