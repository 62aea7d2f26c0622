// The program and its commands as definitions: nothing runs until it parses. Each command loads what it needs when it runs, so that
// --help is quick.
import { readFileSync } from 'node:fs';
import { Help, type Command } from 'commander';
import { assetPath } from '../asset-paths.ts';
import { addBankCommands } from './banks/commands.ts';
import { MandateCommand } from './mandate-command.ts';
import { addConsoleCommands } from './console/commands.ts';
import { addImportCommands } from './imports/commands.ts';
import { addLinkCommands } from './links/commands.ts';
import { addListCommands } from './lists/commands.ts';
import { addMerchantCommands } from './merchants/commands.ts';
import { addOperationsCommands } from './operations/commands.ts';
import { addPaymentCommands } from './payments/commands.ts';
import { addPayoutCommands } from './payouts/commands.ts';
import { addSearchCommands } from './search/commands.ts';
import { addSubscriptionCommands } from './subscriptions/commands.ts';

export function createProgram(): MandateCommand {
  const { version } = JSON.parse(readFileSync(assetPath('../package.json'), 'utf8')) as { version: string };
  const program = new MandateCommand('mandate')
    .texts({
      summary: 'Recurring card payments, saved cards and card payouts',
      details:
        'Settings come from the environment: "mandate config" shows them, docs/operations/configuration.md explains them. ' +
        'All commands are in docs/operations/commands.md.',
      examples: ['mandate serve', 'mandate keys create --help'],
    })
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ commandDescription: descriptionOf, visibleCommands: listedCommands });
  program.commandsGroup('Start and set up:').helpCommand('help [command]', 'Print the help of a command');
  addServiceCommands(program);
  program.commandsGroup('Merchants and payments:');
  addMerchantCommands(program);
  addPaymentCommands(program);
  addListCommands(program);
  addSubscriptionCommands(program);
  addLinkCommands(program);
  addPayoutCommands(program);
  addImportCommands(program);
  program.commandsGroup('Banks:');
  addBankCommands(program);
  program.commandsGroup('Operations:');
  addOperationsCommands(program);
  addConsoleCommands(program);
  addSearchCommands(program);
  return program;
}

function addServiceCommands(program: MandateCommand): void {
  program
    .subcommand('serve', {
      summary: 'Run the service',
      details:
        'It also brings the database up to date. Settings come from the environment, not from options. WORKERS runs several processes behind ' +
        'one port. SIGTERM drains and ends them, SIGUSR2 restarts them one after the other.',
      creates: 'tables and keys; in a sandbox also a private PostgreSQL, a merchant and a bank',
      examples: ['mandate serve', 'PORT=9000 mandate serve', 'WORKERS=auto mandate serve'],
    })
    .action(async () => (await import('./serve.ts')).serve());
  program
    .subcommand('sandbox', {
      summary: 'Print the address and API key of the sandbox',
      details:
        'It reads `sandbox.json` in the data folder, which the last node removes when it stops. The next start prints the same API key, ' +
        'from `sandbox.key`. Live mode keeps no such files.',
      examples: ['export URL=$(mandate sandbox url)', 'export KEY=$(mandate sandbox apiKey)'],
    })
    .argument('[field]', 'print only this one: url, apiKey, shopID, bankUrl, docsUrl or demoUrl')
    .json()
    .action(async (field: string | undefined, options: { json?: true }) =>
      (await import('./sandbox.ts')).showSandbox(field, options),
    );
  program
    .subcommand('migrate', {
      summary: 'Bring the database up to date',
      details: 'Use it to migrate before you start nodes. "mandate serve" does the same when it starts.',
      creates: 'tables and keys; in a sandbox also a private PostgreSQL',
      examples: ['mandate migrate'],
    })
    .action(async () => (await import('./migrate.ts')).migrateDatabase());
  program
    .subcommand('config', {
      summary: 'List every setting, its value and its source',
      details:
        'It reads the environment of your shell, so give it that of the service. The source is environment, default or sandbox. ' +
        'Secrets are masked. It checks all settings and connects to nothing.',
      examples: ['mandate config', 'mandate config --json'],
    })
    .json()
    .action(async (options: { json?: true }) => (await import('./config.ts')).showConfig(options));
}

/** `help` is listed once, by the program: its heading would be wrong in the help of a command. */
function listedCommands(command: Command): Command[] {
  const commands = new Help().visibleCommands(command);
  return command.parent ? commands.filter((one) => one.name() !== 'help') : commands;
}

function descriptionOf(command: { summary(): string; description(): string }): string {
  return [`${command.summary()}.`, command.description()].join('\n\n').trim();
}
