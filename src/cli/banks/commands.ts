// The commands about banks, terminals and reconciliation.
import { Option } from 'commander';
import { sourcesOfFunds } from '../../acquiring/domain/routing/payout-terminal.ts';
import { exitUnknown, repeated, type MandateCommand } from '../mandate-command.ts';

export function addBankCommands(program: MandateCommand): void {
  const bank = program
    .subcommand('bank', {
      summary: 'Run the simulated bank, or manage banks',
      details:
        'Without a subcommand it runs the simulated bank as a program of its own. A sandbox contains one already.',
      creates: 'secret and state of the simulated bank, in the data folder',
      examples: ['BANK_PORT=9100 mandate bank', 'mandate bank list'],
    })
    .enablePositionalOptions()
    .option('--public-url <url>', 'how payers reach the page of its issuer, if through a proxy')
    .option('--seed <number>', 'seed of the faults that happen at a rate', '1')
    .action(async (options) => (await import('./bank.ts')).runBank(options))
    .hook('preSubcommand', (bank) => {
      const given = bank.options.find(
        (option) => bank.getOptionValueSource(option.attributeName()) === 'cli',
      );
      if (given) bank.error(`Option ${given.long} is for the simulated bank alone. Remove it.`);
    });
  addBankChanges(bank);
  addBankStops(bank);
  addBankChecks(bank);
  addTerminalCommands(program);
  addReconcileCommand(program);
}

const secretFile = [
  '--secret-file <file>',
  'file with its secret, - for standard input; else BANK_SECRET',
] as const;

function addBankChanges(bank: MandateCommand): void {
  bank
    .subcommand('add', {
      summary: 'Add a bank',
      details: 'Its secret is stored encrypted and never shown. Add a terminal next.',
      examples: ['mandate bank add ACME --url https://gateway.example/mandate --secret-file acme.secret'],
    })
    .argument('<bankID>', 'an ID of your choice; it is part of the callback address')
    .requiredOption('--url <url>', 'the address of its bank protocol')
    .option(...secretFile)
    .action(async (id: string, options) => (await import('./banks.ts')).addBank(id, options));
  bank
    .subcommand('change', {
      summary: 'Change the address or secret of a bank',
      details: 'Every node uses the change within a second. Terminals stay.',
      examples: ['mandate bank change ACME --secret-file acme.secret'],
    })
    .argument('<bankID>', 'an ID from mandate bank list')
    .option('--url <url>', 'the new address of its bank protocol')
    .option('--new-secret', 'take the new secret from BANK_SECRET; --secret-file implies it')
    .option(...secretFile)
    .action(async (id: string, options) => (await import('./banks.ts')).changeBank(id, options));
  bank
    .subcommand('list', {
      summary: 'List banks',
      details: 'It shows no secrets.',
      examples: ['mandate bank list'],
    })
    .json()
    .action(async (options) => (await import('./banks.ts')).listAllBanks(options));
  bank
    .subcommand('remove', {
      summary: 'Remove a bank that no terminal has used',
      details: 'A bank with terminals stays, for refunds. Remove its terminals to send it nothing new.',
      examples: ['mandate bank remove ACME'],
    })
    .argument('<bankID>', 'an ID from mandate bank list')
    .action(async (id: string) => (await import('./banks.ts')).removeBank(id));
}

