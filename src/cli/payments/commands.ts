// The subcommands about payments, a line each.
import type { Command } from 'commander';

export function addPaymentCommands(program: Command): void {
  const payments = program
    .command('payments')
    .description('payments that wait for an operator: see mandate jobs stuck');
  payments
    .command('release')
    .description('give up a capture the bank refuses; it lets go of the hold, and the payment is cancelled')
    .argument('<invoiceID>')
    .argument('<paymentID>')
    .requiredOption('--reason <text>', 'the merchant is told')
    .action(async (invoiceId: string, paymentId: string, options) =>
      (await import('./payments.ts')).release(invoiceId, paymentId, options),
    );
  payments
    .command('resolve')
    .description('record the outcome when no bank reports it; the ledger follows, and no bank is contacted')
    .argument('<invoiceID>')
    .argument('<paymentID>')
    .requiredOption('--as <ending>', 'captured, cancelled or failed; succeeded or failed, of a refund')
    .requiredOption('--reason <text>', 'how you know; it is kept in the log')
    .action(async (invoiceId: string, paymentId: string, options) =>
      (await import('./payments.ts')).resolve(invoiceId, paymentId, options),
    );
}
