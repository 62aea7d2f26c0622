// Reads sums of payments, refunds and payouts over a range of time. Whole days, hours and quarters of an hour are summed already; what
// is before and after them is counted row by row.
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
import { keysOfHours, summedPayments, summedPayouts, summedRefunds, type Summed } from './summed.ts';

const asked = {
  party_id: 'text',
  shop_ids: stored('json', list(text)),
  from: 'timestamptz',
  inner_from: 'timestamptz',
  coarse_from: 'timestamptz',
  coarse_to: 'timestamptz',
  inner_to: 'timestamptz',
  to: 'timestamptz',
  /** Where the parts of the range begin. */
  starts: stored('json', list(text)),
} as const;

const hourMs = 3_600_000;
const hours = { table: 'search_hour_sum', start: 'hour', lengthMs: hourMs } as const;
const days = { table: 'search_day_sum', start: 'day', lengthMs: 24 * hourMs } as const;

export type SumStatement<Row extends Columns> = {
  readonly statement: Statement<typeof asked, Row>;
  readonly coarse: typeof hours | typeof days;
};

type GroupedBy = Readonly<Partial<Record<keyof Summed, 'text' | 'int4'>>>;
const totals = { part: 'int4', currency: 'text', n: 'int8', amount_minor: 'int8' } as const;

function sumsBy<const Group extends GroupedBy>(
  name: string,
  group: Group,
  { table, sums, where = '' }: { table: string; sums: Summed; where?: string },
): SumStatement<typeof totals & Group> {
  const columns = ['currency', ...Object.keys(group)] as (keyof Summed)[];
  const names = columns.join(', ');
  const coarse = columns.every((column) => keysOfHours.includes(column)) ? hours : days;
  const summedRows = (from: string, start: string, range: readonly [string, string]) => `
      select ${start} as at, ${names}, n, amount_minor from ${from}
      where party_id = :party_id and shop_id = any(array(select json_array_elements_text(:shop_ids)))
        and ${start} >= :${range[0]} and ${start} < :${range[1]} and what = ${sums.what}`;
  const rows = (range: string) => `
      select created_at, ${columns.map((column) => `${sums[column]} as ${column}`).join(', ')}, 1, amount_minor from ${table}
      where party_id = :party_id and ${sums.shop_id} = any(array(select json_array_elements_text(:shop_ids))) and ${range}
        and currency is not null`;
  const read = statement({
    name,
    parameters: asked,
    row: { ...totals, ...group },
    text: `
    select width_bucket(at, array(select start::timestamptz from json_array_elements_text(:starts) as start order by 1)) as part,
      ${names}, sum(n)::int8 as n, sum(amount_minor)::int8 as amount_minor
    from (${summedRows(coarse.table, coarse.start, ['coarse_from', 'coarse_to'])}
      union all ${summedRows('search_sum', 'quarter', ['inner_from', 'coarse_from'])}
      union all ${summedRows('search_sum', 'quarter', ['coarse_to', 'inner_to'])}
      union all ${rows('created_at >= :from and created_at < :inner_from')}
      union all ${rows('created_at >= :inner_to and created_at < :to')}
    ) as summed ${where}
    group by part, ${names} having sum(n) <> 0
    order by part, ${names}`,
  });
  return { statement: read, coarse };
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
  const [inner_from, inner_to] = isFine ? [range.to, range.to] : wholeOf(range, quarterMs);
  const { lengthMs } = sums.coarse;
  // Days of most zones begin within a day of UTC, and a few within an hour.
  const isCoarse = starts.slice(1).every((start) => epochMsOf(start) % lengthMs === 0);
  const inner = { from: inner_from, to: inner_to };
  const [coarse_from, coarse_to] = isCoarse ? wholeOf(inner, lengthMs) : [inner_to, inner_to];
  return withinTime(db, 1, (tx) =>
    tx.run(sums.statement, {
      party_id: partyId,
      shop_ids: shopIds,
      ...range,
      inner_from,
      coarse_from,
      coarse_to,
      inner_to,
      starts,
    }),
  );
}

/** The whole hours, or whatever has this length, that are in the range. Without any, nothing at its end. */
function wholeOf({ from, to }: Range, lengthMs: number): readonly [Instant, Instant] {
  const [first, last] = [startOf(from, lengthMs), startOf(to, lengthMs)];
  const next = first < from ? laterBy(first, lengthMs) : first;
  return next < last ? [next, last] : [to, to];
}

function startOf(instant: Instant, lengthMs: number): Instant {
  return instantAt(Math.floor(epochMsOf(instant) / lengthMs) * lengthMs);
}
