// Lists the series of a party: what payers have agreed to be charged for again.
import { Type, type Static } from 'typebox';
import type { Instant } from '../../../clock.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { DateTime, EntityID, SeriesID } from '../../../platform/http/schemas.ts';
import { seriesBody, seriesMembers } from '../../../recurring/api/schema.ts';
import type { Series } from '../../../recurring/domain/series.ts';
import { searchSeries as search } from '../../lists/searches.store.ts';
import { searchPage } from '../search-schema.ts';
import { isOwnParty } from '../shop-filter.ts';
import { listed, listErrors, ListQuery, type ListDeps } from './list-schema.ts';

export const SeriesSearch = Type.Object({
  ...ListQuery,
  seriesID: Type.Optional(SeriesID),
  invoiceID: Type.Optional({ ...EntityID, description: 'That of the root payment.' }),
  paymentID: Type.Optional({ ...EntityID, description: 'The root payment.' }),
  customerID: Type.Optional({ ...EntityID, description: 'That of the root binding.' }),
  customerBindingID: Type.Optional({ ...EntityID, description: 'The root binding.' }),
  seriesStatus: Type.Optional(Type.Enum(['active', 'stopped', 'withdrawn'])),
  chargeable: Type.Optional(
    Type.Enum(['true', 'false'], {
      description: 'Whether it is active, and neither its lifetime nor its card has ended.',
    }),
  ),
});

const SeriesSearchResult = Type.Object(
  {
    shopID: EntityID,
    createdAt: DateTime,
    chargeable: Type.Boolean({
      description:
        'Whether it is active, and neither its lifetime nor its card has ended. A charge may have to wait.',
    }),
    ...seriesMembers,
  },
  { title: 'SeriesSearchResult' },
);

/** A series has one root: a payment or a binding. */
function rootAsked({
  invoiceID,
  paymentID,
  customerID,
  customerBindingID,
}: Pick<Static<typeof SeriesSearch>, 'invoiceID' | 'paymentID' | 'customerID' | 'customerBindingID'>) {
  const isPayment = (invoiceID ?? paymentID) !== undefined;
  const isBinding = (customerID ?? customerBindingID) !== undefined;
  const kind = isPayment ? 'parent' : 'customer';
  return {
    root_kind: isPayment && isBinding ? 'none' : isPayment || isBinding ? kind : null,
    root_of: invoiceID ?? customerID ?? null,
    root_id: paymentID ?? customerBindingID ?? null,
  };
}

export function seriesAsked(query: Static<typeof SeriesSearch>, now: Instant) {
  return {
    ...rootAsked(query),
    series_id: query.seriesID ?? null,
    statuses: query.seriesStatus ?? null,
    is_chargeable: query.chargeable === undefined ? null : query.chargeable === 'true',
    now,
  };
}

/** As the rows of the list have it. */
export function isChargeable({ state, endsAt, card }: Series, now: Instant): boolean {
  return state.name === 'active' && now < card.endsAt && (endsAt === undefined || now < endsAt);
}

export const searchSeries = endpoint({
  operation: 'searchSeries',
  access: { scope: 'payments:read', alsoScope: 'customers:read' },
  method: 'GET',
  path: '/v2/analytics/series',
  tag: 'Recurring',
  summary: 'List series, newest first',
  description: 'Each began with a parent payment, or with a card that a customer has saved.',
  query: SeriesSearch,
  status: 200,
  response: searchPage('SeriesPage', SeriesSearchResult, {}),
  errors: listErrors,
  isOwnParty,
  handle: ({ caller, query, now }, deps: ListDeps) =>
    listed(
      deps,
      {
        operation: 'searchSeries',
        caller,
        query,
        now,
        exact: ['seriesID', 'invoiceID', 'customerID'],
      },
      (place, [before_series = '']) =>
        search(deps.db, { ...place, before_series, ...seriesAsked(query, now) }),
      {
        last: ({ stored: { series }, startedAt }) => ({ createdAt: startedAt, ids: [series.id] }),
        body: ({ stored: { series, settings }, startedAt }) => ({
          shopID: series.shopId,
          createdAt: startedAt,
          chargeable: isChargeable(series, now),
          ...seriesBody(series, settings),
        }),
      },
    ),
});
