// What the job runner runs: for each table with jobs, its key and the step of one row.
import type { Banks } from '../acquiring/banks.ts';
import type { Terminal } from '../acquiring/domain/bank-port.ts';
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
import { paymentOfOperation, undoOfOperation, type Payment } from '../payments/domain/payment.ts';
import { runUndoJob } from '../payments/updates/undo-job.ts';
import { chargeHeard } from '../payments/charge-heard.ts';
import { runPaymentJob, type PaymentJobDeps } from '../payments/worker.ts';
import { bankOfUndo } from '../payments/store/charge-undos.ts';
import { bankOfPayment, type NewPayment } from '../payments/store/payments.ts';
import { returnUrlOf } from '../payments/payment-return-page.ts';
import type { Logger } from '../platform/log.ts';
import type { MailServer } from '../platform/mail/mail-server.ts';
import type { PayerEmail } from '../emails/domain/payer-email.ts';
import { runPayerEmailJob, type PayerEmailJobDeps } from '../emails/worker.ts';
import { receiptAuthor } from '../receipts/email-author.ts';
import type { Receipts } from '../receipts/receipts.ts';
import type { Charging, Consents } from '../recurring/port.ts';
import { runSeriesJob } from '../recurring/worker.ts';
import { wakeToRun } from '../subscriptions/store/subscriptions.ts';
import { runExportJob, type ExportJobDeps } from '../search/exports/worker.ts';
import { subscriptionAuthor, type SubscriptionAuthorDeps } from '../subscriptions/email-author.ts';
import { heldMs, runSubscriptionJob, type SubscriptionJobDeps } from '../subscriptions/worker.ts';
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
  'invoice' | 'charge_undo' | 'card' | 'series' | 'destination' | 'subscription' | 'export',
  never
> & {
  readonly payment: NewPayment;
  readonly binding: StoredBinding;
  readonly payer_email: PayerEmail;
  readonly withdrawal: StoredWithdrawal;
};

type Deps = {
  readonly database: DatabasePool;
  readonly clock: Clock;
  readonly cards: Cards;
  readonly banks: Banks;
  readonly charging: Charging;
  readonly consents: Consents;
  readonly receipts: Receipts;
  readonly mailServer: MailServer | undefined;
  readonly payouts: PayoutRules;
  readonly log: Logger;
  readonly publicUrl: () => string;
  /** Immediately runs the job of a row that a step has written as claimed. */
  readonly run: JobRunner<JobRows>['run'];
  readonly runToEnd: JobRunner<JobRows>['runToEnd'];
  readonly wake: JobRunner<JobRows>['wake'];
  /** What a charge of a subscription needs besides. */
  readonly subscriptions: Omit<
    SubscriptionJobDeps,
    'db' | 'cards' | 'banks' | 'charging' | 'consents' | 'publicUrl' | 'runToEnd' | 'transact'
  >;
  readonly payerPageUrlOf: SubscriptionAuthorDeps['pageUrlOf'];
  readonly exports: Pick<ExportJobDeps, 'keys' | 'sources' | 'isStopping'>;
};

