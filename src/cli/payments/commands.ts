// The commands about payments, bindings and consents.
import { Option } from 'commander';
import { addBindingList } from '../lists/commands.ts';
import type { MandateCommand } from '../mandate-command.ts';

export function addPaymentCommands(program: MandateCommand): void {
  addStuckPaymentCommands(program);
  addBindingCommands(program);
  const consent = program.subcommand('consent', {
    summary: 'Verify consent bundles and manage their keys',
    examples: ['mandate consent verify bundle.json --sealed-here'],
  });
  addBundleCommands(consent);
  addConsentKeyCommands(consent);
}

function addStuckPaymentCommands(program: MandateCommand): void {
  const payments = program.subcommand('payments', {
    summary: 'Find payments, and resolve stuck ones and refunds',
    examples: ['mandate payments list --waiting', 'mandate payments show 1NvbIoO4BTk'],
  });
  addPaymentViews(payments);
  payments
    .subcommand('release', {
      summary: 'Give up a capture that the bank declines',
      details: 'The bank is queried once more, then gets a release of the hold. The payment is cancelled.',
      examples: ['mandate payments release 1NvbIoO4BTk 1 --reason "bank declines the capture"'],
    })
    .argument('<invoiceID>', 'the invoice')
    .argument('<paymentID>', 'the payment')
    .requiredOption('--reason <text>', 'sent to the merchant')
    .action(async (invoiceId: string, paymentId: string, options) =>
      (await import('./payments.ts')).release(invoiceId, paymentId, options),
    );
  addRefundCommand(payments);
  payments
    .subcommand('resolve', {
      summary: 'Record the outcome of a stuck payment or refund',
      details:
        'Use it when you know the outcome and no bank reports it. It contacts no bank and writes the ledger. It cannot be undone.',
      examples: ['mandate payments resolve 1NvbIoO4BTk 1 --as captured --reason "clearing file, line 17"'],
    })
    .argument('<invoiceID>', 'the invoice')
    .argument('<paymentID>', 'the payment')
    .addOption(
      new Option(
        '--as <outcome>',
        'captured, cancelled or failed of a payment, succeeded or failed of a refund, undone of a charge_undo',
      )
        .choices(['captured', 'cancelled', 'failed', 'succeeded', 'undone'])
        .makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'how you know it; kept in the event log')
    .action(async (invoiceId: string, paymentId: string, options) =>
      (await import('./payments.ts')).resolve(invoiceId, paymentId, options),
    );
}

function addRefundCommand(payments: MandateCommand): void {
  payments
    .subcommand('refund', {
      summary: 'Refund a captured payment in place of the merchant',
      details:
        'Use it when the merchant cannot. The merchant and the event log get the reason, and the log says that an operator did it. ' +
        'The shop may be blocked, but its balance has to suffice. A payment is refunded once for each reason.',
      examples: [
        'mandate payments refund 1NvbIoO4BTk 1 --reason "complaint 4711"',
        'mandate payments refund 1NvbIoO4BTk 1 --amount 1000 --reason "complaint 4711"',
      ],
    })
    .argument('<invoiceID>', 'the invoice')
    .argument('<paymentID>', 'the payment')
    .option('--amount <number>', 'in minor units; all that is left by default')
    .requiredOption('--reason <text>', 'sent to the merchant, and kept in the event log')
    .action(async (invoiceId: string, paymentId: string, options) =>
      (await import('./refund.ts')).refund(invoiceId, paymentId, options),
    );
}

function addPaymentViews(payments: MandateCommand): void {
  payments
    .subcommand('list', {
      summary: 'List payments, or those that wait for a bank',
      details:
        'Without --waiting it lists payments of new invoices, the newest first. With --waiting it lists those whose outcome is unknown, ' +
        'the longest waiting first. A payment is listed from the first request that its bank does not answer.',
      examples: ['mandate payments list --waiting', 'mandate payments list --party P1 --shop S1 --since 7d'],
    })
    .option('--waiting', 'only payments whose outcome no bank has said yet')
    .option('--party <id>', 'only this merchant')
    .option('--shop <id>', 'only shops with this ID')
    .option(
      '--since <time>',
      'invoices created since: a date-time, or how long ago (30m, 7d); 24h by default',
    )
    .option('--limit <number>', 'how many to list, up to 1000', '50')
    .json()
    .action(async (options) => (await import('./list-payments.ts')).listPayments(options));
  payments
    .subcommand('show', {
      summary: 'Show why a payment waits, and what to do',
      details:
        'It shows the state, the operations at the bank, the next try, what the recurring rules decided, and what to do. ' +
        'Of an invoice it shows the latest payment. It contacts no bank and changes nothing.',
      examples: ['mandate payments show 1NvbIoO4BTk', 'mandate payments show 1NvbIoO4BTk/1 --json'],
    })
    .argument('<id>', 'an invoice, a payment as <invoiceID>/<number>, or its operation at the bank')
    .argument('[paymentID]', 'the number of the payment, if the first argument is an invoice')
    .json()
    .action(async (id: string, paymentId: string | undefined, options) =>
      (await import('./show-payment.ts')).showPayment(id, paymentId, options),
    );
}

