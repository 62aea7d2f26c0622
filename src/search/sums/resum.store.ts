// Sums the rows of searches again, a day of a shop at a time at most, as the end of a rebuild.
import type { Instant } from '../../clock.ts';
import { instant, object, text, type Codec } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import {
  columnsOf,
  keysOfDays,
  keysOfHours,
  quarterOf,
  sumKey,
  summedPayments,
  summedPayouts,
  summedRefunds,
} from './summed.ts';

/** Everything before it is summed, in the order of parties, shops and days. */
export type ResumFrom = { readonly partyId: string; readonly shopId: string; readonly at: Instant };
export const resumFrom: Codec<ResumFrom> = object({ partyId: text, shopId: text, at: instant });
export const resumStart: ResumFrom = {
  partyId: '',
  shopId: '',
  at: '0001-01-01T00:00:00.000000Z' as Instant,
};

const place = { party_id: 'text', shop_id: 'text', from: 'timestamptz' } as const;

const firstOf = (table: string, time = 'created_at') => `
      (select party_id, shop_id, ${time} as at from ${table}
       where (party_id, shop_id, ${time}) >= (:party_id, :shop_id, :from)
       order by party_id, shop_id, ${time} limit 1)`;

/**
 * The next day that has anything to sum, or sums. To its end, or to that of the quarter of an hour that has the first payment or payout
 * too many.
 */
const findNextDay = statement({
  name: 'find_next_day_to_sum',
  parameters: { ...place, most_payments: 'int4' },
  row: { party_id: 'text', shop_id: 'text', start: 'timestamptz', until: 'timestamptz', day: 'timestamptz' },
  text: `
    select party_id, shop_id, ${quarterOf('at')} as start,
      coalesce((
        select ${quarterOf('payment.created_at')} + interval '15 minutes' from search_payment as payment
        where payment.party_id = first.party_id and payment.shop_id = first.shop_id
          and payment.created_at >= first.at and payment.created_at < day + interval '24 hours'
        order by payment.created_at limit 1 offset :most_payments
      ), (
        select ${quarterOf('payout.created_at')} + interval '15 minutes' from search_payout as payout
        where payout.party_id = first.party_id and payout.shop_id = first.shop_id
          and payout.created_at >= first.at and payout.created_at < day + interval '24 hours'
        order by payout.created_at limit 1 offset :most_payments
      ), day + interval '24 hours') as until,
      day
    from (${firstOf('search_payment')}
      union all ${firstOf('search_refund')}
      union all ${firstOf('search_payout')}
      union all ${firstOf('search_sum', 'quarter')}
      union all ${firstOf('search_hour_sum', 'hour')}
      union all ${firstOf('search_day_sum', 'day')}
    ) as first cross join lateral (select date_trunc('day', at, 'UTC') as day) as of_day
    order by party_id, shop_id, at limit 1`,
});

const ofShop = { party_id: 'text', shop_id: 'text' } as const;
const part = { ...ofShop, start: 'timestamptz', until: 'timestamptz' } as const;

const deleteSums = statement({
  name: 'delete_sums',
  parameters: part,
  row: {},
  text: `delete from search_sum
         where party_id = :party_id and shop_id = :shop_id and quarter >= :start and quarter < :until`,
});

const rowsOfDay = (table: string) => `from ${table}
        where party_id = :party_id and shop_id = :shop_id and created_at >= :start and created_at < :until
          and currency is not null`;

const sumDay = statement({
  name: 'sum_day',
  parameters: part,
  row: {},
  text: `
    insert into search_sum (${sumKey}, amount_minor, n)
    select ${sumKey}, sum(amount_minor), count(*)
    from (
      select ${columnsOf(summedPayments)}, amount_minor
      ${rowsOfDay('search_payment')}
      union all
      select ${columnsOf(summedRefunds)}, amount_minor
      ${rowsOfDay('search_refund')}
      union all
      select ${columnsOf(summedPayouts)}, amount_minor
      ${rowsOfDay('search_payout')}
    ) as summed
    group by ${sumKey}`,
});

const inDay = (time: string) =>
  `party_id = :party_id and shop_id = :shop_id and ${time} >= :day and ${time} < :day + interval '24 hours'`;

/** Hours or a day, of the sums of quarters as they are now. Deltas follow from then on. */
function remade({ table, unit, key }: { table: string; unit: 'hour' | 'day'; key: readonly string[] }) {
  const parameters = { ...ofShop, day: 'timestamptz' } as const;
  return [
    statement({
      name: `delete_${unit}_sums`,
      parameters,
      row: {},
      text: `delete from ${table} where ${inDay(unit)}`,
    }),
    statement({
      name: `make_${unit}_sums`,
      parameters,
      row: {},
      text: `
    insert into ${table} (party_id, shop_id, ${unit}, ${key.join(', ')}, amount_minor, n)
    select party_id, shop_id, date_trunc('${unit}', quarter, 'UTC') as ${unit}, ${key.join(', ')}, sum(amount_minor), sum(n)
    from search_sum where ${inDay('quarter')}
    group by party_id, shop_id, ${unit}, ${key.join(', ')}`,
    }),
  ];
}

const remakings = [
  ...remade({ table: 'search_hour_sum', unit: 'hour', key: keysOfHours }),
  ...remade({ table: 'search_day_sum', unit: 'day', key: keysOfDays }),
];

/** A day of a shop, or a part of one with very many payments. Returns where the next call begins; null when all is summed. */
export async function sumNextDay(
  tx: Database,
  after: ResumFrom,
  mostPayments = 100_000,
): Promise<ResumFrom | null> {
  const [next] = await tx.run(findNextDay, {
    party_id: after.partyId,
    shop_id: after.shopId,
    from: after.at,
    most_payments: mostPayments,
  });
  if (!next) return null;
  const { day, ...quarters } = next;
  await tx.run(deleteSums, quarters);
  await tx.run(sumDay, quarters);
  for (const remaking of remakings)
    await tx.run(remaking, { party_id: next.party_id, shop_id: next.shop_id, day });
  return { partyId: next.party_id, shopId: next.shop_id, at: next.until };
}