function addBankStops(bank: MandateCommand): void {
  bank
    .subcommand('confirm', {
      summary: 'Let a stopped bank be used again',
      details:
        'A bank is stopped when its report has operations that are unknown here. All that the report has now counts as known.',
      examples: ['mandate bank confirm ACME --reason "Ann, restored to 14:31 and reconciled"'],
    })
    .argument('<bankID>', 'an ID from mandate bank list')
    .requiredOption('--reason <text>', 'who decides so, and why')
    .action(async (id: string, options) => (await import('./bank-stops.ts')).confirmBank(id, options));
  bank
    .subcommand('resume', {
      summary: 'Let a bank have charges of subscriptions again',
      details:
        'They are held for a time when too many fail at the bank. Payers who are present are never held.',
      examples: ['mandate bank resume ACME'],
    })
    .argument('<bankID>', 'an ID from mandate bank list')
    .action(async (id: string) => (await import('./bank-stops.ts')).resumeBank(id));
  bank
    .subcommand('share', {
      summary: 'Say whether others use the account at a bank',
      details:
        'If they do, its report has operations of theirs, and the bank is never stopped because of them.',
      examples: ['mandate bank share ACME', 'mandate bank share ACME --end'],
    })
    .argument('<bankID>', 'an ID from mandate bank list')
    .option('--end', 'only this installation uses it')
    .action(async (id: string, options) => (await import('./bank-stops.ts')).shareBank(id, options));
  bank
    .subcommand('contradictions', {
      summary: 'List what banks say against their own proof',
      details: 'Also updates that cannot be read. It changed nothing here. The newest 100, the latest first.',
      examples: ['mandate bank contradictions'],
    })
    .json()
    .action(async (options) => (await import('./bank-stops.ts')).listContradictions(options));
  bank
    .subcommand('waiting', {
      summary: 'List updates of banks that wait',
      details:
        'An update waits for the outcome of its operation, and is tried each minute. The oldest 100, with the state of the operation.',
      examples: ['mandate bank waiting'],
    })
    .json()
    .action(async (options) => (await import('./bank-stops.ts')).listWaiting(options));
}

function addBankChecks(bank: MandateCommand): void {
  bank
    .subcommand('check', {
      summary: 'Check the address and secret of a bank',
      details:
        'It queries an operation that does not exist. It moves no money and does not test the whole protocol.',
      examples: ['mandate bank check ACME'],
    })
    .argument('<bankID>', 'an ID from mandate bank list')
    .json()
    .action(async (id: string, options) => (await import('./banks.ts')).checkBank(id, options));
  bank
    .subcommand('conformance', {
      summary: 'Check that a bank keeps the bank protocol',
      details:
        'Run it against the test system of a bank: it creates operations. BANK_SECRET is the secret it signs with.',
      examples: ['BANK_SECRET=… mandate bank conformance --url https://test.gateway.example/mandate'],
    })
    .requiredOption('--url <url>', 'the address of its bank protocol')
    .option('--card <number>', 'a test card that is approved', '4242424242424242')
    .option('--other-card <number>', 'another one', '5555555555554444')
    .option('--declined-card <number>', 'a test card that is declined', '4000000000000002')
    .option('--challenge-card <number>', 'a test card that asks for 3-D Secure', '4012888888881881')
    .option('--currency <code>', 'the currency to use', 'RUB')
    .action(async (options) => (await import('./bank.ts')).checkConformance(options));
}

