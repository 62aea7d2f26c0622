// How much was paid out.
import { Type } from 'typebox';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { payoutSums } from '../../sums/sums.store.ts';
import { isOwnParty } from '../shop-filter.ts';
import { PartySumQuery, SumMinor, summedOfParty, sumsOf, type SumDeps } from './sums-schema.ts';

export const getPayoutSums = endpoint({
  operation: 'getPayoutSums',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/v2/analytics/payouts',
  tag: 'Analytics',
  summary: 'Sum payouts by status',
  query: Type.Object(PartySumQuery),
  status: 200,
  response: sumsOf(
    Type.Object(
      { status: Type.String(), currency: Type.String(), count: Type.Integer(), amount: SumMinor },
      { title: 'PayoutsResult' },
    ),
  ),
  errors: ['searchTooWide'],
  isOwnParty,
  handle: (request, deps: Pick<SumDeps, 'db' | 'payouts' | 'searchTurns'>) =>
    summedOfParty(deps, request, payoutSums, (rows) =>
      rows.map(({ status, currency, n, amount_minor }) => ({
        status: publicStatus[status] ?? status,
        currency,
        count: Number(n),
        amount: amount_minor,
      })),
    ),
});

const publicStatus: Readonly<Record<string, string>> = {
  sending: 'Pending',
  succeeded: 'Succeeded',
  failed: 'Failed',
};
