// The commands that list what a merchant has of payers: customers, saved cards and series.
import { Option } from 'commander';
import type { MandateCommand } from '../mandate-command.ts';

export function addListCommands(program: MandateCommand): void {
  const customers = program.subcommand('customers', {
    summary: 'Find customers',
    examples: ['mandate customers list --party P1 --email user@example.com'],
  });
  listOf(customers, {
    summary: 'List the customers of a merchant, newest first',
    examples: [
      'mandate customers list --party P1 --email user@example.com',
      'mandate customers list --party P1 --shop S1 --status ready --since 7d',
    ],
  })
    .option('--external-id <id>', 'only the one that the merchant named so')
    .option('--email <address>', 'only with this address')
    .addOption(new Option('--status <status>', 'only with this status').choices(['unready', 'ready']))
    .action(async (options) => (await import('./lists.ts')).listCustomers(options));
  const series = program.subcommand('series', {
    summary: 'Find series',
    examples: ['mandate series list --party P1 --ended'],
  });
  listOf(series, {
    summary: 'List the series of a merchant, newest first',
    examples: [
      'mandate series list --party P1 --customer C1',
      'mandate series list --party P1 --ended --since 30d',
    ],
  })
    .option('--customer <customerID>', 'only those of its saved cards')
    .option('--invoice <invoiceID>', 'only those that began with its payments')
    .addOption(
      new Option('--status <status>', 'only with this status').choices(['active', 'stopped', 'withdrawn']),
    )
    .addOption(new Option('--chargeable', 'only those that can still be charged').conflicts('ended'))
    .option('--ended', 'only those that can no longer be charged')
    .action(async (options) => (await import('./lists.ts')).listSeries(options));
}

/** Under the commands of bindings. */
export function addBindingList(bindings: MandateCommand): void {
  listOf(bindings, {
    summary: 'List the bindings of a merchant, newest first',
    examples: [
      'mandate bindings list --party P1 --customer C1',
      'mandate bindings list --party P1 --status failed --since 7d',
    ],
  })
    .option('--customer <customerID>', 'only those of this customer')
    .option('--external-id <id>', 'only the one that the merchant named so')
    .addOption(
      new Option('--status <status>', 'only with this status').choices([
        'pending',
        'succeeded',
        'withdrawn',
        'failed',
      ]),
    )
    .option('--last4 <digits>', 'only of cards that end so')
    .option('--error <error>', 'only those that failed so, such as authorization_failed')
    .action(async (options) => (await import('./lists.ts')).listBindings(options));
}

function listOf(parent: MandateCommand, texts: { readonly summary: string; readonly examples: string[] }) {
  return parent
    .subcommand('list', {
      ...texts,
      details:
        'As lists of the API, it is up to a second behind. Without an exact key it lists those of --since.',
    })
    .requiredOption('--party <partyID>', 'the merchant')
    .option('--shop <shopID>', 'only this shop')
    .option(
      '--since <time>',
      'created since: a date-time, or how long ago (30m, 7d); 30d by default, any time with an exact key',
    )
    .option('--limit <number>', 'how many to list, up to 1000', '50')
    .json();
}
