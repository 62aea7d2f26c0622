// What the job runner runs: for each table with jobs, its key and the step of one row.
import type { Banks } from '../acquiring/banks.ts';
import { cardNeeds } from './card-needs.ts';
import type { Cards } from '../cards/vault.ts';
import { runCardJob } from '../cards/worker.ts';
import type { Clock, Instant } from '../clock.ts';
import { runBindingJob, type BindingJobDeps } from '../customers/worker.ts';
import { bankOfBinding, type StoredBinding } from '../customers/store/bindings.ts';
import { standInFor as standInForBinding } from '../customers/domain/bank-operations.ts';
import { bindingOfOperation } from '../customers/domain/binding.ts';
import { bindingReturnUrlOf } from '../customers/binding-return-page.ts';
import type { DatabasePool } from '../platform/database/database.ts';
import { maxTogether } from '../platform/database/batches/lines.ts';
import { openSharedTransactions } from '../platform/database/batches/shared-transactions.ts';
import type { JobHandlers, JobRunner } from '../platform/jobs/job-runner.ts';
import { runInvoiceJob } from '../invoices/worker.ts';
import { standInFor } from '../payments/domain/bank-operations.ts';
import { paymentOfOperation, undoOfOperation } from '../payments/domain/payment.ts';
import { runUndoJob } from '../payments/updates/undo-job.ts';
import { chargeHeard } from '../payments/charge-heard.ts';
import { runPaymentJob, type PaymentJobDeps } from '../payments/worker.ts';
import { bankOfUndo } from '../payments/store/charge-undos.ts';
import { bankOfPayment, type NewPayment } from '../payments/store/payments.ts';
import { returnUrlOf } from '../payments/payment-return-page.ts';
import type { Logger } from '../platform/log.ts';
import type { MailServer } from '../platform/mail/mail-server.ts';
import type { PayerEmail } from '../receipts/domain/payer-email.ts';
import type { Receipts } from '../receipts/receipts.ts';
import { runPayerEmailJob, type PayerEmailJobDeps } from '../receipts/worker.ts';
import type { Charging, Consents } from '../recurring/port.ts';
import { runSeriesJob } from '../recurring/worker.ts';
import { claimToWake } from '../subscriptions/store/subscriptions.ts';
import { runExportJob, type ExportJobDeps } from '../search/exports/worker.ts';
import { runSubscriptionEmailJob, type SubscriptionEmailJobDeps } from '../subscriptions/email-worker.ts';
import { runSubscriptionJob, type SubscriptionJobDeps } from '../subscriptions/worker.ts';
import { destinationOfOperation } from '../payouts/domain/destination.ts';
import { runDestinationJob } from '../payouts/destination-worker.ts';
import type { PayoutRules } from '../payouts/payout-rules.ts';
import { withdrawalOfOperation } from '../payouts/domain/withdrawal.ts';
import { runWithdrawalJob } from '../payouts/worker.ts';
import { bankOfWithdrawal, type StoredWithdrawal } from '../payouts/store/withdrawals.ts';

/** Mail servers count connections. Emails that are only stored need none. */
const maxEmails = 4;

/** A file is written from one snapshot, on a connection of its own. */
const maxExports = 1;

/** What each job is given of a row that this node has just written. */
export type JobRows = Record<
  | 'invoice'
  | 'charge_undo'
  | 'card'
  | 'series'
  | 'destination'
  | 'subscription'
  | 'subscription_email'
  | 'export',
  never
> & {
  readonly payment: NewPayment;
  readonly binding: StoredBinding;
  readonly payer_email: PayerEmail;
  readonly withdrawal: StoredWithdrawal;
};

