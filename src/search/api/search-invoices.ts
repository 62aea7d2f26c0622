// Searches the invoices of a shop, also by what their payments have.
import { Type, type Static } from 'typebox';
import type { Caller } from '../../caller.ts';
import type { Instant } from '../../clock.ts';
import { invoiceBody, InvoiceSchema } from '../../invoices/api/schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Amount } from '../../platform/http/schemas.ts';
import { invoiceSearchKeys, searchInvoices as search, type InvoiceSearchKey } from '../searches.store.ts';
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
import { isOwnParty, ShopsQuery } from './shop-filter.ts';

export const InvoiceSearch = Type.Object({
  ...PageQuery,
  ...PaymentQuery,
  invoiceStatus: Type.Optional(Type.Enum(['unpaid', 'paid', 'fulfilled', 'cancelled'])),
  invoiceAmount: Type.Optional(Amount),
  invoiceAmountFrom: AmountBound,
  invoiceAmountTo: AmountBound,
});

export function invoicesAsked(query: Static<typeof InvoiceSearch>) {
  const { ofPlace, ofPayment } = conditionsOf(query);
  return {
    ...ofPlace,
    ...ofPayment,
    has_payment: query.paymentMethod !== undefined || Object.values(ofPayment).some((one) => one !== null),
    invoice_status: query.invoiceStatus ?? null,
    invoice_amount: minorOf(query.invoiceAmount),
    amount_from: minorOf(query.invoiceAmountFrom),
    amount_to: minorOf(query.invoiceAmountTo),
  };
}

/** Without a key, invoices by what payments have are found by the payments, and others between amounts by the amounts. */
export function keyOfInvoices(
  key: InvoiceSearchKey,
  asked: AmountsAsked & { readonly has_payment: boolean },
): InvoiceSearchKey {
  if (key !== 'time') return key;
  if (asked.has_payment) return 'payment_time';
  return isBetweenAmounts(asked) ? 'amounts' : key;
}

const InvoiceSearchOfShops = Type.Object({ ...InvoiceSearch.properties, ...ShopsQuery });
const declared = {
  access: { scope: 'invoices:read' },
  method: 'GET',
  tag: 'Invoices',
  status: 200,
  response: searchPage('InvoicePage', InvoiceSchema, {}),
  errors: searchErrors,
} as const;

export const searchInvoices = endpoint({
  ...declared,
  operation: 'searchInvoices',
  path: '/v2/analytics/shops/{shopID}/invoices',
  summary: 'Search invoices, newest first',
  params: ShopPath,
  query: InvoiceSearch,
  handle: (request, deps: SearchDeps) =>
    found(deps, request, { operation: 'searchInvoices', shops: { shopId: request.params.shopID } }),
});

export const searchInvoicesOfShops = endpoint({
  ...declared,
  operation: 'searchInvoicesOfShops',
  path: '/v2/analytics/invoices',
  summary: 'Search invoices of several shops, newest first',
  query: InvoiceSearchOfShops,
  isOwnParty,
  handle: (request, deps: SearchDeps) =>
    found(deps, request, { operation: 'searchInvoicesOfShops', shops: { query: request.query } }),
});

function found(
  deps: SearchDeps,
  {
    caller: { partyId },
    query,
    now,
  }: { readonly caller: Caller; readonly query: Static<typeof InvoiceSearch>; readonly now: Instant },
  of: { readonly operation: string; readonly shops: ShopsSearched },
) {
  return searched(
    deps,
    { ...of, partyId, now, query, keys: invoiceSearchKeys },
    ({ key, shop_ids, created_from, before_at, before: [before_invoice = ''] }) => {
      const invoices = invoicesAsked(query);
      return search(deps.db, keyOfInvoices(key, invoices), {
        ...invoices,
        party_id: partyId,
        shop_ids,
        created_from,
        before_at,
        before_invoice,
      });
    },
    {
      last: ({ createdAt, id }) => ({ createdAt, ids: [id] }),
      body: invoiceBody,
    },
  );
}
