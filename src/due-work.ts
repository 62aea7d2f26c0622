// What the engine does when it falls due: for each table of things that move by themselves, its key and the step of one row.
import type { Banks } from './bank/banks.ts';
import { cardNeeds } from './card-needs.ts';
import { stepKeptCard } from './cards/kept-card.step.ts';
import type { Clock } from './clock.ts';
import { stepBinding, type BindingSteps } from './customers/binding.step.ts';
import type { StoredBinding } from './customers/binding.store.ts';
import { bindingOfOperation } from './customers/binding.ts';
import { bindingReturnUrlOf } from './customers/visitors.ts';
import type { DatabasePool } from './database/database.ts';
import type { DueWork, Engine } from './engine/engine.ts';
import { takeNextStep } from './invoices/invoice.store.ts';
import { paymentOfOperation } from './payments/payment.ts';
import { stepPayment, type PaymentSteps } from './payments/payment.step.ts';
import type { NewPayment } from './payments/payment.store.ts';
import { returnUrlOf } from './payments/visitors.ts';
import type { Logger } from './log.ts';
import type { MailServer } from './mail/mail-server.ts';
import type { KnownLetter } from './recurring/charge-parts.store.ts';
import { stepLetter } from './recurring/letter.step.ts';
import type { Recurring } from './recurring/verbs.ts';
import { destinationOfOperation } from './wallets/destination.ts';
import { stepDestination } from './wallets/destination.step.ts';
import type { PayoutRules } from './wallets/payout-rules.ts';
import { withdrawalOfOperation } from './wallets/withdrawal.ts';
import { stepWithdrawal } from './wallets/withdrawal.step.ts';
import type { StoredWithdrawal } from './wallets/withdrawal.store.ts';

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