export function jobHandlers({
  database,
  clock,
  cards,
  banks,
  charging,
  consents,
  receipts,
  mailServer,
  payouts,
  log,
  publicUrl,
  run,
  runToEnd,
  wake,
  subscriptions,
  emailLinks,
  exports,
}: {
  database: DatabasePool;
  clock: Clock;
  cards: Cards;
  banks: Banks;
  charging: Charging;
  consents: Consents;
  receipts: Receipts;
  mailServer: MailServer | undefined;
  payouts: PayoutRules;
  log: Logger;
  publicUrl: () => string;
  /** Immediately runs the job of a row that a step has written as claimed. */
  run: JobRunner<JobRows>['run'];
  runToEnd: JobRunner<JobRows>['runToEnd'];
  wake: JobRunner<JobRows>['wake'];
  /** What a charge of a subscription needs besides. */
  subscriptions: Omit<
    SubscriptionJobDeps,
    'db' | 'cards' | 'banks' | 'charging' | 'consents' | 'publicUrl' | 'runToEnd' | 'transact'
  >;
  emailLinks: Pick<SubscriptionEmailJobDeps, 'pageUrlOf' | 'payUrlOf'>;
  exports: Pick<ExportJobDeps, 'keys' | 'sources' | 'isStopping'>;
}): JobHandlers<JobRows> {
  const paymentDeps: PaymentJobDeps = {
    db: database,
    nodeClock: clock,
    log,
    charging,
    consents,
    receipts,
    bankOf: (payment) => banks.bankOf(payment.terminal),
    alternateTerminal: (payment, now) => banks.alternateTerminal(payment, standInFor(payment, now)),
    pauseTerminal: banks.pauseTerminal,
    isPaused: (payment, now) => banks.isPaused(payment, payment.terminal, now),
    isHeld: ({ terminal }, now) => banks.holdsCharges(terminal.bankId, now),
    async hearCharge(payment, answer, at) {
      const heard = chargeHeard(payment, answer, at, clock.now());
      if (heard) await banks.hearCharge(heard);
    },
    returnUrlOf: (payment) => returnUrlOf(publicUrl(), payment),
    async wakeSubscription(subscriptionId, at) {
      if (await claimToWake(database, subscriptionId, at)) run('subscription', [subscriptionId], at);
      else wake();
    },
    sendPayerEmail: (payerEmail, now) =>
      run('payer_email', [payerEmail.paid.invoiceId, payerEmail.paid.paymentId], now, payerEmail),
  };
  const bindingDeps: BindingJobDeps = {
    db: database,
    nodeClock: clock,
    charging,
    consents,
    bankOf: (binding) => banks.bankOf(binding.terminal),
    alternateTerminal: (binding) => banks.alternateTerminal(binding, standInForBinding(binding)),
    returnUrlOf: (binding) => bindingReturnUrlOf(publicUrl(), binding),
  };
  const needs = cardNeeds(consents);
  const emailDeps: PayerEmailJobDeps = {
    db: database,
    receipts,
    sourceOf: async (db, { seriesId, paid }) =>
      seriesId === undefined ? undefined : consents.receiptSource(db, seriesId, paid),
    mailServer,
  };
  const chargeDeps = { cards, banks, charging, consents, publicUrl, runToEnd };
  const transact = openSharedTransactions(database);
  const subscriptionDeps = { db: database, transact, ...chargeDeps, ...subscriptions };
  const { merchants } = subscriptions;
  const runSubscription = (id: string, at: Instant) => run('subscription', [id], at);
  const subscriptionEmailDeps = { db: database, merchants, mailServer, runSubscription, ...emailLinks };
  const exportDeps = { db: database, log, ...exports };
  const withdrawalDeps = { db: database, banks, livemode: payouts.livemode, log };
  return {
    invoice: {
      keys: ['invoice_id'],
      step: ({ key: [id = ''], clock }) => runInvoiceJob(database, id, clock.now()),
    },
    payment: {
      keys: ['invoice_id', 'payment_id'],
      group: bankOfPayment,
      step: (job) => runPaymentJob(paymentDeps, job),
    },
    charge_undo: {
      keys: ['invoice_id', 'payment_id', 'operation'],
      group: bankOfUndo,
      step: (job) => runUndoJob(paymentDeps, job),
    },
    binding: {
      keys: ['customer_id', 'binding_id'],
      group: bankOfBinding,
      step: (job) => runBindingJob(bindingDeps, job),
    },
    card: { keys: ['card_id'], step: ({ key, clock }) => runCardJob(database, needs, key, clock.now()) },
    series: {
      keys: ['series_id'],
      step: ({ key: [id = ''], clock }) => runSeriesJob({ db: database, cards }, id, clock.now()),
    },
    payer_email: {
      keys: ['invoice_id', 'payment_id'],
      ...(mailServer ? { maxConcurrency: maxEmails } : {}),
      step: (job) => runPayerEmailJob(emailDeps, job),
    },
    destination: {
      keys: ['destination_id'],
      step: (job) => runDestinationJob({ db: database, banks }, job),
    },
    subscription: {
      keys: ['subscription_id'],
      writtenTogether: maxTogether,
      step: (job) => runSubscriptionJob(subscriptionDeps, job),
    },
    subscription_email: {
      keys: ['subscription_id', 'email_id'],
      ...(mailServer ? { maxConcurrency: maxEmails } : {}),
      step: (job) => runSubscriptionEmailJob(subscriptionEmailDeps, job),
    },
    withdrawal: {
      keys: ['withdrawal_id'],
      group: bankOfWithdrawal,
      step: (job) => runWithdrawalJob(withdrawalDeps, job),
    },
    export: {
      keys: ['party_id', 'export_id'],
      maxConcurrency: maxExports,
      step: (job) => runExportJob(exportDeps, job),
    },
  };
}

/** The job that a bank operation belongs to. */
export function jobOfOperation(
  operationId: string,
): readonly [table: string, key: readonly string[]] | undefined {
  const withdrawal = withdrawalOfOperation(operationId);
  if (withdrawal) return ['withdrawal', withdrawal];
  const destination = destinationOfOperation(operationId);
  if (destination) return ['destination', destination];
  const binding = bindingOfOperation(operationId);
  if (binding) return ['binding', binding];
  const undo = undoOfOperation(operationId);
  if (undo) return ['charge_undo', undo];
  const payment = paymentOfOperation(operationId);
  return payment && ['payment', payment];
}
