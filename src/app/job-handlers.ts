// What the engine does when it falls due: for each table of things that move by themselves, its key and the step of one row.
import type { Banks } from '../acquiring/banks.ts';
import { cardNeeds } from './card-retention-rules.ts';
import { stepKeptCard } from '../cards/worker.ts';
import type { Clock } from '../clock.ts';
import { stepBinding, type BindingSteps } from '../customers/worker.ts';
import type { StoredBinding } from '../customers/store/bindings.ts';
import { bindingOfOperation } from '../customers/domain/binding.ts';
import { bindingReturnUrlOf } from '../customers/payer-return.ts';
import type { DatabasePool } from '../platform/database/database.ts';
import type { DueWork, Engine } from '../platform/jobs/job-runner.ts';
import { takeNextStep } from '../invoices/store/invoices.ts';
import { paymentOfOperation } from '../payments/domain/payment.ts';
import { stepPayment, type PaymentSteps } from '../payments/worker.ts';
import type { NewPayment } from '../payments/store/payments.ts';
import { returnUrlOf } from '../payments/bank-callbacks.ts';
import type { Logger } from '../platform/log.ts';
import type { MailServer } from '../platform/mail/mail-server.ts';
import type { KnownLetter } from '../recurring/store/charge-fragments.ts';
import { stepLetter } from '../recurring/receipt-worker.ts';
import type { Recurring } from '../recurring/port.ts';
import { destinationOfOperation } from '../payouts/domain/destination.ts';
import { stepDestination } from '../payouts/destination-worker.ts';
import type { PayoutRules } from '../payouts/payout-rules.ts';
import { withdrawalOfOperation } from '../payouts/domain/withdrawal.ts';
import { stepWithdrawal } from '../payouts/worker.ts';
import type { StoredWithdrawal } from '../payouts/store/withdrawals.ts';

/** Mail servers count connections; what is kept needs none. */
const lettersAtOnce = 4;

export function dueWork({
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
  /** Goes on at once with what a step has written as claimed. */
  run: Engine['run'];
}): readonly DueWork[] {
  const paymentSteps: PaymentSteps = {
    db: database,
    clock,
    recurring,
    bankOf: (payment) => banks.bankOf(payment.terminal),
    terminalElsewhere: (payment) => banks.terminalElsewhere(payment),
    returnUrlOf: (payment) => returnUrlOf(publicUrl(), payment),
    sendLetter: (letter, now) => run('letter', [letter.paid.invoiceId, letter.paid.paymentId], now, letter),
  };
  const bindingSteps: BindingSteps = {
    db: database,
    clock,
    recurring,
    bankOf: (binding) => banks.bankOf(binding.terminal),
    terminalElsewhere: (binding) => banks.terminalElsewhere(binding),
    returnUrlOf: (binding) => bindingReturnUrlOf(publicUrl(), binding),
  };
  const needs = cardNeeds(recurring);
  return [
    { table: 'invoice', keys: ['invoice_id'], step: ([id = ''], now) => takeNextStep(database, id, now) },
    {
      table: 'payment',
      keys: ['invoice_id', 'payment_id'],
      step: (key, now, attempt, known) =>
        stepPayment(paymentSteps, key, now, attempt, known as NewPayment | undefined),
    },
    {
      table: 'binding',
      keys: ['customer_id', 'binding_id'],
      step: (key, now, attempt, known) =>
        stepBinding(bindingSteps, key, now, attempt, known as StoredBinding | undefined),
    },
    {
      table: 'card',
      keys: ['card_id'],
      step: (key, now) => stepKeptCard(database, needs, key, now),
    },
    { table: 'series', keys: ['series_id'], step: ([id = ''], now) => recurring.step(database, id, now) },
    {
      table: 'letter',
      keys: ['invoice_id', 'payment_id'],
      ...(mailServer ? { slotsMost: lettersAtOnce } : {}),
      step: (key, now, _attempt, known) =>
        stepLetter({ db: database, recurring, mailServer }, key, now, known as KnownLetter | undefined),
    },
    {
      table: 'destination',
      keys: ['destination_id'],
      step: (key, now, attempt) => stepDestination({ db: database, banks }, key, now, attempt),
    },
    {
      table: 'withdrawal',
      keys: ['withdrawal_id'],
      step: (key, now, attempt, known) =>
        stepWithdrawal(
          { db: database, clock, banks, realm: payouts.realm, log },
          key,
          now,
          attempt,
          known as StoredWithdrawal | undefined,
        ),
    },
  ];
}

/** Which due work an operation at a bank belongs to. */
export function workOf(operationId: string): readonly [table: string, key: readonly string[]] | undefined {
  const withdrawal = withdrawalOfOperation(operationId);
  if (withdrawal) return ['withdrawal', withdrawal];
  const destination = destinationOfOperation(operationId);
  if (destination) return ['destination', destination];
  const binding = bindingOfOperation(operationId);
  if (binding) return ['binding', binding];
  const payment = paymentOfOperation(operationId);
  return payment && ['payment', payment];
}
