// The searches, each key with a statement of its own, so that the plan is by the index of that key. What is shown is read from the
// objects themselves.
import type { Instant } from '../clock.ts';
import { codeOf } from '../error-code.ts';
import { invoiceColumns, invoiceFromRow } from '../invoices/store/invoices.ts';
import type { Invoice } from '../invoices/domain/invoice.ts';
import { paymentColumns, storedFromRow } from '../payments/store/rows.ts';
import type { Payment } from '../payments/domain/payment.ts';
import {
  namedRefundFromRow,
  readRefundColumns,
  refundColumns,
  type NamedRefund,
} from '../payments/store/refunds.ts';
import type { Database } from '../platform/database/database.ts';
import { columnList, statement, type Values } from '../platform/database/statement.ts';

/** Null: not asked for. Statuses are separated by commas, and IDs by line breaks. */
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
  shop_ids: 'text',
  created_from: 'timestamptz',
  before_at: 'timestamptz',
  before_invoice: 'text',
  limit: 'int4',
  invoice_id: 'text?',
  external_id: 'text?',
} as const;
const amountFilters = { amount_from: 'int8?', amount_to: 'int8?' } as const;
export const paymentSearch = {
  ...placeFilters,
  ...amountFilters,
  before_payment: 'text',
  invoice_ids: 'text?',
  ...paymentFilters,
} as const;
export const invoiceSearch = {
  ...placeFilters,
  ...amountFilters,
  ...paymentFilters,
  /** Whether any of these is asked for. */
  has_payment: 'bool',
  invoice_status: 'text?',
  invoice_amount: 'int8?',
} as const;
const { before_at, before_invoice, limit, ...rangeFilters } = placeFilters;
const refundFilters = {
  ...rangeFilters,
  payment_id: 'text?',
  refund_id: 'text?',
  status: 'text?',
  rrn: 'text?',
  approval_code: 'text?',
} as const;
const refundPage = {
  before_at,
  before_invoice,
  before_payment: 'text',
  before_refund: 'text',
  limit,
  skip: 'int4',
} as const;
export const refundSearch = { ...refundFilters, ...refundPage } as const;
const refundCount = { ...refundFilters, created_until: 'timestamptz', most: 'int4' } as const;

const when = (name: string, condition: string) => `and (:${name} is null or ${condition})`;
const same = (column: string, name = column) => when(name, `${column} = :${name}`);

/** As the statements take several of them. */
export const idList = (ids: readonly string[]): string => ids.join('\n');
/** PostgreSQL knows how many they are when it plans. */
const idsIn = (name: string) => `string_to_array(:${name}, E'\\n')`;
const ofShops = `shop_id = any(${idsIn('shop_ids')})`;
const isInvoice = `invoice_id = any(${idsIn('invoice_ids')})`;

const ofPayment = [
  same('payment_id'),
  // Without any status nothing is read: PostgreSQL knows it when it plans.
  when(
    'payment_statuses',
    `:payment_statuses <> '' and status = any(string_to_array(:payment_statuses, ','))`,
  ),
  same('flow'),
  same('amount_minor', 'payment_amount'),
  ...['customer_id', 'email', 'ip', 'fingerprint', 'first6'].map((name) => same(name)),
  when('last4', `right(last4, length(:last4)) = :last4`),
  ...['payment_system', 'rrn', 'approval_code'].map((name) => same(name)),
].join('\n        ');

const ofPlace = [same('invoice_id'), same('external_id')].join('\n        ');
const ofInvoices = when('invoice_ids', isInvoice);
const ofAmount = [
  when('amount_from', 'amount_minor >= :amount_from'),
  when('amount_to', 'amount_minor <= :amount_to'),
].join('\n        ');

const ofApproval = `(invoice_id, payment_id) in (
          select payment.invoice_id, payment.payment_id from search_payment as payment
          where payment.party_id = :party_id and payment.approval_code = :approval_code)`;
const ofRefund = ['payment_id', 'refund_id', 'status', 'rrn'].map((name) => same(name)).join('\n        ');

