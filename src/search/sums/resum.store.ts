// Sums the rows of searches again, a day of a shop at a time at most, as the end of a rebuild.
import type { Instant } from '../../clock.ts';
import { instant, object, text, type Codec } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import { columnsOf, quarterOf, sumKey, summedPayments, summedPayouts, summedRefunds } from './summed.ts';

/** Everything before it is summed, in the order of parties, shops and days. */
export type ResumFrom = { readonly partyId: string; readonly shopId: string; readonly at: Instant };
export const resumFrom: Codec<ResumFrom> = object({ partyId: text, shopId: text, at: instant });
export const resumStart: ResumFrom = {
  partyId: '',
  shopId: '',
  at: '0001-01-01T00:00:00.000000Z' as Instant,
};

const place = { party_id: 'text', shop_id: 'text', from: 'timestamptz' } as const;

const firstOf = (table: string) => `
      (select party_id, shop_id, created_at from ${table}
       where (party_id, shop_id, created_at) >= (:party_id, :shop_id, :from)
       order by party_id, shop_id, created_at limit 1)`;

/** To the end of the day, or of the quarter of an hour that has the first payment or payout too many. */
const findNextDay = statement({
  name: 'find_next_day_to_sum',
  parameters: { ...place, most_payments: 'int4' },
  row: { party_id: 'text', shop_id: 'text', start: 'timestamptz', until: 'timestamptz' },
  text: `
    select party_id, shop_id, ${quarterOf('created_at')} as start,
      coalesce((
        select ${quarterOf('payment.created_at')} + interval '15 minutes' from search_payment as payment
        where payment.party_id = first.party_id and payment.shop_id = first.shop_id
          and payment.created_at >= first.created_at and payment.created_at < day_after
        order by payment.created_at limit 1 offset :most_payments
      ), (
        select ${quarterOf('payout.created_at')} + interval '15 minutes' from search_payout as payout
        where payout.party_id = first.party_id and payout.shop_id = first.shop_id
          and payout.created_at >= first.created_at and payout.created_at < day_after
        order by payout.created_at limit 1 offset :most_payments
      ), day_after) as until
    from (${firstOf('search_payment')}
      union all ${firstOf('search_refund')}
      union all ${firstOf('search_payout')}
    ) as first cross join lateral (select date_trunc('day', created_at, 'UTC') + interval '24 hours' as day_after) as day
    order by party_id, shop_id, created_at limit 1`,
});

/** Also of days that have nothing to sum. */
const deleteSums = statement({
  name: 'delete_sums',
  parameters: { ...place, until_party: 'text?', until_shop: 'text?', until: 'timestamptz?' },
  row: {},
  text: `delete from search_sum where (party_id, shop_id, quarter) >= (:party_id, :shop_id, :from)
           and (:until is null or (party_id, shop_id, quarter) < (:until_party, :until_shop, :until))`,
});

const rowsOfDay = (table: string) => `from ${table}
        where party_id = :party_id and shop_id = :shop_id and created_at >= :start and created_at < :until
          and currency is not null`;

const sumDay = statement({
  name: 'sum_day',
  parameters: { party_id: 'text', shop_id: 'text', start: 'timestamptz', until: 'timestamptz' },
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

/** Deltas follow from then on, so they are right again whatever they were. */
const remakeCoarseSums = statement({
  name: 'remake_coarse_sums',
  parameters: {},
  row: {},
  text: 'select from remake_coarse_sums()',
});

/** A day of a shop, or a part of one with very many payments. Returns where the next call begins; null when all is summed. */
export async function sumNextDay(
  tx: Database,
  after: ResumFrom,
  mostPayments = 100_000,
): Promise<ResumFrom | null> {
  if (after.at === resumStart.at) await tx.run(remakeCoarseSums, {});
  const from = { party_id: after.partyId, shop_id: after.shopId, from: after.at };
  const [next] = await tx.run(findNextDay, { ...from, most_payments: mostPayments });
  await tx.run(deleteSums, {
    ...from,
    until_party: next?.party_id ?? null,
    until_shop: next?.shop_id ?? null,
    until: next?.until ?? null,
  });
  if (!next) return null;
  await tx.run(sumDay, next);
  return { partyId: next.party_id, shopId: next.shop_id, at: next.until };
}
