// Searches the invoices of a shop, also by what their payments have.
import { Type, type Static } from 'typebox';
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
} from './search-schema.ts';

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

export const searchInvoices = endpoint({
  operation: 'searchInvoices',
  access: { scope: 'invoices:read' },
  method: 'GET',
  path: '/v2/analytics/shops/{shopID}/invoices',
  tag: 'Invoices',
  summary: 'Search invoices, newest first',
  params: ShopPath,
  query: InvoiceSearch,
  status: 200,
  response: searchPage('InvoicePage', InvoiceSchema, {}),
  errors: searchErrors,
  handle: ({ caller, params, query, now }, deps: SearchDeps) => {
    const { partyId } = caller;
    return searched(
      deps,
      { operation: 'searchInvoices', partyId, shopId: params.shopID, now, query, keys: invoiceSearchKeys },
      ({ key, created_from, before_at, before: [before_invoice = ''] }) => {
        const invoices = invoicesAsked(query);
        return search(deps.db, keyOfInvoices(key, invoices), {
          ...invoices,
          party_id: partyId,
          shop_id: params.shopID,
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
  },
});
