// Copies customers, their bindings, and series to the tables that their lists look through.
import type { Database } from '../../platform/database/database.ts';
import { copyTo } from '../copies.store.ts';

const searchedOfCustomer = {
  party_id: 'customer.party_id',
  shop_id: 'customer.shop_id',
  customer_id: 'customer.customer_id',
  created_at: 'customer.created_at',
  status: 'customer.status',
  external_id: 'customer.external_id',
  email: `lower(customer.contact_info->>'email')`,
} as const;

/** What belongs to a deleted customer is not found. */
const searchedOfBinding = {
  party_id: 'binding.party_id',
  shop_id: 'binding.shop_id',
  customer_id: 'binding.customer_id',
  binding_id: 'binding.binding_id',
  created_at: 'binding.created_at',
  status: `case when customer.status = 'deleted' then customer.status else binding.status end`,
  external_id: 'binding.external_id',
  first6: `binding.terms->'card'->'details'->>'bin'`,
  last4: `binding.terms->'card'->'details'->>'lastDigits'`,
  failure: `case when binding.status = 'failed'
    then (select string_agg(code, ':') from json_array_elements_text(binding.state->'failure') as code) end`,
} as const;

const searchedOfSeries = {
  party_id: 'series.party_id',
  shop_id: 'series.shop_id',
  series_id: 'series.series_id',
  created_at: 'started.created_at',
  status: 'series.status',
  ends_at: `least((series.terms->>'endsAt')::timestamptz, (series.terms->'card'->>'endsAt')::timestamptz)`,
  root_kind: `series.terms->>'kind'`,
  root_of: `series.terms->'root'->>'invoiceId'`,
  root_id: `series.terms->'root'->>'paymentId'`,
} as const;

/** `offset 0` keeps each look-up apart: without statistics of a new table, PostgreSQL would rather read all of it. */
const customerOf = 'lateral (select * from customer where customer_id = changed.id offset 0) as customer';

const copiesOfCustomers = [
  copyTo('search_customer', { columns: searchedOfCustomer, from: customerOf, key: 'customer_id' }),
  copyTo('search_binding', {
    columns: searchedOfBinding,
    from: `${customerOf}
      cross join lateral (select * from binding where customer_id = changed.id offset 0) as binding`,
    key: 'customer_id, binding_id',
  }),
];

const copyOfSeries = copyTo('search_series', {
  columns: searchedOfSeries,
  from: `lateral (select * from series where series_id = changed.id offset 0) as series
      cross join lateral (
        select created_at from event where aggregate_id = changed.id and sequence = 1 offset 0
      ) as started`,
  key: 'series_id',
});

export type Changed = { readonly customerIds: readonly string[]; readonly seriesIds: readonly string[] };

/** As they are now. A repeat changes nothing. */
export async function copyToLists(tx: Database, { customerIds, seriesIds }: Changed): Promise<void> {
  if (customerIds.length > 0) for (const copy of copiesOfCustomers) await tx.run(copy, { ids: customerIds });
  if (seriesIds.length > 0) await tx.run(copyOfSeries, { ids: seriesIds });
}