/** In the order in which jobs of one moment run when a test clock moves. */
export function jobHandlers(deps: Deps): JobHandlers<JobRows> {
  const { database: db, log, mailServer, banks, payouts } = deps;
  const emailDeps = emailJobDeps(deps);
  const subscriptionDeps = subscriptionJobDeps(deps);
  const withdrawalDeps = { db, banks, livemode: payouts.livemode, log };
  const exportDeps = { db, log, ...deps.exports };
  return {
    ...paymentJobs(deps),
    ...cardJobs(deps),
    payer_email: {
      keys: ['invoice_id', 'payment_id'],
      ...(mailServer ? { maxConcurrency: maxEmails } : {}),
      step: (job) => runPayerEmailJob(emailDeps, job),
    },
    destination: {
      keys: ['destination_id'],
      step: (job) => runDestinationJob({ db, banks }, job),
    },
    subscription: {
      keys: ['subscription_id'],
      writtenTogether: maxTogether,
      step: (job) => runSubscriptionJob(subscriptionDeps, job),
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

function paymentJobs(deps: Deps): Pick<JobHandlers<JobRows>, 'invoice' | 'payment' | 'charge_undo'> {
  const paymentDeps = paymentJobDeps(deps);
  return {
    invoice: {
      keys: ['invoice_id'],
      step: ({ key: [id = ''], clock }) => runInvoiceJob(deps.database, id, clock.now()),
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
  };
}

function paymentJobDeps({ database, clock, banks, publicUrl, run, wake, ...deps }: Deps): PaymentJobDeps {
  const { log, charging, consents, receipts } = deps;
  return {
    db: database,
    nodeClock: clock,
    log,
    charging,
    consents,
    receipts,
    bankOf: (payment) => banks.bankOf(payment.terminal),
    alternateTerminal: (payment, now) => alternateTerminal(banks, payment, now),
    pauseTerminal: banks.pauseTerminal,
    isPaused: (payment, now) => banks.isPaused(payment, payment.terminal, now),
    async heldMs({ payer: { subscriptionId }, terminal }, now) {
      const isHeld = subscriptionId !== undefined && (await banks.holdsCharges(terminal.bankId, now));
      return isHeld ? heldMs(subscriptionId) : undefined;
    },
    async hearCharge(payment, answer, at) {
      // What was answered is written already.
      try {
        const heard = chargeHeard(payment, answer, at, clock.now());
        if (heard) await banks.hearCharge(heard);
      } catch (error) {
        log.error({ bankId: payment.terminal.bankId, err: error }, 'charges could not be held');
      }
    },
    returnUrlOf: (payment) => returnUrlOf(publicUrl(), payment),
    async wakeSubscription(subscriptionId, at) {
      if (await wakeToRun(database, subscriptionId, at)) run('subscription', [subscriptionId], at);
      else wake();
    },
    sendPayerEmail: (email, now) => run('payer_email', [email.aggregateId, email.emailId], now, email),
  };
}

/** A charge that is held goes to no other bank, and none goes to a bank that holds charges. */
async function alternateTerminal(
  banks: Banks,
  payment: Payment,
  now: Instant,
): Promise<Terminal | undefined> {
  const isHeld = (bankId: string) =>
    'subscriptionId' in payment.payer && payment.payer.subscriptionId !== undefined
      ? banks.holdsCharges(bankId, now)
      : false;
  if (await isHeld(payment.terminal.bankId)) return undefined;
  const terminal = await banks.alternateTerminal(payment, standInFor(payment, now));
  return terminal && !(await isHeld(terminal.bankId)) ? terminal : undefined;
}

function cardJobs(deps: Deps): Pick<JobHandlers<JobRows>, 'binding' | 'card' | 'series'> {
  const { database: db, clock: nodeClock, cards, banks, charging, consents, publicUrl } = deps;
  const bindingDeps: BindingJobDeps = {
    db,
    nodeClock,
    charging,
    consents,
    bankOf: (binding) => banks.bankOf(binding.terminal),
    alternateTerminal: (binding) => banks.alternateTerminal(binding, standInForBinding(binding)),
    returnUrlOf: (binding) => bindingReturnUrlOf(publicUrl(), binding),
  };
  const needs = cardNeeds(consents);
  return {
    binding: {
      keys: ['customer_id', 'binding_id'],
      group: bankOfBinding,
      step: (job) => runBindingJob(bindingDeps, job),
    },
    card: { keys: ['card_id'], step: ({ key, clock }) => runCardJob(db, needs, key, clock.now()) },
    series: {
      keys: ['series_id'],
      step: ({ key: [id = ''], clock }) => runSeriesJob({ db, cards }, id, clock.now()),
    },
  };
}

function emailJobDeps({ database: db, mailServer, receipts, consents, ...deps }: Deps): PayerEmailJobDeps {
  const { payerPageUrlOf: pageUrlOf, run } = deps;
  const { merchants } = deps.subscriptions;
  const runSubscription = (id: string, at: Instant) => run('subscription', [id], at);
  return {
    db,
    mailServer,
    authors: {
      receipt: receiptAuthor({
        receipts,
        sourceOf: (seriesId, paid) => consents.receiptSource(db, seriesId, paid),
      }),
      subscription: subscriptionAuthor({ merchants, runSubscription, pageUrlOf }),
    },
  };
}

function subscriptionJobDeps({ database: db, subscriptions, ...deps }: Deps): SubscriptionJobDeps {
  const { cards, banks, charging, consents, publicUrl, runToEnd } = deps;
  const transact = openSharedTransactions(db);
  return { db, transact, cards, banks, charging, consents, publicUrl, runToEnd, ...subscriptions };
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
