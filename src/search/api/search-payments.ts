// Searches the payments of a shop.
import { Type, type Static } from 'typebox';
import type { Caller } from '../../caller.ts';
import type { Instant } from '../../clock.ts';
import { PaymentSchema, paymentBody } from '../../payments/api/schema.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import {
  idList,
  paymentSearchKeys,
  searchPayments as search,
  type PaymentSearchKey,
} from '../searches.store.ts';
import { searchSeldomPayments } from '../seldom.store.ts';
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
  type ShopsSearched,
} from './search-schema.ts';
import { IDs, isOwnParty, ShopsQuery } from './shop-filter.ts';

export const PaymentSearch = Type.Object({
  ...PageQuery,
  ...PaymentQuery,
  invoiceIDs: Type.Optional({ ...IDs, description: 'Payments of any of these.' }),
  paymentAmountFrom: AmountBound,
  paymentAmountTo: AmountBound,
});

export function paymentsAsked(query: Static<typeof PaymentSearch>) {
  const { ofPlace, ofPayment } = conditionsOf(query);
  const amount_from = minorOf(query.paymentAmountFrom);
  return {
    ...ofPlace,
    ...ofPayment,
    invoice_ids: query.invoiceIDs ? idList(query.invoiceIDs) : null,
    amount_from,
    amount_to: minorOf(query.paymentAmountTo),
  };
}

/** Without a key, payments between amounts are found by the amounts. */
export function keyOfPayments(key: PaymentSearchKey, asked: AmountsAsked): PaymentSearchKey {
  return key === 'time' && isBetweenAmounts(asked) ? 'amounts' : key;
}

const PaymentSearchOfShops = Type.Object({ ...PaymentSearch.properties, ...ShopsQuery });
const declared = {
  access: { scope: 'payments:read' },
  method: 'GET',
  tag: 'Payments',
  status: 200,
  response: searchPage('PaymentPage', PaymentSchema, {}),
  errors: searchErrors,
} as const;

export const searchPayments = endpoint({
  ...declared,
  operation: 'searchPayments',
  path: '/v2/analytics/shops/{shopID}/payments',
  summary: 'Search payments, newest first',
  params: ShopPath,
  query: PaymentSearch,
  handle: (request, deps: SearchDeps) =>
    found(deps, request, { operation: 'searchPayments', shops: { shopId: request.params.shopID } }),
});

export const searchPaymentsOfShops = endpoint({
  ...declared,
  operation: 'searchPaymentsOfShops',
  path: '/v2/analytics/payments',
  summary: 'Search payments of several shops, newest first',
  query: PaymentSearchOfShops,
  isOwnParty,
  handle: (request, deps: SearchDeps) =>
    found(deps, request, { operation: 'searchPaymentsOfShops', shops: { query: request.query } }),
});

function found(
  deps: SearchDeps,
  {
    caller,
    query,
    now,
  }: { readonly caller: Caller; readonly query: Static<typeof PaymentSearch>; readonly now: Instant },
  of: { readonly operation: string; readonly shops: ShopsSearched },
) {
  const { partyId } = caller;
  return searched(
    deps,
    { ...of, partyId, now, query, keys: paymentSearchKeys },
    ({ key, shop_ids, created_from, before_at, before, isRebuilding }) => {
      const [before_invoice = '', before_payment = ''] = before;
      const place = { party_id: partyId, shop_ids, created_from, before_at, before_invoice, before_payment };
      const payments = paymentsAsked(query);
      const way = keyOfPayments(key, payments);
      return way === 'time' && !isRebuilding && isBySumsAlone(payments)
        ? searchByTimeOrSums(deps.db, { ...payments, ...place }, query.paymentStatus)
        : search(deps.db, way, { ...payments, ...place });
    },
    {
      last: ({ createdAt, invoiceId, id }) => ({ createdAt, ids: [invoiceId, id] }),
      body: (payment) => paymentBody(payment, caller),
    },
  );
}

type PaymentsAsked = ReturnType<typeof paymentsAsked>;

/** Whether the sums know everything that is asked for. */
export function isBySumsAlone({
  payment_statuses,
  payment_system,
  limit: _,
  ...others
}: PaymentsAsked): boolean {
  return (payment_statuses ?? payment_system) !== null && Object.values(others).every((one) => one === null);
}

/** What many payments have is found at once in the order of time. What few have is found by the sums. */
async function searchByTimeOrSums(
  db: Database,
  asked: Parameters<typeof search>[2],
  publicStatus: string | undefined,
) {
  const found = await search(db, 'time', asked, 4);
  return found ?? searchSeldomPayments(db, { ...asked, public_status: publicStatus ?? null });
}
