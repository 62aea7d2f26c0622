// How much was refunded.
import { Type } from 'typebox';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { refundSums } from '../../sums/sums.store.ts';
import { isOwnParty } from '../shop-filter.ts';
import { Amounts, summed, sumErrors, SumQuery, sumsOf, type SumDeps } from './sums-schema.ts';

export const getRefundsAmount = endpoint({
  operation: 'getRefundsAmount',
  access: { scope: 'payments:read' },
  method: 'GET',
  path: '/v2/analytics/refunds/amount',
  tag: 'Analytics',
  summary: 'Sum succeeded refunds',
  description: 'By currency and by the time of the refund.',
  query: Type.Object(SumQuery),
  status: 200,
  response: sumsOf(Amounts),
  errors: sumErrors,
  isOwnParty,
  handle: (request, deps: SumDeps) =>
    summed(deps, request, refundSums, (rows) =>
      rows
        .filter(({ status }) => status === 'succeeded')
        .map(({ currency, amount_minor }) => ({ currency, amount: amount_minor })),
    ),
});
