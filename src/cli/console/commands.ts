// The commands about the console.
import type { MandateCommand } from '../mandate-command.ts';

export function addConsoleCommands(program: MandateCommand): void {
  const console = program.subcommand('console', {
    summary: 'Let people look at the console',
    details: 'The console shows payments, payouts and webhooks in a browser. It changes nothing.',
    examples: ['mandate console link --party P1'],
  });
  console
    .subcommand('link', {
      summary: 'Make a link that opens the console once',
      details:
        'Give it to one person, by a channel that only they read. It opens once, within ten minutes. Its session ends after 15 minutes ' +
        'without use, and after 12 hours at the latest. The list of sessions keeps who made it for 30 days.',
      examples: ['mandate console link --party P1', 'mandate console link --operator'],
    })
    .option('--party <partyID>', 'the merchant whose pages it shows')
    .option('--operator', 'also show all other merchants, stuck jobs and banks')
    .action(async (options) => (await import('./console.ts')).makeLink(options));
  console
    .subcommand('sessions', {
      summary: 'List links and sessions of the last 30 days',
      details: 'The newest first, up to 1000.',
      examples: ['mandate console sessions', 'mandate console sessions --json'],
    })
    .json()
    .action(async (options) => (await import('./console.ts')).listSessions(options));
  console
    .subcommand('end', {
      summary: 'End a session, or a link before it is used',
      examples: ['mandate console end X3nQ0bqGt7Vd'],
    })
    .argument('<sessionID>', 'an ID from mandate console sessions')
    .action(async (id: string) => (await import('./console.ts')).endSession(id));
}
