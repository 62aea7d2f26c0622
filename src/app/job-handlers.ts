// What the job runner runs: for each table with jobs, its key and the step of one row.
import type { Banks } from '../acquiring/banks.ts';
import { cardNeeds } from './card-retention-rules.ts';
import { runCardJob } from '../cards/worker.ts';
import type { Clock } from '../clock.ts';
import { runBindingJob, type BindingJobDeps } from '../customers/worker.ts';
import type { StoredBinding } from '../customers/store/bindings.ts';
import { bindingOfOperation } from '../customers/domain/binding.ts';
import { bindingReturnUrlOf } from '../customers/payer-return.ts';
import type { DatabasePool } from '../platform/database/database.ts';
import type { JobHandler, JobRunner } from '../platform/jobs/job-runner.ts';
import { runInvoiceJob } from '../invoices/store/invoices.ts';
import { carriesNetworkIds, paymentOfOperation } from '../payments/domain/payment.ts';
import { runPaymentJob, type PaymentJobDeps } from '../payments/worker.ts';
import type { NewPayment } from '../payments/store/payments.ts';
import { returnUrlOf } from '../payments/payer-return.ts';
import type { Logger } from '../platform/log.ts';
import type { MailServer } from '../platform/mail/mail-server.ts';
import type { PreloadedEmail } from '../recurring/store/charge-fragments.ts';
import { runPayerEmailJob } from '../recurring/receipt-worker.ts';
import type { Recurring } from '../recurring/port.ts';
import { destinationOfOperation } from '../payouts/domain/destination.ts';
import { runDestinationJob } from '../payouts/destination-worker.ts';
import type { PayoutRules } from '../payouts/payout-rules.ts';
import { withdrawalOfOperation } from '../payouts/domain/withdrawal.ts';
import { runWithdrawalJob } from '../payouts/worker.ts';
import type { StoredWithdrawal } from '../payouts/store/withdrawals.ts';

/** Mail servers count connections. Emails that are only stored need none. */
const maxEmails = 4;

export function jobHandlers({
  database,
  clock,
  banks,
  recurring,
  mailServer,
  payouts,
  log,
  publicUrl,
  run,
}: {
  database: DatabasePool;
  clock: Clock;
  banks: Banks;
  recurring: Recurring;
  mailServer: MailServer | undefined;
  payouts: PayoutRules;
  log: Logger;
  publicUrl: () => string;
  /** Immediately runs the job of a row that a step has written as claimed. */
  run: JobRunner['run'];
}): readonly JobHandler[] {
  const paymentDeps: PaymentJobDeps = {
    db: database,
    clock,
    log,
    recurring,
    bankOf: (payment) => banks.bankOf(payment.terminal),
    alternateTerminal: (payment, now) =>
      banks.alternateTerminal(payment, {
        ...('seriesId' in payment.payer ? { chargedAt: now } : {}),
        ...(carriesNetworkIds(payment) ? { idsOf: payment.terminal } : {}),
        ...(payment.flow.type === 'hold' ? { heldAt: payment.terminal } : {}),
        ...(payment.threeDSecure === 'always' ? { authentication: 'hosted' } : {}),
      }),
    pauseTerminal: banks.pauseTerminal,
    isPaused: (payment, now) => banks.isPaused(payment, payment.terminal, now),
    returnUrlOf: (payment) => returnUrlOf(publicUrl(), payment),
    sendPayerEmail: (payerEmail, now) =>
      run('payer_email', [payerEmail.paid.invoiceId, payerEmail.paid.paymentId], now, payerEmail),
  };
  const bindingDeps: BindingJobDeps = {
    db: database,
    clock,
    recurring,
    bankOf: (binding) => banks.bankOf(binding.terminal),
    alternateTerminal: (binding) => banks.alternateTerminal(binding),
    returnUrlOf: (binding) => bindingReturnUrlOf(publicUrl(), binding),
  };
  const needs = cardNeeds(recurring);
  return [
    { table: 'invoice', keys: ['invoice_id'], step: ([id = ''], now) => runInvoiceJob(database, id, now) },
    {
      table: 'payment',
      keys: ['invoice_id', 'payment_id'],
      step: (key, now, attempt, preloaded) =>
        runPaymentJob(paymentDeps, key, now, attempt, preloaded as NewPayment | undefined),
    },
    {
      table: 'binding',
      keys: ['customer_id', 'binding_id'],
      step: (key, now, attempt, preloaded) =>
        runBindingJob(bindingDeps, key, now, attempt, preloaded as StoredBinding | undefined),
    },
    {
      table: 'card',
      keys: ['card_id'],
      step: (key, now) => runCardJob(database, needs, key, now),
    },
    {
      table: 'series',
      keys: ['series_id'],
      step: ([id = ''], now) => recurring.runSeriesJob(database, id, now),
    },
    {
      table: 'payer_email',
      keys: ['invoice_id', 'payment_id'],
      ...(mailServer ? { maxConcurrency: maxEmails } : {}),
      step: (key, now, _attempt, preloaded) =>
        runPayerEmailJob(
          { db: database, recurring, mailServer },
          key,
          now,
          preloaded as PreloadedEmail | undefined,
        ),
    },
    {
      table: 'destination',
      keys: ['destination_id'],
      step: (key, now, attempt) => runDestinationJob({ db: database, banks }, key, now, attempt),
    },
    {
      table: 'withdrawal',
      keys: ['withdrawal_id'],
      step: (key, now, attempt, preloaded) =>
        runWithdrawalJob(
          { db: database, clock, banks, livemode: payouts.livemode, log },
          key,
          now,
          attempt,
          preloaded as StoredWithdrawal | undefined,
        ),
    },
  ];
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
  const payment = paymentOfOperation(operationId);
  return payment && ['payment', payment];
}
