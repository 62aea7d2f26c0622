// Payments over time, in parts of the shop's calendar. Every part of the range is there, also an empty one.
import { Type } from 'typebox';
import { epochMsOf, type Instant } from '../../../clock.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { splitUnits } from '../../domain/splits.ts';
import { paymentSums } from '../../sums/sums.store.ts';
import { isOwnParty } from '../shop-filter.ts';
import { splitsOf, splitSums, SplitQuery, sumErrors, SumMinor, type SumDeps } from './sums-schema.ts';
import { isDeclined, totalsBy } from './totals.ts';

const partStart = Type.Integer({ description: 'When the part begins, in milliseconds since 1970.' });
const offsetCounts = Type.Array(Type.Object({ offset: partStart, count: Type.Integer() }));
const split = { splitUnit: Type.Enum([...splitUnits]), currency: Type.String() };
const splits = {
  access: { scope: 'payments:read' },
  method: 'GET',
  tag: 'Analytics',
  query: Type.Object(SplitQuery),
  status: 200,
  errors: sumErrors,
  isOwnParty,
} as const;

type Row = {
  readonly part: number;
  readonly currency: string;
  readonly status: string;
  readonly decline_class: string;
  readonly n: bigint;
  readonly amount_minor: bigint;
};

function partsOf(rows: readonly Row[], starts: readonly Instant[]) {
  const totals = new Map(totalsBy(rows, ({ part }) => String(part)).map((total) => [total.key, total]));
  return starts.map((start, index) => {
    const total = totals.get(String(index + 1));
    return { offset: epochMsOf(start), count: Number(total?.count ?? 0), amount: total?.minor ?? 0n };
  });
}

const countsOf = (rows: readonly Row[], starts: readonly Instant[]) =>
  partsOf(rows, starts).map(({ offset, count }) => ({ offset, count }));

const valuesOf = (rows: readonly Row[], of: 'currency' | 'status') =>
  [...new Set(rows.map((row) => row[of]))].toSorted();

export const getPaymentsSplitAmount = endpoint({
  ...splits,
  operation: 'getPaymentsSplitAmount',
  path: '/v2/analytics/payments/split-amount',
  summary: 'Sum what payments have captured, over time',
  response: splitsOf(
    Type.Object(
      { ...split, offsetAmounts: Type.Array(Type.Object({ offset: partStart, amount: SumMinor })) },
      { title: 'SplitAmountResult' },
    ),
  ),
  handle: (request, deps: SumDeps) =>
    splitSums(deps, request, paymentSums.byStatus, (rows, starts) => {
      const taken = rows.filter(({ status }) => status === 'captured' || status === 'refunded');
      return valuesOf(taken, 'currency').map((currency) => ({
        splitUnit: request.query.splitUnit,
        currency,
        offsetAmounts: partsOf(
          taken.filter((row) => row.currency === currency),
          starts,
        ).map(({ offset, amount }) => ({ offset, amount })),
      }));
    }),
});

export const getPaymentsSplitCount = endpoint({
  ...splits,
  operation: 'getPaymentsSplitCount',
  path: '/v2/analytics/payments/split-count',
  summary: 'Count payments over time',
  response: splitsOf(
    Type.Object(
      {
        ...split,
        statusOffsetCounts: Type.Array(Type.Object({ status: Type.String(), offsetCount: offsetCounts })),
        declinedOffsetCount: { ...offsetCounts, description: 'Of `failed`, those that a bank declined.' },
      },
      { title: 'SplitCountResult' },
    ),
  ),
  handle: (request, deps: SumDeps) =>
    splitSums(deps, request, paymentSums.byStatus, (rows, starts) =>
      valuesOf(rows, 'currency').map((currency) => {
        const same = rows.filter((row) => row.currency === currency);
        return {
          splitUnit: request.query.splitUnit,
          currency,
          statusOffsetCounts: valuesOf(same, 'status').map((status) => ({
            status,
            offsetCount: countsOf(
              same.filter((row) => row.status === status),
              starts,
            ),
          })),
          declinedOffsetCount: countsOf(same.filter(isDeclined), starts),
        };
      }),
    ),
});