function addTerminalCommands(program: MandateCommand): void {
  const terminal = program.subcommand('terminal', {
    summary: 'Manage the terminals of shops and merchants',
    details: 'A terminal is the account of a shop, or of a merchant for payouts, at a bank.',
    examples: ['mandate terminal list --party P1'],
  });
  addAddTerminal(terminal);
  terminal
    .subcommand('list', {
      summary: 'List the terminals of a merchant and its shops',
      examples: ['mandate terminal list --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .json()
    .action(async (options) => (await import('./terminals.ts')).listAllTerminals(options));
  addTerminalStops(terminal);
}

function addTerminalStops(terminal: MandateCommand): void {
  terminal
    .subcommand('resume', {
      summary: 'End the pause of a terminal',
      details:
        'A decline for a wrong set-up pauses recurring charges for 15 minutes. Use it once the set-up is corrected.',
      examples: ['mandate terminal resume T1 --party P1 --shop S1'],
    })
    .argument('<terminalID>', 'an ID from mandate terminal list')
    .requiredOption('--party <id>', 'the merchant')
    .requiredOption('--shop <id>', 'the shop')
    .action(async (id: string, options) => (await import('./terminals.ts')).resumeCharges(id, options));
  terminal
    .subcommand('remove', {
      summary: 'Stop using a terminal for new payments',
      details: 'Payments that went through it can still be captured and refunded.',
      examples: ['mandate terminal remove T1 --party P1 --shop S1'],
    })
    .argument('<terminalID>', 'an ID from mandate terminal list')
    .requiredOption('--party <id>', 'the merchant')
    .option('--shop <id>', 'a terminal for payments of this shop')
    .option('--payouts', 'a terminal for payouts')
    .action(async (id: string, options) => (await import('./terminals.ts')).removeTerminal(id, options));
}

function addAddTerminal(terminal: MandateCommand): void {
  terminal
    .subcommand('add', {
      summary: 'Add or change a terminal',
      details:
        'Give --shop or --payouts. An existing terminal keeps its bank: use another ID for another bank. ' +
        'A hold lasts as --hold-days says for the network and payerPresent or withoutPayer, else a day less than the bank declares, or three days.',
      examples: [
        'mandate terminal add T1 --party P1 --shop S1 --bank ACME --merchant 000123 --descriptor "EXAMPLE SHOP"',
        'mandate terminal add T1 --party P1 --shop S1 --bank ACME --merchant 000123 --descriptor EXAMPLE --mcc 5734 --country RUS',
        'mandate terminal add T2 --party P1 --payouts --bank ACME --merchant 000124 --descriptor EXAMPLE --currencies RUB=60000000,JPY',
      ],
    })
    .argument('<terminalID>', 'the ID of the terminal at the bank')
    .requiredOption('--party <id>', 'the merchant')
    .option('--shop <id>', 'for payments of this shop')
    .option('--payouts', 'for payouts of the merchant')
    .requiredOption('--bank <id>', 'an ID from mandate bank list')
    .requiredOption('--merchant <id>', 'the ID of the merchant at the bank')
    .requiredOption('--descriptor <text>', 'what payers read on their statements')
    .option('--mcc <code>', 'the category code of the merchant, 4 digits, if the bank asks for it')
    .option('--name <text>', 'the name of the merchant, if the bank asks for it')
    .option('--city <text>', 'the city of the merchant, if the bank asks for it')
    .option('--country <code>', 'the country of the merchant, such as RUS, if the bank asks for it')
    .option('--url <address>', 'the site of the merchant, if the bank asks for it')
    .option('--sub-merchant <id>', 'the ID of the merchant behind a payment facilitator')
    .option('--priority <number>', 'the lowest is used first; the next if its bank is unreachable', '1')
    .option('--hold-days <network.initiation=days>', 'how long the bank keeps a hold; repeatable', repeated)
    .option(
      '--currencies <list>',
      'for payouts: its currencies, with the largest amount in minor units if there is one; any for all',
    )
    .option('--demands <list>', 'for payouts: what it wants to know of a sender, such as name,visa.address')
    .addOption(
      new Option(
        '--source-of-funds <code>',
        'for payouts: where the money comes from; 05 by default',
      ).choices(sourcesOfFunds),
    )
    .option(
      '--purposes <list>',
      'for payouts: the codes a payout may have, the usual one first; FD by default',
    )
    .action(async (id: string, options) => (await import('./terminals.ts')).addTerminal(id, options));
}

function addReconcileCommand(program: MandateCommand): void {
  program
    .subcommand('reconcile', {
      summary: 'Compare the report of a bank with our records',
      details:
        'Exit code: 0 if all is equal, 1 if something differs, 2 if it could not compare. It changes nothing.',
      examples: [
        'mandate reconcile --bank ACME',
        'mandate reconcile --bank clearing-2026-11-20.csv --bank-id ACME --from 2026-11-20 --to 2026-11-21',
      ],
    })
    .exitOverride(exitUnknown)
    .option(
      '--bank <bank>',
      'ID or address of a bank, or a JSON or CSV report file; the only bank by default',
    )
    .option('--bank-id <bankID>', 'the bank that the report is from, if --bank does not say it')
    .option('--from <time>', 'start: 2026-11-20 (midnight UTC) or 2026-11-20T00:00:00+03:00')
    .option('--to <time>', 'end, exclusive, in the same form; a file ends with its last line')
    .option('--pending-hours <number>', 'how long an operation may be in progress', '24')
    .option('--list <number>', 'differences to list for each class; all are counted', '100')
    .option('--restored-to <time>', 'the time the database was restored to; lists what was lost since')
    .json()
    .action(async (options) => (await import('./reconcile.ts')).reconcileWithBank(options));
}
