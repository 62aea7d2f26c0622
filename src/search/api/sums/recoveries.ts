// How many retries of subscriptions were approved.
import { Type } from 'typebox';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { intervalOf } from '../../domain/interval.ts';
import { readRecoveries, recoveryKeys, type RecoveryKey } from '../../sums/recoveries.store.ts';
import { isOwnParty } from '../shop-filter.ts';
import { recoveredOf, sumErrors, SumQuery, sumsOf, type SumDeps } from './sums-schema.ts';

const keys = Object.keys(recoveryKeys) as RecoveryKey[];
const percent = (share: number) => Math.round(share * 10_000) / 100;

export const getRecoveries = endpoint({
  operation: 'getRecoveries',
  access: { scope: 'payments:read' },
  method: 'GET',
  path: '/v2/analytics/payments/recoveries',
  tag: 'Analytics',
  summary: 'Count the retries of subscriptions',
  query: Type.Object({ ...SumQuery, by: Type.Enum(keys) }),
  status: 200,
  response: sumsOf(
    Type.Object(
      {
        value: Type.String(),
        count: Type.Integer(),
        recovered: Type.Integer(),
        percents: Type.Number(),
        atLeast: Type.Number(),
        atMost: Type.Number(),
      },
      { title: 'RecoveriesResult' },
    ),
  ),
  errors: sumErrors,
  isOwnParty,
  handle: (request, deps: SumDeps) => {
    const { by } = request.query;
    return recoveredOf(
      deps,
      request,
      (asked) => readRecoveries(deps.db, { ...asked, by }),
      (rows) =>
        rows.map(({ value, n, recovered }) => {
          const [count, hits] = [Number(n), Number(recovered)];
          const { from, until } = intervalOf(hits, count);
          return {
            value,
            count,
            recovered: hits,
            percents: percent(hits / count),
            atLeast: percent(from),
            atMost: percent(until),
          };
        }),
    );
  },
});
