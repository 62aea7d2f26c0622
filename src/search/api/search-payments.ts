// Searches the payments of a shop.
import { Type, type Static } from 'typebox';
import { PaymentSchema, paymentBody } from '../../payments/api/schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { searchPayments as search, searchKeys, type SearchKey } from '../searches.store.ts';
import {
  AmountBound,
  conditionsOf,
  isBetweenAmounts,
  minorOf,
  PageQuery,
  PaymentQuery,
  searched,
  searchErrors,
  searchPage,
  ShopPath,
  type AmountsAsked,
  type SearchDeps,
} from './search-schema.ts';

export const PaymentSearch = Type.Object({
  ...PageQuery,
  ...PaymentQuery,
  paymentAmountFrom: AmountBound,
  paymentAmountTo: AmountBound,
});

export function paymentsAsked(query: Static<typeof PaymentSearch>) {
  const { ofPlace, ofPayment } = conditionsOf(query);
  const amount_from = minorOf(query.paymentAmountFrom);
  return { ...ofPlace, ...ofPayment, amount_from, amount_to: minorOf(query.paymentAmountTo) };
}

/** Without a key, payments between amounts are found by the amounts. */
export function keyOfPayments(key: SearchKey, asked: AmountsAsked): SearchKey {
  return key === 'time' && isBetweenAmounts(asked) ? 'amounts' : key;
}

export const searchPayments = endpoint({
  operation: 'searchPayments',
  access: { scope: 'payments:read' },
  method: 'GET',
  path: '/v2/analytics/shops/{shopID}/payments',
  tag: 'Payments',
  summary: 'Search payments, newest first',
  params: ShopPath,
  query: PaymentSearch,
  status: 200,
  response: searchPage('PaymentPage', PaymentSchema, {}),
  errors: searchErrors,
  handle: ({ caller, params, query, now }, deps: SearchDeps) => {
    const { partyId } = caller;
    return searched(
      deps,
      { operation: 'searchPayments', partyId, shopId: params.shopID, now, query, keys: searchKeys },
      ({ key, created_from, before_at, before: [before_invoice = '', before_payment = ''] }) => {
        const payments = paymentsAsked(query);
        return search(deps.db, keyOfPayments(key, payments), {
          ...payments,
          party_id: partyId,
          shop_id: params.shopID,
          created_from,
          before_at,
          before_invoice,
          before_payment,
        });
      },
      {
        last: ({ createdAt, invoiceId, id }) => ({ createdAt, ids: [invoiceId, id] }),
        body: (payment) => paymentBody(payment, caller),
      },
    );
  },
});
