// Searches the refunds of a shop.
import { Type, type Static } from 'typebox';
import type { Caller } from '../../caller.ts';
import type { Instant } from '../../clock.ts';
import { namedRefundBody, RefundSearchResult, RefundStatusSchema } from '../../payments/api/refund-schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { EntityID } from '../../platform/http/schemas.ts';
import { refundSearchKeys, searchRefunds as search } from '../searches.store.ts';
import {
  PageQuery,
  PaymentQuery,
  searched,
  searchErrors,
  searchPage,
  ShopPath,
  type SearchDeps,
  type ShopsSearched,
} from './search-schema.ts';
import { isOwnParty, ShopsQuery } from './shop-filter.ts';

export const RefundSearch = Type.Object({
  ...PageQuery,
  paymentID: PaymentQuery.paymentID,
  rrn: PaymentQuery.rrn,
  approvalCode: Type.Optional({ ...EntityID, description: 'That of the payment.' }),
  refundID: Type.Optional(EntityID),
  refundStatus: Type.Optional(RefundStatusSchema),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10_000, description: 'Better: `continuationToken`.' }),
  ),
});

export function refundsAsked(query: Static<typeof RefundSearch>) {
  return {
    invoice_id: query.invoiceID ?? null,
    external_id: query.externalID ?? null,
    payment_id: query.paymentID ?? null,
    refund_id: query.refundID ?? null,
    status: query.refundStatus ?? null,
    rrn: query.rrn ?? null,
    approval_code: query.approvalCode ?? null,
  };
}

const RefundSearchOfShops = Type.Object({ ...RefundSearch.properties, ...ShopsQuery });
const declared = {
  access: { scope: 'payments:read' },
  method: 'GET',
  tag: 'Refunds',
  status: 200,
  response: searchPage('RefundPage', RefundSearchResult, {
    totalCount: Type.Integer({ description: 'In all pages. 10000 stands for any larger number.' }),
  }),
  errors: searchErrors,
} as const;

export const searchRefunds = endpoint({
  ...declared,
  operation: 'searchRefunds',
  path: '/v2/analytics/shops/{shopID}/refunds',
  summary: 'Search refunds, newest first',
  params: ShopPath,
  query: RefundSearch,
  handle: (request, deps: SearchDeps) =>
    found(deps, request, { operation: 'searchRefunds', shops: { shopId: request.params.shopID } }),
});

export const searchRefundsOfShops = endpoint({
  ...declared,
  operation: 'searchRefundsOfShops',
  path: '/v2/analytics/refunds',
  summary: 'Search refunds of several shops, newest first',
  query: RefundSearchOfShops,
  isOwnParty,
  handle: (request, deps: SearchDeps) =>
    found(deps, request, { operation: 'searchRefundsOfShops', shops: { query: request.query } }),
});

function found(
  deps: SearchDeps,
  {
    caller: { partyId },
    query,
    now,
  }: { readonly caller: Caller; readonly query: Static<typeof RefundSearch>; readonly now: Instant },
  of: { readonly operation: string; readonly shops: ShopsSearched },
) {
  return searched(
    deps,
    { ...of, partyId, now, query, keys: refundSearchKeys },
    ({ key, shop_ids, created_from, until, before_at, before: [invoice = '', payment = '', refund = ''] }) =>
      search(deps.db, key, {
        filters: { party_id: partyId, shop_ids, created_from, ...refundsAsked(query) },
        page: {
          before_at,
          before_invoice: invoice,
          before_payment: payment,
          before_refund: refund,
          limit: query.limit + 1,
          // A token is already past what was left out.
          skip: query.continuationToken === undefined ? (query.offset ?? 0) : 0,
        },
        until,
      }),
    {
      last: ({ createdAt, invoiceId, paymentId, id }) => ({ createdAt, ids: [invoiceId, paymentId, id] }),
      body: namedRefundBody,
    },
  );
}
