// Reads a customer by ID or external ID, and the payment methods that can be bound to it.
import { Type } from 'typebox';
import { PaymentMethod, paymentMethodsOf } from '../../cards/api/payment-method-schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { externalIDToFind } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { findCustomer, findCustomerByExternalId as findByExternalId } from '../store/customers.ts';
import { customerBody, CustomerPath, CustomerSchema, payerMayRead } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { AcceptedNetworks } from '../../merchants/domain/accepted-networks.ts';
import type { BindingRules } from '../domain/commands.ts';

type BindingDeps = {
  readonly db: Database;
  readonly merchants: Pick<Merchants, 'shop'>;
  readonly networksFor: AcceptedNetworks;
  readonly bindingRules: BindingRules;
};

export const getCustomer = endpoint({
  operation: 'getCustomer',
  access: payerMayRead,
  method: 'GET',
  path: '/v2/processing/customers/{customerID}',
  tag: 'Customers',
  summary: 'Get a customer',
  params: CustomerPath,
  status: 200,
  response: CustomerSchema,
  errors: ['customerNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const stored = await findCustomer(db, caller.partyId, params.customerID);
    return stored ? accept(customerBody(stored.customer)) : refuse('customerNotFound');
  },
});

export const findCustomerByExternalId = endpoint({
  operation: 'findCustomer',
  access: { scope: 'customers:read', maskedAs: 'customerNotFound' },
  method: 'GET',
  path: '/v2/processing/customers',
  tag: 'Customers',
  summary: 'Find a customer by externalID',
  query: Type.Object({ externalID: externalIDToFind('list customers at /v2/analytics/customers') }),
  status: 200,
  response: CustomerSchema,
  errors: ['customerNotFound'],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const found = await findByExternalId(db, caller.partyId, query.externalID);
    if (!found || found.value.state.name === 'deleted') return refuse('customerNotFound');
    return accept(customerBody(found.value));
  },
});

export const listCustomerPaymentMethods = endpoint({
  operation: 'listCustomerPaymentMethods',
  access: payerMayRead,
  method: 'GET',
  path: '/v2/processing/customers/{customerID}/payment-methods',
  tag: 'Customers',
  summary: 'List the payment methods a customer can bind',
  description:
    'Empty if no bank takes cards for the shop, or no verification charge is set for its currency.',
  params: CustomerPath,
  status: 200,
  response: Type.Array(PaymentMethod),
  errors: ['customerNotFound'],
  handle: async ({ caller, params }, { db, merchants, networksFor, bindingRules }: BindingDeps) => {
    const stored = await findCustomer(db, caller.partyId, params.customerID);
    if (!stored) return refuse('customerNotFound');
    const shop = await merchants.shop(caller.partyId, stored.customer.shopId);
    if (!shop || !bindingRules.verificationChargeMinor.has(shop.currency)) return accept([]);
    const use = { flow: { type: 'instant' }, makeRecurrent: true } as const;
    return accept(paymentMethodsOf(await networksFor(shop, use)));
  },
});
