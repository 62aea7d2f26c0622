// What operators watch besides counts of requests: values that are read on each scrape of /metrics.
import type { Banks } from '../acquiring/banks.ts';
import { countPausedTerminals } from '../acquiring/store/banks.ts';
import { listHeldCharges } from '../acquiring/store/held-charges.ts';
import { countGuardedShops } from '../cards/payer-attempts.ts';
import { openNotes } from '../acquiring/exchange-log/store/notes.ts';
import { countStoppedBanks } from '../acquiring/exchange-log/store/watched-banks.ts';
import { epochMsOf, type Clock, type Instant } from '../clock.ts';
import { countPendingVerificationRefunds } from '../customers/store/verification-refunds.ts';
import type { DatabasePool } from '../platform/database/database.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import type { Metrics } from '../platform/http/metrics.ts';
import { checkLedger, countUnbalancedAccounts } from '../platform/ledger/check-ledger.ts';
import type { Invariant } from '../platform/ledger/store/invariants.ts';
import type { Logger } from '../platform/log.ts';
import { oldestPendingRefund, oldestUnknownPayment } from '../payments/store/oldest-unknown.ts';
import { oldestSendingWithdrawal } from '../payouts/store/oldest-sending.ts';
import { oldestUnlisted } from '../search/lists/position.store.ts';
import { oldestUnseen } from '../search/position.store.ts';
import { countWaitingSubscriptions, dueSubscriptions } from '../subscriptions/store/subscriptions.ts';
import { feedState } from '../webhooks/feed/feed.store.ts';
import { lags, parkedQueues } from '../webhooks/inspection/inspection.store.ts';

const maxWebhooksInMetrics = 20;

type Deps = {
  readonly database: DatabasePool;
  readonly jobs: Pick<JobRunner, 'stuckJobs'>;
  readonly clock: Clock;
  readonly ledger: LedgerMonitor;
  readonly banks: Pick<Banks, 'away' | 'waiting'>;
};

export function addGauges(metrics: Metrics, { database, jobs, clock, ledger, banks }: Deps): void {
  addNodeGauges(metrics, database, ledger);
  addPaymentGauges(metrics, database, clock);
  addBankGauges(metrics, database, clock, banks);
  addUpdateGauges(metrics, database, clock);
  addEventGauges(metrics, database, clock);
  addSubscriptionGauges(metrics, database, clock);
  metrics.gauge(
    'mandate_jobs_stuck',
    'Stuck jobs, which wait for an operator',
    async () => (await jobs.stuckJobs()).length,
  );
}

function addNodeGauges(metrics: Metrics, database: DatabasePool, ledger: LedgerMonitor): void {
  metrics.gauge(
    'mandate_database_connections',
    'Open database connections of this node',
    () => database.connections().total,
    'sum',
  );
  metrics.gauge(
    'mandate_database_waiting',
    'Work on this node that waits for a database connection',
    () => database.connections().waiting,
    'sum',
  );
  metrics.gauge(
    'mandate_ledger_unbalanced',
    'Ledger accounts and totals whose stored balances do not add up; 0 in a correct ledger',
    () => countUnbalancedAccounts(database),
  );
  metrics.gauge(
    'mandate_ledger_violations',
    'Violations found by the latest ledger check of this node; 0 in a correct ledger',
    () => ledger.violations(),
  );
  metrics.gauge(
    'mandate_ledger_check_age_seconds',
    'Time since this node last completed a ledger check, or since it started',
    () => ledger.checkAgeSeconds(),
  );
}

