// How many payments there were, how much they took, and by which networks.
import { Type } from 'typebox';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { paymentSums } from '../../sums/sums.store.ts';
import { isOwnParty } from '../shop-filter.ts';
import { Amounts, summed, sumErrors, SumQuery, sumsOf, type SumDeps } from './sums-schema.ts';
import { percentsBy, totalsBy } from './totals.ts';

const sums = {
  access: { scope: 'payments:read' },
  method: 'GET',
  tag: 'Analytics',
  query: Type.Object(SumQuery),
  status: 200,
  errors: sumErrors,
  isOwnParty,
} as const;
const isTaken = ({ status }: { readonly status: string }) => ['captured', 'refunded'].includes(status);

export const getPaymentsAmount = endpoint({
  ...sums,
  operation: 'getPaymentsAmount',
  path: '/v2/analytics/payments/amount',
  summary: 'Sum what payments have captured',
  description: 'By currency, before refunds.',
  response: sumsOf(Amounts),
  handle: (request, deps: SumDeps) =>
    summed(deps, request, paymentSums.byStatus, (rows) =>
      totalsBy(rows.filter(isTaken), ({ currency }) => currency).map(({ key, minor }) => ({
        currency: key,
        amount: minor,
      })),
    ),
});

export const getAveragePayment = endpoint({
  ...sums,
  operation: 'getAveragePayment',
  path: '/v2/analytics/payments/average',
  summary: 'Get the average captured amount',
  description: 'By currency, before refunds, rounded to minor units.',
  response: sumsOf(Amounts),
  handle: (request, deps: SumDeps) =>
    summed(deps, request, paymentSums.byStatus, (rows) =>
      totalsBy(rows.filter(isTaken), ({ currency }) => currency).map(({ key, minor, count }) => ({
        currency: key,
        amount: (2n * minor + count) / (2n * count),
      })),
    ),
});

export const getPaymentsCount = endpoint({
  ...sums,
  operation: 'getPaymentsCount',
  path: '/v2/analytics/payments/count',
  summary: 'Count payments',
  description: 'By currency, in any status.',
  response: sumsOf(Type.Object({ count: Type.Integer(), currency: Type.String() }, { title: 'CountResult' })),
  handle: (request, deps: SumDeps) =>
    summed(deps, request, paymentSums.byStatus, (rows) =>
      totalsBy(rows, ({ currency }) => currency).map(({ key, count }) => ({
        currency: key,
        count: Number(count),
      })),
    ),
});

export const getPaymentsToolDistribution = endpoint({
  ...sums,
  operation: 'getPaymentsToolDistribution',
  path: '/v2/analytics/payments-tool',
  summary: 'Get the share of each card network',
  description: 'Of all payments, in any status.',
  response: sumsOf(
    Type.Object(
      { name: Type.String(), percents: Type.Number() },
      { title: 'PaymentsToolDistributionResult' },
    ),
  ),
  handle: (request, deps: SumDeps) =>
    summed(deps, request, paymentSums.bySystem, (rows) =>
      percentsBy(rows, ({ payment_system }) => payment_system || 'unknown').map(({ key, percents }) => ({
        name: key,
        percents,
      })),
    ),
});
