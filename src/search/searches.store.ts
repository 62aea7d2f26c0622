// The searches, each key with a statement of its own, so that the plan is by the index of that key. What is shown is read from the
// objects themselves.
import { codeOf } from '../error-code.ts';
import { invoiceColumns, invoiceFromRow } from '../invoices/store/invoices.ts';
import type { Invoice } from '../invoices/domain/invoice.ts';
import { paymentColumns, storedFromRow } from '../payments/store/rows.ts';
import type { Payment } from '../payments/domain/payment.ts';
import type { Database } from '../platform/database/database.ts';
import { columnList, statement, type Values } from '../platform/database/statement.ts';

/** Null: not asked for. Statuses are separated by commas. */
const paymentFilters = {
  payment_id: 'text?',
  payment_statuses: 'text?',
  flow: 'text?',
  payment_amount: 'int8?',
  customer_id: 'text?',
  email: 'text?',
  ip: 'text?',
  fingerprint: 'text?',
  first6: 'text?',
  last4: 'text?',
  payment_system: 'text?',
  rrn: 'text?',
  approval_code: 'text?',
} as const;
const placeFilters = {
  party_id: 'text',
  shop_id: 'text',
  created_from: 'timestamptz',
  before_at: 'timestamptz',
  before_invoice: 'text',
  limit: 'int4',
  invoice_id: 'text?',
  external_id: 'text?',
  amount_from: 'int8?',
  amount_to: 'int8?',
} as const;
const paymentSearch = { ...placeFilters, before_payment: 'text', ...paymentFilters } as const;
const invoiceSearch = {
  ...placeFilters,
  ...paymentFilters,
  /** Whether any of these is asked for. */
  has_payment: 'bool',
  invoice_status: 'text?',
  invoice_amount: 'int8?',
} as const;

const when = (name: string, condition: string) => `and (:${name} is null or ${condition})`;
const same = (column: string, name = column) => when(name, `${column} = :${name}`);

const ofPayment = [
  same('payment_id'),
  when('payment_statuses', `status = any(string_to_array(:payment_statuses, ','))`),
  same('flow'),
  same('amount_minor', 'payment_amount'),
  ...[
    'customer_id',
    'email',
    'ip',
    'fingerprint',
    'first6',
    'last4',
    'payment_system',
    'rrn',
    'approval_code',
  ].map((name) => same(name)),
].join('\n        ');

const ofPlace = [
  same('invoice_id'),
  same('external_id'),
  when('amount_from', 'amount_minor >= :amount_from'),
  when('amount_to', 'amount_minor <= :amount_to'),
].join('\n        ');

/** What is looked for: a range of time in a shop, or something exact, which has an index of its own. */
export const searchKeys = ['time', 'invoice_id', 'external_id', 'rrn', 'customer_id', 'email'] as const;
export type SearchKey = (typeof searchKeys)[number];
const keyed = (key: SearchKey) => (key === 'time' ? '' : `and ${key} = :${key}`);

const searchPaymentsBy = (key: SearchKey) =>
  statement({
    name: `search_payments_by_${key}`,
    parameters: paymentSearch,
    row: paymentColumns,
    text: `
    with found as materialized (
      select created_at, invoice_id, payment_id from search_payment
      where party_id = :party_id and shop_id = :shop_id ${keyed(key)} and created_at >= :created_from
        and (created_at, invoice_id, payment_id) < (:before_at, :before_invoice, :before_payment)
        ${ofPlace}
        ${ofPayment}
      order by created_at desc, invoice_id desc, payment_id desc limit :limit
    )
    select ${columnList(paymentColumns, 'payment')} from found join payment using (invoice_id, payment_id)
    order by found.created_at desc, found.invoice_id desc, found.payment_id desc`,
  });

const searchInvoicesBy = (key: SearchKey) =>
  statement({
    name: `search_invoices_by_${key}`,
    parameters: invoiceSearch,
    row: invoiceColumns,
    text: `
    with found as materialized (
      select created_at, invoice_id from search_invoice as invoice
      where party_id = :party_id and shop_id = :shop_id ${ofInvoice(key)} and created_at >= :created_from
        and (created_at, invoice_id) < (:before_at, :before_invoice)
        ${ofPlace}
        ${same('status', 'invoice_status')}
        ${same('amount_minor', 'invoice_amount')}
        and (not :has_payment or exists (
          select from search_payment as payment
          where payment.party_id = :party_id and payment.invoice_id = invoice.invoice_id
        ${ofPayment}))
      order by created_at desc, invoice_id desc limit :limit
    )
    select ${columnList(invoiceColumns, 'invoice')} from found join invoice using (invoice_id)
    order by found.created_at desc, found.invoice_id desc`,
  });

function ofInvoice(key: SearchKey): string {
  if (key === 'time' || key === 'invoice_id' || key === 'external_id') return keyed(key);
  return `and invoice_id in (
        select payment.invoice_id from search_payment as payment
        where payment.party_id = :party_id and payment.${key} = :${key})`;
}

const byKey = <Made>(make: (key: SearchKey) => Made) =>
  Object.fromEntries(searchKeys.map((key) => [key, make(key)])) as Readonly<Record<SearchKey, Made>>;
export const paymentSearches = byKey(searchPaymentsBy);
export const invoiceSearches = byKey(searchInvoicesBy);

const limitTime = statement({
  name: 'limit_search_time',
  parameters: { limit: 'text' },
  row: {},
  text: `select from set_config('statement_timeout', :limit, true)`,
});

const longestMs = 2_000;
const canceled = '57014';

/** Undefined if it takes too long: there are too many rows to look through. */
export async function searchPayments(
  db: Database,
  key: SearchKey,
  asked: Values<typeof paymentSearch>,
): Promise<Payment[] | undefined> {
  const rows = await withinTime(db, (tx) => tx.run(paymentSearches[key], asked));
  return rows?.map((row) => storedFromRow(row).payment);
}

/** Undefined if it takes too long. */
export async function searchInvoices(
  db: Database,
  key: SearchKey,
  asked: Values<typeof invoiceSearch>,
): Promise<Invoice[] | undefined> {
  const rows = await withinTime(db, (tx) => tx.run(invoiceSearches[key], asked));
  return rows?.map((row) => invoiceFromRow(row).invoice);
}

async function withinTime<T>(db: Database, search: (tx: Database) => Promise<T>): Promise<T | undefined> {
  try {
    return await db.transaction(async (tx) => {
      await tx.run(limitTime, { limit: String(longestMs) });
      return search(tx);
    });
  } catch (error) {
    if (codeOf(error) === canceled) return undefined;
    throw error;
  }
}