function addPaymentGauges(metrics: Metrics, database: DatabasePool, clock: Clock): void {
  metrics.gauge(
    'mandate_verification_refunds_pending',
    'Verification charges whose refund the bank has not confirmed',
    async () => (await countPendingVerificationRefunds(database, clock.now())).pending,
  );
  metrics.gauge(
    'mandate_verification_refunds_overdue',
    'Verification charges whose refund the bank has not confirmed within an hour',
    async () => (await countPendingVerificationRefunds(database, clock.now())).overdue,
  );
  metrics.gauge(
    'mandate_card_testing_shops',
    'Shops that challenge or refuse payers because so many cards are declined there',
    () => countGuardedShops(database, clock.now()),
  );
  metrics.gauge(
    'mandate_payment_oldest_unknown_seconds',
    'Age of the oldest payment whose outcome the bank has not reported; 0 if there is none',
    async () => secondsSince(await oldestUnknownPayment(database, clock.now()), clock),
  );
  metrics.gauge(
    'mandate_refund_oldest_unknown_seconds',
    'Age of the oldest refund whose outcome the bank has not reported; 0 if there is none',
    async () => secondsSince(await oldestPendingRefund(database, clock.now()), clock),
  );
  metrics.gauge(
    'mandate_withdrawal_oldest_unknown_seconds',
    'Age of the oldest payout whose outcome the bank has not reported; 0 if there is none',
    async () => secondsSince(await oldestSendingWithdrawal(database), clock),
  );
}

function addBankGauges(metrics: Metrics, database: DatabasePool, clock: Clock, banks: Deps['banks']): void {
  metrics.gauge(
    'mandate_terminals_paused',
    'Terminals that take no charges without the payer because a bank says that they are set up wrongly',
    async () => Number((await database.run(countPausedTerminals, { now: clock.now() }))[0]?.paused ?? 0),
  );
  metrics.gaugeBy(
    'mandate_bank_away_seconds',
    'Since when this node sends a bank nothing new, because it cannot be reached, does not answer or refuses the signature; none otherwise',
    'bank',
    () =>
      Promise.resolve(
        banks
          .away()
          .map(({ bankId, sinceMs }) => [bankId, (epochMsOf(clock.now()) - sinceMs) / 1_000] as const),
      ),
  );
  metrics.gaugeBy(
    'mandate_bank_waiting',
    'Operations on this node that wait because a bank takes no more at this time',
    'bank',
    () => Promise.resolve(banks.waiting()),
    'sum',
  );
  metrics.gauge(
    'mandate_banks_stopped',
    'Banks to which nothing is sent until an operator confirms, because operations seem to be lost here',
    async () => Number((await database.run(countStoppedBanks, {}))[0]?.stopped ?? 0),
  );
  metrics.gaugeBy(
    'mandate_bank_charges_held_seconds',
    'For how long a bank gets no charges of subscriptions, because too many fail there; none otherwise',
    'bank',
    async () =>
      (await database.run(listHeldCharges, { now: clock.now() })).map(
        (row) => [row.bank_id, secondsSince(row.charges_held_since, clock)] as const,
      ),
  );
}

/** What banks report on their own. */
function addUpdateGauges(metrics: Metrics, database: DatabasePool, clock: Clock): void {
  metrics.gauge(
    'mandate_bank_contradictions',
    'What banks have said against their own proof, or what cannot be read; it changed nothing here',
    async () => (await openNotes(database)).contradictions,
  );
  metrics.gauge(
    'mandate_bank_updates_waiting',
    'Updates of banks that wait for the outcome of their operation, or could not be applied',
    async () => (await openNotes(database)).waiting,
  );
  metrics.gauge(
    'mandate_bank_update_oldest_waiting_seconds',
    'Age of the oldest update of a bank that waits; 0 if there is none',
    async () => secondsSince((await openNotes(database)).oldest, clock),
  );
}

