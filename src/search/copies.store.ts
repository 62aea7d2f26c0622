// Copies invoices, their payments and their refunds, and payouts, to the tables that searches and sums read. Only the row of the position
// is locked, so that no payment waits.
import { modeName } from '../livemode.ts';
import { list, text } from '../platform/database/codec.ts';
import type { Database } from '../platform/database/database.ts';
import { statement, stored } from '../platform/database/statement.ts';
import {
  paymentsToSearch,
  refundsToSearch,
  retriesToSearch,
  searchedOfPayment,
  searchedOfRefund,
  searchedOfRetry,
} from '../payments/store/searched.ts';
import { moveSums, summedPayments, summedPayouts, summedRefunds, type Summed } from './sums/summed.ts';

const searchedOfInvoice = {
  party_id: 'invoice.party_id',
  shop_id: 'invoice.shop_id',
  invoice_id: 'invoice.invoice_id',
  created_at: 'invoice.created_at',
  status: 'invoice.status',
  amount_minor: 'invoice.amount_minor',
  external_id: 'invoice.external_id',
} as const;

const searchedOfPayout = {
  party_id: 'withdrawal.party_id',
  // An older withdrawal has the mode in the ID of its account alone.
  shop_id: `concat('-', case when withdrawal.livemode then '${modeName(true)}' when not withdrawal.livemode then '${modeName(false)}'
        else split_part(reserved.debit_account, ':', 1) end)`,
  withdrawal_id: 'withdrawal.withdrawal_id',
  created_at: 'withdrawal.created_at',
  status: 'withdrawal.status',
  amount_minor: 'withdrawal.amount_minor',
  currency: 'withdrawal.currency',
} as const;

type Copied = {
  readonly columns: Readonly<Record<string, string>>;
  readonly from: string;
  /** Follows the party's ID in the primary key. */
  readonly key: string;
  /** What the rows are summed by, if they are. */
  readonly sums?: Summed;
};

/** A row that is right already is not written. */
export function copyTo(table: string, { columns, from, key, sums }: Copied) {
  const names = Object.keys(columns);
  const insert = `
    insert into ${table} as copy (${names.join(', ')})
    select * from fresh order by ${key}
    on conflict (party_id, ${key}) do update
    set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
    where copy.* is distinct from excluded.*`;
  return statement({
    name: `copy_to_${table}`,
    parameters: { ids: stored('json', list(text)) },
    row: {},
    text: `
    with fresh as materialized (
      select ${Object.entries(columns)
        .map(([name, value]) => (value.endsWith(`.${name}`) ? value : `${value} as ${name}`))
        .join(', ')}
      from json_array_elements_text(:ids) as changed (id) cross join ${from}
    )${sums === undefined ? insert : `, copied as (${insert}\n    )${moveSums({ table, key, sums })}`}`,
  });
}

const copiesOfInvoices = [
  copyTo('search_invoice', {
    columns: searchedOfInvoice,
    from: 'lateral (select * from invoice where invoice_id = changed.id offset 0) as invoice',
    key: 'invoice_id',
  }),
  copyTo('search_payment', {
    columns: searchedOfPayment,
    from: paymentsToSearch('changed.id'),
    key: 'invoice_id, payment_id',
    sums: summedPayments,
  }),
  copyTo('search_refund', {
    columns: searchedOfRefund,
    from: refundsToSearch('changed.id'),
    key: 'invoice_id, payment_id, refund_id',
    sums: summedRefunds,
  }),
  copyTo('search_retry', {
    columns: searchedOfRetry,
    from: retriesToSearch('changed.id'),
    key: 'invoice_id, payment_id',
  }),
];

const copyOfPayouts = copyTo('search_payout', {
  columns: searchedOfPayout,
  from: `lateral (select * from withdrawal where withdrawal_id = changed.id offset 0) as withdrawal
      left join lateral (
        select debit_account from ledger_transfer
        where aggregate_id = changed.id and operation_id = 'withdrawal' and step = 'payout' and not completes_pending offset 0
      ) as reserved on true`,
  key: 'withdrawal_id',
  sums: summedPayouts,
});

export type Changed = { readonly invoiceIds: readonly string[]; readonly withdrawalIds: readonly string[] };

/** As they are now. A repeat changes nothing. */
export async function copyChanged(tx: Database, { invoiceIds, withdrawalIds }: Changed): Promise<void> {
  if (invoiceIds.length > 0) for (const copy of copiesOfInvoices) await tx.run(copy, { ids: invoiceIds });
  if (withdrawalIds.length > 0) await tx.run(copyOfPayouts, { ids: withdrawalIds });
}
