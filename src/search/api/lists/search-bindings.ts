// Lists the bindings of a party: the cards that customers have saved, and those that they could not save.
import { Type, type Static } from 'typebox';
import { bindingBody, BindingSchema } from '../../../customers/api/binding-schema.ts';
import { bindingStatus, type BindingStateName } from '../../../customers/domain/binding.ts';
import { defined } from '../../../defined.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { DateTime, EntityID } from '../../../platform/http/schemas.ts';
import { searchBindings as search } from '../../lists/searches.store.ts';
import { PaymentQuery, searchPage } from '../search-schema.ts';
import { isOwnParty } from '../shop-filter.ts';
import { ExternalIDQuery, id, listed, listErrors, ListQuery, type ListDeps } from './list-schema.ts';

const { first6, last4 } = PaymentQuery;

export const BindingSearch = Type.Object({
  ...ListQuery,
  ...ExternalIDQuery,
  customerID: id,
  bindingStatus: Type.Optional(
    Type.Enum(['pending', 'succeeded', 'withdrawn', 'failed'], {
      description: '`withdrawn`: succeeded, and revoked since.',
    }),
  ),
  first6,
  last4,
  bindingError: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Why it failed: `error.code`, or with `error.message` after a colon.',
    }),
  ),
});

const BindingSearchResult = Type.Object(
  {
    customerID: EntityID,
    shopID: EntityID,
    createdAt: DateTime,
    seriesID: Type.Optional({ ...EntityID, description: 'By which the card is charged.' }),
    ...BindingSchema.properties,
  },
  { title: 'BindingSearchResult' },
);

const states = Object.keys(bindingStatus) as BindingStateName[];

type Status = NonNullable<Static<typeof BindingSearch>['bindingStatus']>;

/** Separated by commas. */
export function bindingStates(status: Status): string {
  return states.filter((state) => state === status || bindingStatus[state] === status).join(',');
}

export function bindingsAsked(query: Static<typeof BindingSearch>) {
  return {
    customer_id: query.customerID ?? null,
    external_id: query.externalID ?? null,
    first6: query.first6 ?? null,
    last4: query.last4 || null,
    failure: query.bindingError ?? null,
    statuses: query.bindingStatus === undefined ? null : bindingStates(query.bindingStatus),
  };
}

export const searchBindings = endpoint({
  operation: 'searchBindings',
  access: { scope: 'customers:read' },
  method: 'GET',
  path: '/v2/analytics/bindings',
  tag: 'Customers',
  summary: 'List bindings, newest first',
  description: 'Of all customers but those that were deleted.',
  query: BindingSearch,
  status: 200,
  response: searchPage('BindingPage', BindingSearchResult, {}),
  errors: listErrors,
  isOwnParty,
  handle: ({ caller, query, now }, deps: ListDeps) =>
    listed(
      deps,
      { operation: 'searchBindings', caller, query, now, exact: ['customerID', 'externalID'] },
      (place, [before_customer = '', before_binding = '']) =>
        search(deps.db, { ...place, before_customer, before_binding, ...bindingsAsked(query) }),
      {
        last: ({ binding: { createdAt, customerId, id: last } }) => ({ createdAt, ids: [customerId, last] }),
        body: ({ binding, customer, seriesId: seriesID }) =>
          customer.state.name === 'deleted'
            ? []
            : {
                customerID: binding.customerId,
                shopID: binding.shopId,
                createdAt: binding.createdAt,
                ...defined({ seriesID }),
                ...bindingBody(binding, customer, caller),
              },
      },
    ),
});