function addEventGauges(metrics: Metrics, database: DatabasePool, clock: Clock): void {
  metrics.gauge(
    'mandate_webhook_parked_queues',
    'Webhook queues that are parked until they are resumed',
    () => parkedQueues(database),
  );
  metrics.gauge(
    'mandate_webhook_feed_age_seconds',
    'Age of the oldest event that was not yet read for webhooks; 0 if all were',
    async () => secondsSince((await feedState(database)).oldest, clock),
  );
  metrics.gauge(
    'mandate_search_age_seconds',
    'Age of the oldest event that searches do not find yet; 0 if there is none',
    async () => {
      const oldest = await Promise.all([oldestUnseen(database), oldestUnlisted(database)]);
      return Math.max(...oldest.map((at) => secondsSince(at, clock)));
    },
  );
  metrics.gauge(
    'mandate_webhook_cluster_mismatch',
    '1 if webhooks stand still because the event log was restored into another PostgreSQL cluster, else 0',
    async () => ((await feedState(database)).isMismatch ? 1 : 0),
  );
  metrics.gauge(
    'mandate_webhook_oldest_undelivered_seconds',
    'Age of the oldest webhook event that was not delivered; 0 if there is none',
    async () => secondsSince((await lags(database, 1))[0]?.oldest, clock),
  );
  metrics.gaugeBy(
    'mandate_webhook_lag_seconds',
    'Age of the oldest undelivered event of each webhook, for the 20 webhooks furthest behind',
    'webhook',
    async () =>
      (await lags(database, maxWebhooksInMetrics)).map(
        ({ webhook_id, oldest }) => [webhook_id, secondsSince(oldest, clock)] as const,
      ),
  );
}

function addSubscriptionGauges(metrics: Metrics, database: DatabasePool, clock: Clock): void {
  metrics.gauge(
    'mandate_subscriptions_parked',
    'Subscriptions that are charged no more until a person resumes them, because something looks wrong',
    async () => (await countWaitingSubscriptions(database)).parked,
  );
  metrics.gauge(
    'mandate_subscriptions_misconfigured',
    'Subscriptions whose charge is tried each day in vain, by a mistake in the set-up of the shop or of Mandate',
    async () => (await countWaitingSubscriptions(database)).misconfigured,
  );
  const due = sharedWhileRead(() => dueSubscriptions(database, clock.now()));
  metrics.gauge(
    'mandate_subscriptions_due_age_seconds',
    'Time since the oldest subscription that is due should have been charged; 0 if none is due',
    async () => secondsSince((await due()).oldest, clock),
  );
  metrics.gaugeBy(
    'mandate_subscriptions_due',
    'Subscriptions that are due now or fall due within that time: 1h, 6h, 24h or 48h',
    'within',
    async () => (await due()).within,
  );
  metrics.gaugeBy(
    'mandate_subscriptions_due_in_hour',
    'Subscriptions that fall due in each of the next 48 hours; those that are due now are in hour 0',
    'hour',
    async () => (await due()).inHour.map((count, hour) => [String(hour), count] as const),
  );
}

/** Gauges of one scrape read together. */
function sharedWhileRead<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  return () => (reading ??= read().finally(() => (reading = undefined)));
}

/** 0 when nothing waits. */
function secondsSince(then: Instant | undefined, clock: Clock): number {
  if (then === undefined) return 0;
  return Math.max(0, (epochMsOf(clock.now()) - epochMsOf(then)) / 1_000);
}

export type LedgerMonitor = ReturnType<typeof monitorLedger>;

/** It alerts and stops nothing: refusing other payments would not correct a violation. */
export function monitorLedger(
  database: DatabasePool,
  log: Pick<Logger, 'error'>,
  invariants: readonly Invariant[],
  monotonicMs: () => number = () => performance.now(),
) {
  let violations = 0;
  let checkedAtMs = monotonicMs();
  return {
    async check() {
      const findings = await checkLedger(database, 'recent', invariants);
      const violated = findings.filter((finding) => finding.violations > 0n);
      for (const { id, says, examples } of violated) log.error({ id, says, examples }, 'ledger violations');
      violations = violated.reduce((sum, finding) => sum + Number(finding.violations), 0);
      checkedAtMs = monotonicMs();
    },
    /** In the latest check. */
    violations: () => violations,
    /** A check that is too old proves nothing. */
    checkAgeSeconds: () => (monotonicMs() - checkedAtMs) / 1_000,
  };
}
