// Why payments were declined, and how many attempts were approved.
import { Type } from 'typebox';
import {
  merchantError,
  type PaymentFailure,
} from '../../../acquiring/authorisation/domain/payment-failure.ts';
import { SubError } from '../../../payments/api/schema.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { defined } from '../../../defined.ts';
import { paymentSums } from '../../sums/sums.store.ts';
import { isOwnParty } from '../shop-filter.ts';
import { summed, sumErrors, SumMinor, SumQuery, sumsOf, type SumDeps } from './sums-schema.ts';
import { isDeclined, percentsBy, totalsBy } from './totals.ts';

const sums = {
  access: { scope: 'payments:read' },
  method: 'GET',
  tag: 'Analytics',
  query: Type.Object(SumQuery),
  status: 200,
  errors: sumErrors,
  isOwnParty,
} as const;

export const getPaymentsErrorDistribution = endpoint({
  ...sums,
  operation: 'getPaymentsErrorDistribution',
  path: '/v2/analytics/payments/errors',
  summary: 'Get the share of each error',
  description: 'Of failed payments.',
  response: sumsOf(
    Type.Object(
      { error: Type.String(), percents: Type.Number() },
      { title: 'PaymentsErrorsDistributionResult' },
    ),
  ),
  handle: (request, deps: SumDeps) =>
    summed(deps, request, paymentSums.byFailure, (rows) =>
      percentsBy(rows, ({ failure }) => failure.split(':')[0] ?? '').map(({ key, percents }) => ({
        error: key,
        percents,
      })),
    ),
});

export const getPaymentsSubErrorDistribution = endpoint({
  ...sums,
  operation: 'getPaymentsSubErrorDistribution',
  path: '/v2/analytics/payments/sub-errors',
  summary: 'Get the share of each error with its details',
  description: 'Of failed payments.',
  response: sumsOf(
    Type.Object(
      { error: SubError, percents: Type.Number() },
      { title: 'PaymentsSubErrorsDistributionResult' },
    ),
  ),
  handle: (request, deps: SumDeps) =>
    summed(deps, request, paymentSums.byFailure, (rows) =>
      percentsBy(rows, ({ failure }) => failure).map(({ key, percents }) => ({
        error: merchantError(key.split(':') as unknown as PaymentFailure),
        percents,
      })),
    ),
});

export const getPaymentsDeclines = endpoint({
  ...sums,
  operation: 'getPaymentsDeclines',
  path: '/v2/analytics/payments/declines',
  summary: 'Count declines by class and code',
  description: 'Of failed payments. `code` is the word of the bank, if it said one.',
  response: sumsOf(
    Type.Object(
      {
        declineClass: Type.Optional(Type.String()),
        code: Type.Optional(Type.String()),
        currency: Type.String(),
        count: Type.Integer(),
        amount: SumMinor,
      },
      { title: 'DeclinesResult' },
    ),
  ),
  handle: (request, deps: SumDeps) =>
    summed(deps, request, paymentSums.byFailure, (rows) =>
      totalsBy(rows, (row) => JSON.stringify([row.currency, row.decline_class, row.bank_code]))
        .toSorted((one, other) => Number(other.count - one.count))
        .map(({ key, count, minor }) => {
          const [currency, declineClass, code] = JSON.parse(key) as [string, string, string];
          return {
            ...defined({ declineClass: declineClass || undefined, code: code || undefined }),
            currency,
            count: Number(count),
            amount: minor,
          };
        }),
    ),
});

const approvedStatuses = ['processed', 'captured', 'refunded', 'cancelled'];

export const getPaymentsAttempts = endpoint({
  ...sums,
  operation: 'getPaymentsAttempts',
  path: '/v2/analytics/payments/attempts',
  summary: 'Count approvals and declines by attempt',
  description:
    'Attempt 0 has the payer present, 1 is the first recurring charge of a period, from 2 on it is retried.',
  response: sumsOf(
    Type.Object(
      {
        attempt: Type.Integer(),
        currency: Type.String(),
        count: Type.Integer(),
        approved: Type.Integer({ description: 'Including those cancelled later.' }),
        declined: Type.Integer({ description: 'By a bank, so with a `declineClass`.' }),
        amount: { ...SumMinor, description: 'Of those approved.' },
      },
      { title: 'AttemptsResult' },
    ),
  ),
  handle: (request, deps: SumDeps) =>
    summed(deps, request, paymentSums.byAttempt, (rows) =>
      totalsBy(rows, ({ currency, attempt }) => `${currency} ${attempt}`).map(({ key, count }) => {
        const [currency = '', attempt] = key.split(' ');
        const same = rows.filter((row) => row.currency === currency && row.attempt === Number(attempt));
        const [approved] = totalsBy(
          same.filter(({ status }) => approvedStatuses.includes(status)),
          () => '',
        );
        const [declined] = totalsBy(same.filter(isDeclined), () => '');
        return {
          attempt: Number(attempt),
          currency,
          count: Number(count),
          approved: Number(approved?.count ?? 0),
          declined: Number(declined?.count ?? 0),
          amount: approved?.minor ?? 0n,
        };
      }),
    ),
});