/** What is looked for: something exact, which has an index of its own, or a range of time in shops. The most exact is first. */
const searchKeys = [
  'invoice_id',
  'rrn',
  'external_id',
  'customer_id',
  'email',
  'approval_code',
  'fingerprint',
  'ip',
  'last4',
  'payment_amount',
  'time',
  'amounts',
] as const;
/** The last: payments of many invoices. */
export const paymentSearchKeys = [...searchKeys, 'invoice_ids'] as const;
/** The last: any filter of a payment, over a range of time. */
export const invoiceSearchKeys = [...searchKeys, 'invoice_amount', 'payment_time'] as const;
export const refundSearchKeys = ['invoice_id', 'rrn', 'external_id', 'approval_code', 'time'] as const;
export type InvoiceSearchKey = (typeof invoiceSearchKeys)[number];
export type PaymentSearchKey = (typeof paymentSearchKeys)[number];
export type RefundSearchKey = (typeof refundSearchKeys)[number];
export type SearchKey = InvoiceSearchKey | PaymentSearchKey | RefundSearchKey;
/** Of one index. */
type IndexKey = Exclude<SearchKey, 'amounts'>;
const keyed = (key: IndexKey) => {
  if (isByTime(key)) return '';
  if (key === 'invoice_ids') return `and ${isInvoice}`;
  if (key === 'payment_amount' || key === 'invoice_amount') return `and amount_minor = :${key}`;
  const is = `and ${key} = :${key}`;
  return key === 'fingerprint' ? `${is} and md5(${key}) = md5(:${key})` : is;
};

function isByTime(key: SearchKey): boolean {
  return key === 'time' || key === 'payment_time';
}

/**
 * By time, a page of each shop is read in the order of its index, and the newest of them are the page. Rows by anything else have an
 * index of the party.
 */
function newestOf(
  key: SearchKey,
  rows: (inShops: string) => string,
  { newest, page = 'limit :limit', most = page }: { newest: string; page?: string; most?: string },
): string {
  const inEach = isByTime(key) ? `unnest(${idsIn('shop_ids')}) as shop (id) cross join lateral ` : '';
  return `from ${inEach}(
        select ${rows(isByTime(key) ? 'shop_id = shop.id' : ofShops)}
        ${newest} ${most}
      ) as found_rows
      ${newest} ${page}`;
}

/** If more rows than this are between the amounts, the newest are found sooner in the order of time. */
const mostBetween = 20_000;

type Rows = {
  readonly table: string;
  readonly ids: readonly string[];
  /** What else a row has to be. */
  readonly fits: string;
  /** The page in the order of time. */
  readonly byTime: string;
};

/** The index alone says which rows are between the amounts, and when they were created. Only those of the page are looked up. */
function pageByAmounts({ table, ids, fits, byTime }: Rows): string {
  const place = ['created_at', ...ids];
  const columns = place.join(', ');
  const before = place.map((name) => `:before_${name.replace(/^created_|_id$/, '')}`).join(', ');
  const newest = `order by ${place.map((name) => `${name} desc`).join(', ')}`;
  return `from (
        with between_amounts as materialized (
          select ${columns} from ${table}
          where party_id = :party_id and created_at >= :created_from
            and (${columns}) < (${before})
        ${ofAmount}
          order by amount_minor, ${columns} limit ${mostBetween} + 1
        )
        (select ${columns} from (
          select ${columns} from between_amounts where (select count(*) from between_amounts) <= ${mostBetween}
          ${newest}
        ) as one
        where exists (
          select from ${table} as fitting where party_id = :party_id and ${ofShops}
            ${ids.map((name) => `and fitting.${name} = one.${name}`).join(' ')}
        ${fits} offset 0)
        ${newest} limit :limit)
        union all
        select ${columns} from (select ${columns} ${byTime}) as of_time
        where (select count(*) from between_amounts) > ${mostBetween}
      ) as of_amounts
      ${newest} limit :limit`;
}

/** Each of these ends a query of the rows on one page, newest first. */
export const pageOfPayments = (key: PaymentSearchKey): string =>
  key === 'amounts'
    ? pageByAmounts({
        table: 'search_payment',
        ids: ['invoice_id', 'payment_id'],
        fits: [ofInvoices, ofPlace, ofPayment].join('\n        '),
        byTime: pageByPaymentKey('time'),
      })
    : pageByPaymentKey(key);