function addBindingCommands(program: MandateCommand): void {
  const bindings = program.subcommand('bindings', {
    summary: 'Find bindings, and resolve verification refunds',
    details: 'Saving a card charges a small amount and refunds it. The bank has to confirm the refund.',
    examples: ['mandate bindings refunds'],
  });
  addBindingList(bindings);
  bindings
    .subcommand('refunds', {
      summary: 'List verification refunds the bank must confirm',
      details: 'Each refund is due one hour after the charge. Stuck refunds are retried every hour.',
      examples: ['mandate bindings refunds'],
    })
    .json()
    .action(async (options) => (await import('./bindings.ts')).listRefunds(options));
  bindings
    .subcommand('resolve', {
      summary: 'Record that the payer has the money back',
      details: 'Use it when the bank keeps declining the refund. It contacts no bank. The binding fails.',
      examples: ['mandate bindings resolve 1NvbIoO4BTk 1Nvc7h2mKsq --reason "bank confirmed by phone"'],
    })
    .argument('<customerID>', 'the customer')
    .argument('<bindingID>', 'the binding')
    .requiredOption('--reason <text>', 'how you know it; kept in the event log')
    .action(async (customerId: string, bindingId: string, options) =>
      (await import('./bindings.ts')).resolveBinding(customerId, bindingId, options),
    );
}

function addBundleCommands(consent: MandateCommand): void {
  consent
    .subcommand('verify', {
      summary: 'Verify that a consent bundle is unchanged',
      details: 'Without --sealed-by or --sealed-here it accepts any key and prints the one it found.',
      examples: ['mandate consent verify bundle.json', 'mandate consent verify bundle.json --sealed-here'],
    })
    .argument('<file>', 'a bundle from the API')
    .option('--sealed-by <publicKey...>', 'accept only these keys; list them with mandate consent keys')
    .option('--sealed-here', 'accept only the keys of this service')
    .action(async (file: string, options) => (await import('./consent.ts')).verifyConsent(file, options));
  consent
    .subcommand('print', {
      summary: 'Print a consent bundle as a page',
      details: 'It writes HTML to standard output. It prints nothing if the bundle was changed.',
      examples: ['mandate consent print bundle.json > consent.html'],
    })
    .argument('<file>', 'a bundle from the API')
    .action(async (file: string) => (await import('./consent.ts')).printConsent(file));
  consent
    .subcommand('missing', {
      summary: 'List active series without evidence of consent',
      details: 'Get new consents for these before a dispute. It lists up to 1000, the oldest first.',
      examples: ['mandate consent missing --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .option('--shop <id>', 'only this shop')
    .json()
    .action(async (options) => (await import('./consent.ts')).listMissingConsents(options));
}

function addConsentKeyCommands(consent: MandateCommand): void {
  consent
    .subcommand('key', {
      summary: 'Print the public key that seals new bundles',
      examples: ['mandate consent key'],
    })
    .action(async () => (await import('./consent.ts')).showConsentKey());
  consent
    .subcommand('keys', {
      summary: 'List the public keys that have sealed bundles',
      details: 'The newest is last. Keep them: bundles sealed with older keys stay valid.',
      examples: ['mandate consent keys'],
    })
    .json()
    .action(async (options) => (await import('./consent.ts')).listConsentKeys(options));
  consent
    .subcommand('rotate', {
      summary: 'Seal new consent bundles with a new key',
      details: 'Bundles and revocation links created before stay valid.',
      examples: ['mandate consent rotate'],
    })
    .action(async () => (await import('./consent.ts')).rotateConsentKey());
}
