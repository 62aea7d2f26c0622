// The commands about what lists and searches look through.
import type { MandateCommand } from '../mandate-command.ts';

export function addSearchCommands(program: MandateCommand): void {
  program
    .subcommand('search', {
      summary: 'Maintain what lists and searches look through',
      examples: ['mandate search rebuild'],
    })
    .subcommand('rebuild', {
      summary: 'Copy every invoice, payment, refund and payout again',
      details:
        'Run it while the service runs. Their sums are made again, too. If it is interrupted, the nodes finish it. Meanwhile searches find what they found before.',
      examples: ['mandate search rebuild'],
    })
    .action(async () => (await import('./rebuild.ts')).rebuildSearch());
}
