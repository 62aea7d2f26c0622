// What the console reads: operations of the API for the party of a session, and what commands print for an operator.
import { bankAnswers } from '../acquiring/bank-answers.ts';
import { bankOverviews } from '../acquiring/bank-overview.ts';
import type { Clock } from '../clock.ts';
import type { OperatorView } from '../console/console-routes.ts';
import { getInvoice } from '../invoices/api/read-invoices.ts';
import { listShops } from '../merchants/api/read-merchants.ts';
import { getPayment, listPayments } from '../payments/api/read-payments.ts';
import { listRefunds } from '../payments/api/read-refunds.ts';
import { getRecurring } from '../payments/api/recurring-of-payment.ts';
import { getWithdrawal, listWithdrawals } from '../payouts/api/read-withdrawals.ts';
import type { Database } from '../platform/database/database.ts';
import type { AnyEndpoint } from '../platform/http/endpoint.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import { searchPayments } from '../search/api/search-payments.ts';
import { getCurrentBalances } from '../search/api/sums/balances.ts';
import { getPaymentsAttempts, getPaymentsDeclines } from '../search/api/sums/payment-outcomes.ts';
import { getPaymentsSplitAmount, getPaymentsSplitCount } from '../search/api/sums/payment-splits.ts';
import { getPayoutSums } from '../search/api/sums/payout-sums.ts';
import { getRecoveries } from '../search/api/sums/recoveries.ts';
import { getRefundsAmount } from '../search/api/sums/refund-sums.ts';
import { getPaymentTimeline } from '../timeline/api/get-payment-timeline.ts';
import { getRecurringTimeline } from '../timeline/api/get-series-timelines.ts';
import { getWithdrawalTimeline } from '../timeline/api/get-withdrawal-timeline.ts';
import { listWebhookAttempts, listWebhookQueues } from '../webhooks/inspection/inspect-webhook.ts';
import { listWebhooks } from '../webhooks/registration/manage-webhooks.ts';
import type { AppContext, PrepareContext } from './app-context.ts';
import type { JobRows } from './job-handlers.ts';

export const consoleEndpoints: readonly AnyEndpoint<AppContext, PrepareContext>[] = [
  listShops,
  getPaymentsSplitCount,
  getPaymentsSplitAmount,
  getPaymentsAttempts,
  getPaymentsDeclines,
  getRecoveries,
  getRefundsAmount,
  getPayoutSums,
  getCurrentBalances,
  searchPayments,
  getInvoice,
  listPayments,
  getPayment,
  getPaymentTimeline,
  listRefunds,
  getRecurring,
  getRecurringTimeline,
  listWithdrawals,
  getWithdrawal,
  getWithdrawalTimeline,
  listWebhooks,
  listWebhookQueues,
  listWebhookAttempts,
];

export function operatorViews(deps: {
  readonly database: Database;
  readonly clock: Clock;
  readonly jobs: Pick<JobRunner<JobRows>, 'stuckJobs' | 'failingJobs'>;
}): readonly OperatorView[] {
  const { database, clock, jobs } = deps;
  return [
    { name: 'stuck-jobs', read: () => jobs.stuckJobs() },
    { name: 'failing-jobs', read: () => jobs.failingJobs() },
    { name: 'banks', read: () => bankOverviews(database, clock.now()) },
    { name: 'bank-answers', read: () => bankAnswers(database, clock.now()) },
  ];
}
