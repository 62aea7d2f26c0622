// The commands about subscriptions.
import { Option } from 'commander';
import { statuses } from '../../subscriptions/domain/subscription.ts';
import type { MandateCommand } from '../mandate-command.ts';

export function addSubscriptionCommands(program: MandateCommand): void {
  program
    .subcommand('subscriptions', {
      summary: 'Find subscriptions',
      examples: ['mandate subscriptions list --parked'],
    })
    .subcommand('list', {
      summary: 'List the subscriptions of a shop, or parked ones',
      details:
        'The newest first. Parked ones are also listed of all merchants, because only a person can help them.',
      examples: [
        'mandate subscriptions list --parked',
        'mandate subscriptions list --party P1 --shop S1 --status pastDue',
      ],
    })
    .option('--party <partyID>', 'the merchant')
    .option('--shop <shopID>', 'its shop')
    .addOption(new Option('--status <status>', 'only with this status').choices(statuses))
    .option('--parked', 'only those whose charging is stopped until a person resumes them')
    .option('--limit <number>', 'how many to list, up to 1000', '50')
    .json()
    .action(async (options) => (await import('./list-subscriptions.ts')).listSubscriptions(options));
}
