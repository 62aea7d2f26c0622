// Searches the refunds of a shop.
import { Type, type Static } from 'typebox';
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
} from './search-schema.ts';

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

export const searchRefunds = endpoint({
  operation: 'searchRefunds',
  access: { scope: 'payments:read' },
  method: 'GET',
  path: '/v2/analytics/shops/{shopID}/refunds',
  tag: 'Refunds',
  summary: 'Search refunds, newest first',
  params: ShopPath,
  query: RefundSearch,
  status: 200,
  response: searchPage('RefundPage', RefundSearchResult, {
    totalCount: Type.Integer({ description: 'In all pages. 10000 stands for any larger number.' }),
  }),
  errors: searchErrors,
  handle: ({ caller, params, query, now }, deps: SearchDeps) => {
    const { partyId } = caller;
    return searched(
      deps,
      { operation: 'searchRefunds', partyId, shopId: params.shopID, now, query, keys: refundSearchKeys },
      ({ key, created_from, until, before_at, before: [invoice = '', payment = '', refund = ''] }) =>
        search(deps.db, key, {
          filters: {
            party_id: partyId,
            shop_id: params.shopID,
            created_from,
            ...refundsAsked(query),
          },
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
  },
});
