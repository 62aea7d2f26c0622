// The lists of customers, bindings and series. Each statement is planned for its values, and each key has an index in the order of the
// page.
import { storedBindingFromRow, storedColumnList, storedColumns } from '../../customers/store/bindings.ts';
import { customerColumns, storedFromRow } from '../../customers/store/customers.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, statement, type Values } from '../../platform/database/statement.ts';
import { seriesFromRow, storedSeries } from '../../recurring/store/series.ts';
import { withinTime } from '../searches.store.ts';

/** Null: not asked for. Several shops and statuses are separated by commas. */
const place = {
  party_id: 'text',
  shop_id: 'text?',
  shop_ids: 'text?',
  created_from: 'timestamptz',
  before_at: 'timestamptz',
  statuses: 'text?',
  limit: 'int4',
} as const;

const when = (name: string, condition: string) => `and (:${name} is null or ${condition})`;
const same = (name: string) => when(name, `${name} = :${name}`);
const inList = (column: string, name: string) =>
  when(name, `${column} = any(string_to_array(:${name}, ','))`);

/** All four have an index. Fewer are the end of the number. */
const ofLastDigits = `(last4 = :last4 or length(:last4) < 4 and right(last4, length(:last4)) = :last4)`;

/** The API shows one of a single part twice: as its code and as its message. */
const ofFailure = `(failure = :failure or starts_with(failure, :failure || ':') or failure || ':' || failure = :failure)`;

/** One shop is compared apart from several, so that its index has the order. */
const ofPlace = `where party_id = :party_id and created_at >= :created_from
        ${same('shop_id')} ${inList('shop_id', 'shop_ids')} ${inList('status', 'statuses')}`;

const customerSearch = {
  ...place,
  before_customer: 'text',
  customer_id: 'text?',
  external_id: 'text?',
  email: 'text?',
} as const;

export const listCustomers = statement({
  name: 'search_customers',
  parameters: customerSearch,
  row: customerColumns,
  text: `
    with found as materialized (
      select created_at, customer_id from search_customer
      ${ofPlace}
        and (created_at, customer_id) < (:before_at, :before_customer)
        and status <> 'deleted' ${same('customer_id')} ${same('external_id')} ${same('email')}
      order by created_at desc, customer_id desc limit :limit
    )
    select ${columnList(customerColumns, 'customer')} from found join customer using (customer_id)
    order by found.created_at desc, found.customer_id desc`,
});

const bindingSearch = {
  ...place,
  before_customer: 'text',
  before_binding: 'text',
  customer_id: 'text?',
  external_id: 'text?',
  first6: 'text?',
  last4: 'text?',
  failure: 'text?',
} as const;

export const listBindings = statement({
  name: 'search_bindings',
  parameters: bindingSearch,
  row: storedColumns,
  text: `
    with found as materialized (
      select created_at, customer_id, binding_id from search_binding
      ${ofPlace}
        and (created_at, customer_id, binding_id) < (:before_at, :before_customer, :before_binding)
        and status <> 'deleted' ${same('customer_id')} ${same('external_id')} ${same('first6')} ${when('last4', ofLastDigits)}
        ${when('failure', ofFailure)}
      order by created_at desc, customer_id desc, binding_id desc limit :limit
    )
    select ${storedColumnList} from found join binding using (customer_id, binding_id) join customer using (customer_id)
    order by found.created_at desc, found.customer_id desc, found.binding_id desc`,
});

const seriesSearch = {
  ...place,
  before_series: 'text',
  series_id: 'text?',
  root_kind: 'text?',
  root_of: 'text?',
  root_id: 'text?',
  /** Whether `now` is before the end of a series that is active. */
  is_chargeable: 'bool?',
  now: 'timestamptz',
} as const;

export const listSeries = statement({
  name: 'search_series',
  parameters: seriesSearch,
  row: { ...storedSeries.row, started_at: 'timestamptz' },
  text: `
    with found as materialized (
      select created_at, series_id from search_series
      ${ofPlace}
        and (created_at, series_id) < (:before_at, :before_series)
        ${same('series_id')} ${same('root_kind')} ${same('root_of')} ${same('root_id')}
        ${when('is_chargeable', `:is_chargeable = (status = 'active' and ends_at > :now)`)}
      order by created_at desc, series_id desc limit :limit
    )
    select ${storedSeries.columns}, found.created_at as started_at from found join series using (series_id)
    order by found.created_at desc, found.series_id desc`,
});

/** Undefined if it takes too long, as each of these. */
export async function searchCustomers(db: Database, asked: Values<typeof customerSearch>) {
  const rows = await withinTime(db, 1, (tx) => tx.run(listCustomers, asked));
  return rows && { found: rows.map((row) => storedFromRow(row).customer) };
}

export async function searchBindings(db: Database, asked: Values<typeof bindingSearch>) {
  const rows = await withinTime(db, 1, (tx) => tx.run(listBindings, asked));
  return rows && { found: rows.map(storedBindingFromRow) };
}

export async function searchSeries(db: Database, asked: Values<typeof seriesSearch>) {
  const rows = await withinTime(db, 1, (tx) => tx.run(listSeries, asked));
  return rows && { found: rows.map((row) => ({ stored: seriesFromRow(row), startedAt: row.started_at })) };
}
