// Lists the customers of a party.
import { Type, type Static } from 'typebox';
import { customerBody, CustomerSchema } from '../../../customers/api/schema.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { DateTime } from '../../../platform/http/schemas.ts';
import { searchCustomers as search } from '../../lists/searches.store.ts';
import { PaymentQuery, searchPage } from '../search-schema.ts';
import { isOwnParty } from '../shop-filter.ts';
import { ExternalIDQuery, id, listed, listErrors, ListQuery, type ListDeps } from './list-schema.ts';

export const CustomerSearch = Type.Object({
  ...ListQuery,
  ...ExternalIDQuery,
  customerID: id,
  payerEmail: PaymentQuery.payerEmail,
  customerStatus: Type.Optional(Type.Enum(['unready', 'ready'])),
});

const CustomerSearchResult = Type.Object(
  { ...CustomerSchema.properties, createdAt: DateTime },
  { title: 'CustomerSearchResult' },
);

export function customersAsked(query: Static<typeof CustomerSearch>) {
  return {
    customer_id: query.customerID ?? null,
    external_id: query.externalID ?? null,
    email: query.payerEmail?.toLowerCase() ?? null,
    statuses: query.customerStatus ?? null,
  };
}

export const searchCustomers = endpoint({
  operation: 'searchCustomers',
  access: { scope: 'customers:read' },
  method: 'GET',
  path: '/v2/analytics/customers',
  tag: 'Customers',
  summary: 'List customers, newest first',
  description: 'Without those that were deleted.',
  query: CustomerSearch,
  status: 200,
  response: searchPage('CustomerPage', CustomerSearchResult, {}),
  errors: listErrors,
  isOwnParty,
  handle: ({ caller, query, now }, deps: ListDeps) =>
    listed(
      deps,
      {
        operation: 'searchCustomers',
        caller,
        query,
        now,
        exact: ['customerID', 'externalID', 'payerEmail'],
      },
      (place, [before_customer = '']) =>
        search(deps.db, { ...place, before_customer, ...customersAsked(query) }),
      {
        last: ({ createdAt, id: last }) => ({ createdAt, ids: [last] }),
        body: (customer) =>
          customer.state.name === 'deleted'
            ? []
            : { ...customerBody(customer), createdAt: customer.createdAt },
      },
    ),
});
