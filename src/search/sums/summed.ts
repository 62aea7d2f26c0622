// What payments, refunds and payouts are summed by, as columns of a query over their search rows, named as those of search_sum. A part of a
// statement moves rows from sum to sum.
import { modeName } from '../../livemode.ts';
import { publicStatusOf } from '../../payments/store/searched.ts';

export type Summed = Readonly<Record<(typeof sumKeys)[number], string>>;

const sumKeys = [
  'party_id',
  'shop_id',
  'quarter',
  'what',
  'currency',
  'status',
  'attempt',
  'payment_system',
  'decline_class',
  'failure',
  'bank_code',
] as const;
export const sumKey = sumKeys.join(', ');
/** After party, shop and time: hours are summed by less. */
export const keysOfHours: readonly string[] = ['what', 'currency', 'status', 'decline_class'];
export const keysOfDays: readonly string[] = sumKeys.slice(3);

export function quarterOf(time: string): string {
  return `date_bin('15 minutes', ${time}, '2000-01-01T00:00:00Z')`;
}

const ofAll = {
  party_id: 'party_id',
  shop_id: 'shop_id',
  quarter: quarterOf('created_at'),
  currency: 'currency',
};
export const summedPayments: Summed = {
  ...ofAll,
  what: `'payment'`,
  status: publicStatusOf('status'),
  attempt: 'attempt',
  payment_system: `coalesce(payment_system, '')`,
  decline_class: `coalesce(decline_class, '')`,
  failure: `coalesce(failure, '')`,
  bank_code: `coalesce(bank_code, '')`,
};
const undivided = {
  status: 'status',
  attempt: '0',
  payment_system: `''`,
  decline_class: `''`,
  failure: `''`,
  bank_code: `''`,
};
export const summedRefunds: Summed = { ...ofAll, what: `'refund'`, ...undivided };
export const summedPayouts: Summed = { ...ofAll, what: `'payout'`, ...undivided };
/** In the column of the shop, because a payout is of a party. One without a mode failed before payouts had one, and is of either. */
export const payoutsOf = (livemode: boolean) => ['-', `-${modeName(livemode)}`];

export function columnsOf(sums: Summed): string {
  return sumKeys.map((name) => `${sums[name]} as ${name}`).join(', ');
}

/** After the rows `fresh`: adds these to the sums, and takes away what they replace. Rows of an older release are not in any sum. */
export function moveSums({ table, key, sums }: { table: string; key: string; sums: Summed }): string {
  const same = ['party_id', ...key.split(', ')].map((name) => `${table}.${name} = fresh.${name}`);
  return `, changed as (
      select ${columnsOf(sums)}, amount_minor, 1 as sign from fresh
      union all
      select ${columnsOf(sums)}, amount_minor, -1 from (
        select before.* from fresh cross join lateral (
          select * from ${table} where ${same.join(' and ')} offset 0
        ) as before where before.currency is not null
      ) as before
    )
    insert into search_sum as kept (${sumKey}, amount_minor, n)
    select ${sumKey}, sum(sign * amount_minor), sum(sign) from changed
    group by ${sumKey} having sum(sign * amount_minor) <> 0 or sum(sign) <> 0
    on conflict (${sumKey}) do update
    set amount_minor = kept.amount_minor + excluded.amount_minor, n = kept.n + excluded.n`;
}