const pageByPaymentKey = (key: Exclude<PaymentSearchKey, 'amounts'>) =>
  newestOf(
    key,
    (inShops) => `* from search_payment
        where party_id = :party_id and ${inShops} ${keyed(key)} and created_at >= :created_from
          and (created_at, invoice_id, payment_id) < (:before_at, :before_invoice, :before_payment)
        ${ofInvoices}
        ${ofPlace}
        ${ofAmount}
        ${ofPayment}`,
    { newest: 'order by created_at desc, invoice_id desc, payment_id desc' },
  );

const searchPaymentsBy = (key: PaymentSearchKey) =>
  statement({
    name: `search_payments_by_${key}`,
    parameters: paymentSearch,
    row: paymentColumns,
    text: `
    with found as materialized (
      select created_at, invoice_id, payment_id ${pageOfPayments(key)}
    )
    select ${columnList(paymentColumns, 'payment')} from found join payment using (invoice_id, payment_id)
    order by found.created_at desc, found.invoice_id desc, found.payment_id desc`,
  });

const ofInvoice = [same('status', 'invoice_status'), same('amount_minor', 'invoice_amount')].join(
  '\n        ',
);

const keysOfInvoice: readonly InvoiceSearchKey[] = ['time', 'invoice_id', 'external_id', 'invoice_amount'];

export function pageOfInvoices(key: InvoiceSearchKey): string {
  if (key === 'amounts')
    return pageByAmounts({
      table: 'search_invoice',
      ids: ['invoice_id'],
      fits: [ofPlace, ofInvoice].join('\n        '),
      byTime: pageByInvoices('time'),
    });
  return keysOfInvoice.includes(key) ? pageByInvoices(key) : pageByPayments(key);
}

const newestInvoices = 'order by created_at desc, invoice_id desc';

/** `offset 0` has each invoice looked up: PostgreSQL would rather read all payments first than a few of many invoices. */
const pageByInvoices = (key: IndexKey) =>
  newestOf(
    key,
    (inShops) => `* from search_invoice as invoice
        where party_id = :party_id and ${inShops} ${keyed(key)} and created_at >= :created_from
          and (created_at, invoice_id) < (:before_at, :before_invoice)
        ${ofPlace}
        ${ofAmount}
        ${ofInvoice}
        and (not :has_payment or exists (
          select from search_payment as payment
          where payment.party_id = :party_id and payment.invoice_id = invoice.invoice_id
        ${ofPayment} offset 0))`,
    { newest: newestInvoices },
  );

/** In the order of the invoices. The limit is where the rows are read: PostgreSQL plans a query within another for all of its rows. */
const pageByPayments = (key: IndexKey) =>
  newestOf(
    key,
    (inShops) => `distinct invoice_created_at as created_at, invoice_id from search_payment as payment
        where party_id = :party_id and ${inShops} ${keyed(key)} and invoice_created_at >= :created_from
          and (invoice_created_at, invoice_id) < (:before_at, :before_invoice)
          ${ofPayment}
          and :has_payment and exists (
            select from search_invoice as invoice where party_id = :party_id and invoice.invoice_id = payment.invoice_id
        ${ofPlace}
        ${ofAmount}
        ${ofInvoice} offset 0)`,
    { newest: newestInvoices },
  );

const searchInvoicesBy = (key: InvoiceSearchKey) =>
  statement({
    name: `search_invoices_by_${key}`,
    parameters: invoiceSearch,
    row: invoiceColumns,
    text: `
    with found as materialized (
      select created_at, invoice_id ${pageOfInvoices(key)}
    )
    select ${columnList(invoiceColumns, 'invoice')} from found join invoice using (invoice_id)
    order by found.created_at desc, found.invoice_id desc`,
  });

const newestRefunds = 'order by created_at desc, invoice_id desc, payment_id desc, refund_id desc';

function refundsOf(key: RefundSearchKey, within: string, page: { page: string; most?: string }): string {
  return newestOf(
    key,
    (inShops) => `* from search_refund as refund
        where party_id = :party_id and ${inShops} and created_at >= :created_from
        ${key === 'approval_code' ? `and ${ofApproval}` : `${keyed(key)} ${when('approval_code', ofApproval)}`}
        ${ofPlace}
        ${ofRefund}
          and ${within}`,
    { newest: newestRefunds, ...page },
  );
}

export const pageOfRefunds = (key: RefundSearchKey) =>
  refundsOf(
    key,
    '(created_at, invoice_id, payment_id, refund_id) < (:before_at, :before_invoice, :before_payment, :before_refund)',
    { page: 'limit :limit offset :skip', most: 'limit :limit + :skip' },
  );

