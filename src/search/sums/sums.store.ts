// Reads sums of payments, refunds and payouts over a range of time. Whole quarters of an hour are summed already; what is before and after
// them is counted row by row.
import { epochMsOf, instantAt, laterBy, type Instant } from '../../clock.ts';
import { list, text } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  statement,
  stored,
  type Columns,
  type Statement,
  type Values,
} from '../../platform/database/statement.ts';
import type { Range } from '../domain/splits.ts';
import { withinTime } from '../searches.store.ts';
import { summedPayments, summedPayouts, summedRefunds, type Summed } from './summed.ts';

const asked = {
  party_id: 'text',
  shop_ids: stored('json', list(text)),
  from: 'timestamptz',
  inner_from: 'timestamptz',
  inner_to: 'timestamptz',
  to: 'timestamptz',
  /** Where the parts of the range begin. */
  starts: stored('json', list(text)),
} as const;

export type SumStatement<Row extends Columns> = Statement<typeof asked, Row>;

type GroupedBy = Readonly<Partial<Record<keyof Summed, 'text' | 'int4'>>>;
const totals = { part: 'int4', currency: 'text', n: 'int8', amount_minor: 'int8' } as const;

function sumsBy<const Group extends GroupedBy>(
  name: string,
  group: Group,
  { table, sums, where = '' }: { table: string; sums: Summed; where?: string },
) {
  const columns = ['currency', ...Object.keys(group)] as (keyof Summed)[];
  const names = columns.join(', ');
  const rows = (range: string) => `
      select created_at, ${columns.map((column) => `${sums[column]} as ${column}`).join(', ')}, 1, amount_minor from ${table}
      where party_id = :party_id and ${sums.shop_id} = any(array(select json_array_elements_text(:shop_ids))) and ${range}
        and currency is not null`;
  return statement({
    name,
    parameters: asked,
    row: { ...totals, ...group },
    text: `
    select width_bucket(at, array(select start::timestamptz from json_array_elements_text(:starts) as start order by 1)) as part,
      ${names}, sum(n)::int8 as n, sum(amount_minor)::int8 as amount_minor
    from (
      select quarter as at, ${names}, n, amount_minor from search_sum
      where party_id = :party_id and shop_id = any(array(select json_array_elements_text(:shop_ids)))
        and quarter >= :inner_from and quarter < :inner_to and what = ${sums.what}
      union all ${rows('created_at >= :from and created_at < :inner_from')}
      union all ${rows('created_at >= :inner_to and created_at < :to')}
    ) as summed ${where}
    group by part, ${names} having sum(n) <> 0
    order by part, ${names}`,
  });
}

const payments = { table: 'search_payment', sums: summedPayments };
export const paymentSums = {
  byStatus: sumsBy('sum_payments_by_status', { status: 'text', decline_class: 'text' }, payments),
  byAttempt: sumsBy(
    'sum_payments_by_attempt',
    { attempt: 'int4', status: 'text', decline_class: 'text' },
    payments,
  ),
  bySystem: sumsBy('sum_payments_by_system', { payment_system: 'text' }, payments),
  byFailure: sumsBy(
    'sum_payments_by_failure',
    { status: 'text', decline_class: 'text', failure: 'text', bank_code: 'text' },
    { ...payments, where: `where status = 'failed'` },
  ),
};
export const refundSums = sumsBy(
  'sum_refunds_by_status',
  { status: 'text' },
  { table: 'search_refund', sums: summedRefunds },
);

export const payoutSums = sumsBy(
  'sum_payouts_by_status',
  { status: 'text' },
  { table: 'search_payout', sums: summedPayouts },
);

const quarterMs = 900_000;

type Wanted = {
  readonly partyId: string;
  readonly shopIds: readonly string[];
  readonly range: Range;
  readonly starts: readonly Instant[];
  /** For parts that are shorter than a quarter of an hour. */
  readonly isFine: boolean;
};

/** Undefined if it takes too long. */
export function readSums<Row extends Columns>(
  db: Database,
  sums: SumStatement<Row>,
  { partyId, shopIds, range, starts, isFine }: Wanted,
): Promise<Values<Row>[] | undefined> {
  const [first, last] = [quarterOf(range.from), quarterOf(range.to)];
  const innerFrom = first < range.from ? laterBy(first, quarterMs) : first;
  const [inner_from, inner_to] = !isFine && innerFrom < last ? [innerFrom, last] : [range.to, range.to];
  return withinTime(db, 1, (tx) =>
    tx.run(sums, {
      party_id: partyId,
      shop_ids: shopIds,
      ...range,
      inner_from,
      inner_to,
      starts,
    }),
  );
}

/** The start of its quarter of an hour. */
function quarterOf(instant: Instant): Instant {
  return instantAt(Math.floor(epochMsOf(instant) / quarterMs) * quarterMs);
}