const searchRefundsBy = (key: RefundSearchKey) =>
  statement({
    name: `search_refunds_by_${key}`,
    parameters: refundSearch,
    row: readRefundColumns,
    text: `
    with found as materialized (
      select created_at, invoice_id, payment_id, refund_id ${pageOfRefunds(key)}
    )
    select ${refundColumns} from found join refund using (invoice_id, payment_id, refund_id)
    order by found.created_at desc, found.invoice_id desc, found.payment_id desc, found.refund_id desc`,
  });

/** In their order: PostgreSQL would rather count from where the table begins, which is years before the range. */
const countRefundsBy = (key: RefundSearchKey) =>
  statement({
    name: `count_refunds_by_${key}`,
    parameters: refundCount,
    row: { total: 'int8' },
    text: `
    select count(*) as total from (
      select created_at ${refundsOf(key, 'created_at < :created_until', { page: 'limit :most' })}
    ) as counted`,
  });

function byKey<Key extends SearchKey, Made>(
  keys: readonly Key[],
  make: (key: Key) => Made,
): Readonly<Record<Key, Made>> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<Key, Made>;
}
export const paymentSearches = byKey(paymentSearchKeys, searchPaymentsBy);
export const invoiceSearches = byKey(invoiceSearchKeys, searchInvoicesBy);
export const refundSearches = byKey(refundSearchKeys, searchRefundsBy);
export const refundCounts = byKey(refundSearchKeys, countRefundsBy);

/** A plan for any values, kept after searches for something rare, would look through a whole table for a page of everything. */
const limitTime = statement({
  name: 'limit_search_time',
  parameters: { limit: 'text' },
  row: {},
  text: `select from set_config('statement_timeout', :limit, true) as limited,
           set_config('plan_cache_mode', 'force_custom_plan', true) as planned`,
});

/** Of a whole search; PostgreSQL limits each of its statements. */
const longestMs = 2_000;
const canceled = '57014';

/** Undefined if it takes its share of two seconds: there are too many rows to look through. */
export async function searchPayments(
  db: Database,
  key: PaymentSearchKey,
  asked: Values<typeof paymentSearch>,
  statements = 1,
): Promise<{ found: Payment[] } | undefined> {
  const rows = await withinTime(db, statements, (tx) => tx.run(paymentSearches[key], asked));
  return rows && { found: rows.map((row) => storedFromRow(row).payment) };
}

/** Undefined if it takes too long. */
export async function searchInvoices(
  db: Database,
  key: InvoiceSearchKey,
  asked: Values<typeof invoiceSearch>,
): Promise<{ found: Invoice[] } | undefined> {
  const rows = await withinTime(db, 1, (tx) => tx.run(invoiceSearches[key], asked));
  return rows && { found: rows.map((row) => invoiceFromRow(row).invoice) };
}

type RefundsAsked = {
  readonly filters: Values<typeof refundFilters>;
  readonly page: Values<typeof refundPage>;
  /** Where the range ends, whatever the page: all of it is counted. */
  readonly until: Instant;
};

/** Of more than this many it is known only that they are more. */
const mostCounted = 10_000;

/** A page, and how many there are in all pages. Undefined if it takes too long. */
export async function searchRefunds(
  db: Database,
  key: RefundSearchKey,
  { page, filters, until }: RefundsAsked,
): Promise<{ found: NamedRefund[]; totalCount: number } | undefined> {
  return withinTime(db, 2, async (tx) => {
    const rows = await tx.run(refundSearches[key], { ...filters, ...page });
    const [counted] = await tx.run(refundCounts[key], {
      ...filters,
      created_until: until,
      most: mostCounted,
    });
    return { found: rows.map(namedRefundFromRow), totalCount: Number(counted?.total ?? 0) };
  });
}

/** Undefined if one of the statements takes its share of two seconds. */
export async function withinTime<T>(
  db: Database,
  statements: number,
  search: (tx: Database) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await db.transaction(async (tx) => {
      await tx.run(limitTime, { limit: String(Math.floor(longestMs / statements)) });
      return search(tx);
    });
  } catch (error) {
    if (codeOf(error) === canceled) return undefined;
    throw error;
  }
}
