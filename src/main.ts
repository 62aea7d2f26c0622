// The program and its subcommands, a line each. Every subcommand loads what it needs when it runs, so that --help is quick.
import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { addMerchantCommands } from './cli/merchants/commands.ts';
import { addPaymentCommands } from './cli/payments/commands.ts';
import { addPayoutCommands } from './cli/payouts/commands.ts';
import { presentNames } from './cli/renamed.ts';
import { assetPath } from './asset-paths.ts';

const { version } = JSON.parse(readFileSync(assetPath('../package.json'), 'utf8')) as {
  version: string;
};

const program = new Command('mandate')
  .description('Recurring card payments, card bindings and card payouts, self-hosted.')
  .version(version)
  .showHelpAfterError('(add --help for what there is)')
  .addHelpText(
    'after',
    '\nSettings come from the environment: see docs/operations/configuration.md, or `mandate config`.',
  );

program
  .command('serve')
  .description('run the service (npm start does this)')
  .action(async () => (await import('./cli/serve.ts')).serve());

program
  .command('sandbox')
  .description('show the address, API key and shop of the sandbox in the data folder')
  .argument('[field]', 'only this one: url, apiKey, shopID, bankUrl, docsUrl or demoUrl')
  .option('--json', 'as JSON, for scripts')
  .action(async (field: string | undefined, options: { json?: true }) =>
    (await import('./cli/sandbox.ts')).showSandbox(field, options),
  );

program
  .command('migrate')
  .description('bring the database up to date and stop; serve does it too')
  .action(async () => (await import('./cli/migrate.ts')).migrateDatabase());

program
  .command('config')
  .description('list every setting with its present value; secrets are not shown')
  .action(async () => (await import('./cli/config.ts')).showConfig());

const keys = program
  .command('keys')
  .description('API keys of merchants, and the keys that sign access tokens');
keys
  .command('create')
  .description('make an API key; its text is shown once')
  .requiredOption('--party <id>', 'whose key it is')
  .requiredOption('--name <name>', 'what you will know it by')
  .option('--scopes <names>', 'what it may do, separated by commas; everything by default')
  .action(async (options) => (await import('./cli/operations/keys.ts')).createKey(options));
keys
  .command('list')
  .description('list the keys of a party, without their secrets')
  .requiredOption('--party <id>', 'whose keys')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./cli/operations/keys.ts')).listKeys(options));
keys
  .command('rotate')
  .description('make a new key in place of one; the old one goes on for the overlap')
  .argument('<keyID>')
  .option('--overlap <hours>', 'how long both work', '24')
  .action(async (keyId: string, options) =>
    (await import('./cli/operations/keys.ts')).rotateKey(keyId, options),
  );
keys
  .command('revoke')
  .description('end a key; every node refuses it within a second')
  .argument('<keyID>')
  .action(async (keyId: string) => (await import('./cli/operations/keys.ts')).revokeKey(keyId));
keys
  .command('rotate-signing')
  .description('sign new access tokens with a new key; those issued before stay good')
  .action(async () => (await import('./cli/operations/keys.ts')).rotateSigningKey());

const consent = program.command('consent').description('what there is to show for the consent of a payer');
consent
  .command('verify')
  .description('check that a consent bundle is as it was sealed')
  .argument('<file>')
  .option(
    '--sealed-by <publicKey...>',
    'who must have sealed it, one of these; `mandate consent keys` shows the keys of this service',
  )
  .option('--sealed-here', 'this service must have sealed it, with whichever of its keys')
  .action(async (file: string, options) =>
    (await import('./cli/payments/consent.ts')).verifyConsent(file, options),
  );
consent
  .command('print')
  .description('make a page to print of a consent bundle, on standard output')
  .argument('<file>')
  .action(async (file: string) => (await import('./cli/payments/consent.ts')).printConsent(file));
consent
  .command('missing')
  .description('list the series that may be charged with no consent to show')
  .requiredOption('--party <id>')
  .option('--shop <id>', 'of this shop alone')
  .option('--json')
  .action(async (options) => (await import('./cli/payments/consent.ts')).listMissingConsents(options));
consent
  .command('key')
  .description('show the public key this service seals consent bundles with now')
  .action(async () => (await import('./cli/payments/consent.ts')).showConsentKey());
consent
  .command('keys')
  .description('list the public keys this service has ever sealed with, the newest last')
  .action(async () => (await import('./cli/payments/consent.ts')).listConsentKeys());
consent
  .command('rotate')
  .description('seal with a new key from now on; bundles and links made with those before stay good')
  .action(async () => (await import('./cli/payments/consent.ts')).rotateConsentKey());

program
  .command('mail')
  .description('the mail server receipts go through (SMTP_URL)')
  .command('test')
  .description('send a short email, to see that receipts would arrive')
  .argument('<address>', 'one of yours')
  .action(async (address: string) => (await import('./cli/operations/mail.ts')).testMail(address));

const vault = program.command('vault').description('the stored cards');
vault
  .command('rotate')
  .description('seal every card with a new key, while the service runs; it can be stopped and run again')
  .option('--wait <seconds>', 'how long running nodes may take to learn of the new key; 0 if none runs', '65')
  .action(async (options) => (await import('./cli/operations/vault.ts')).rotateVault(options));

addMerchantCommands(program);
addPaymentCommands(program);
addPayoutCommands(program);

const bank = program
  .command('bank')
  .enablePositionalOptions()
  .description(
    'the banks that take cards; alone it runs the simulated one, of which a sandbox has one inside',
  )
  .option('--public-url <url>', 'how payers reach its issuer’s page, if that is through a proxy')
  .option('--seed <number>', 'for the faults that are ordered by rate', '1')
  .action(async (options) => (await import('./cli/banks/bank.ts')).runBank(options));
const secretFile = [
  '--secret-file <file>',
  'where its secret is, - for standard input; else it is taken from BANK_SECRET',
] as const;
bank
  .command('add')
  .description('make a bank known; its secret is sealed and never shown')
  .argument('<bankID>', 'a name of your choice, which stands in the address of its callbacks')
  .requiredOption('--url <url>', 'where its operations are')
  .option(...secretFile)
  .action(async (id: string, options) => (await import('./cli/banks/banks.ts')).addBank(id, options));
bank
  .command('change')
  .description('the same bank at another address, or with a new secret')
  .argument('<bankID>')
  .option('--url <url>', 'where its operations are now')
  .option('--new-secret', 'with the secret in BANK_SECRET; --secret-file says it too')
  .option(...secretFile)
  .action(async (id: string, options) => (await import('./cli/banks/banks.ts')).changeBank(id, options));
bank
  .command('list')
  .description('list the banks, without their secrets')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./cli/banks/banks.ts')).listAllBanks(options));
bank
  .command('check')
  .description(
    'ask a bank about an operation that never was: proves its address and the secret, moves nothing',
  )
  .argument('<bankID>')
  .option('--json', 'as JSON')
  .action(async (id: string, options) => (await import('./cli/banks/banks.ts')).checkBank(id, options));
bank
  .command('remove')
  .description('forget a bank that no terminal has ever used')
  .argument('<bankID>')
  .action(async (id: string) => (await import('./cli/banks/banks.ts')).removeBank(id));
bank
  .command('conformance')
  .description('check whether a bank keeps the open bank protocol; BANK_SECRET is what it signs with')
  .requiredOption('--url <url>', 'where its operations are')
  .option('--card <number>', 'a card of the bank’s test system that is approved', '4242424242424242')
  .option('--other-card <number>', 'another one', '5555555555554444')
  .option('--declined-card <number>', 'one that is declined', '4000000000000002')
  .option('--challenge-card <number>', 'one whose payer must confirm', '4012888888881881')
  .option('--currency <code>', 'in which it works', 'RUB')
  .action(async (options) => (await import('./cli/banks/bank.ts')).checkConformance(options));

const terminal = program
  .command('terminal')
  .description('through which banks a shop takes cards or a merchant pays out, and under which name there');
terminal
  .command('add')
  .description('add one, or change it; the bank of one that exists stays')
  .argument('<terminalID>', 'as the bank calls it')
  .requiredOption('--party <id>')
  .option('--shop <id>', 'for payments of this shop')
  .option('--payouts', 'for payouts of the party')
  .requiredOption('--bank <id>', 'see mandate bank list')
  .requiredOption('--merchant <id>', 'its name with that bank')
  .requiredOption('--descriptor <text>', 'what payers read on their statements')
  .option('--priority <number>', 'of several the lowest is used whose bank answers', '1')
  .action(async (id: string, options) => (await import('./cli/banks/terminals.ts')).addTerminal(id, options));
terminal
  .command('list')
  .description('list the terminals of a merchant and of its shops')
  .requiredOption('--party <id>')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./cli/banks/terminals.ts')).listAllTerminals(options));
terminal
  .command('remove')
  .description('nothing new through it; what went through it can still be captured, refunded, asked about')
  .argument('<terminalID>')
  .requiredOption('--party <id>')
  .option('--shop <id>', 'one for payments of this shop')
  .option('--payouts', 'one for payouts')
  .action(async (id: string, options) =>
    (await import('./cli/banks/terminals.ts')).removeTerminal(id, options),
  );

const jobs = program.command('jobs').description('jobs that failed too often and wait for an operator');
jobs
  .command('stuck')
  .description('list stuck jobs, with the reason of the last failure')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./cli/operations/jobs.ts')).listStuckJobs(options));
jobs
  .command('retry')
  .description('run a stuck job again, from the first attempt')
  .argument('<kind>', 'as mandate jobs stuck shows it')
  .argument('<id>')
  .action(async (kind: string, id: string) => (await import('./cli/operations/jobs.ts')).retryJob(kind, id));

const bindings = program.command('bindings').description('cards that are being bound to customers');
bindings
  .command('refunds')
  .description('list the verification charges whose refund the bank has not confirmed')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./cli/payments/bindings.ts')).listRefunds(options));
bindings
  .command('resolve')
  .description('record that the payer has the money back; the binding fails, and no bank is contacted')
  .argument('<customerID>')
  .argument('<bindingID>')
  .requiredOption('--reason <text>', 'how you know; it is kept in the log')
  .action(async (customerId: string, bindingId: string, options) =>
    (await import('./cli/payments/bindings.ts')).resolveBinding(customerId, bindingId, options),
  );

const webhooks = program.command('webhooks').description('what merchants are told, and what became of it');
webhooks
  .command('list')
  .description('list the webhooks of a merchant')
  .requiredOption('--party <id>')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./cli/operations/webhooks.ts')).listWebhooks(options));
webhooks
  .command('parked')
  .description('list the queues of a webhook that are given up')
  .argument('<webhookID>')
  .option('--json', 'as JSON')
  .action(async (id: string, options) =>
    (await import('./cli/operations/webhooks.ts')).listParked(id, options),
  );
webhooks
  .command('resume')
  .description('take up what is parked, and try now what waits for a later attempt')
  .argument('<webhookID>')
  .option('--object <id>', 'the queue of one invoice, customer, series, withdrawal or destination alone')
  .action(async (id: string, options) =>
    (await import('./cli/operations/webhooks.ts')).resumeQueues(id, options),
  );
webhooks
  .command('replay')
  .description('send a stretch of time again, in order')
  .argument('<webhookID>')
  .requiredOption('--since <time>', 'a date-time, or how long ago: 30m, 24h, 7d')
  .option('--until <time>', 'likewise; now by default')
  .action(async (id: string, options) => (await import('./cli/operations/webhooks.ts')).replay(id, options));
webhooks
  .command('listen')
  .description('print what a merchant is told as it happens, and hand it on to a program on this machine')
  .option('--party <id>', 'whose notices', 'SANDBOX')
  .option('--shop <id>', 'of one shop alone')
  .option('--forward <url>', 'where to send them, signed: http://localhost:3000/notices')
  .action(async (options) => (await import('./cli/operations/webhooks.ts')).listen(options));
webhooks
  .command('reset-cursor')
  .description('once after a dump was restored into another PostgreSQL, with no node running')
  .action(async () => (await import('./cli/operations/webhooks.ts')).resetWebhookCursor());

const ledger = program.command('ledger').description('the books: double entry, checked');
ledger
  .command('check')
  .description(
    'check everything that must be true of them; ends with 1 if something is not, with 2 if it could not look',
  )
  .exitOverride(endAsNotFoundOut)
  .option('--recent', 'only what came since the last such check')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./cli/operations/ledger.ts')).runLedgerCheck(options));
ledger
  .command('account')
  .description('show an account: balances, rows, latest transfers')
  .argument('<id>', 'as in live:RUB:merchant.settlement:PARTY:SHOP, or a part of it to find some')
  .option('--hours <number>', 'how far back to look for transfers', '24')
  .option('--json', 'as JSON')
  .action(async (id: string, options) =>
    (await import('./cli/operations/ledger.ts')).showAccount(id, options),
  );
ledger
  .command('shard')
  .description('spread the balance of a busy account over more rows; may be done while it is used')
  .argument('<id>')
  .requiredOption('--shards <number>', 'rows next to the main one, up to 256')
  .action(async (id: string, options) => (await import('./cli/operations/ledger.ts')).shard(id, options));

const retention = program.command('retention').description('what is kept for how long, and what may go');
retention
  .command('show')
  .description('list the tables with their sizes, how long each keeps its rows and who deletes them')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./cli/operations/retention.ts')).showRetention(options));
retention
  .command('purge')
  .description('delete what nothing needs any more, beside running nodes; can be stopped and run again')
  .requiredOption('--older-than <days>', '90 at least')
  .option('--dry-run', 'only count')
  .action(async (options) => (await import('./cli/operations/retention.ts')).purgeOldRows(options));

const reconcile = program
  .command('reconcile')
  .description('compare a bank’s book or clearing file with what was asked of it here; changes nothing')
  .option(
    '--bank <bank>',
    'id or address of a bank, or a file: JSON as GET /book gives it, or CSV; else the only bank there is',
  )
  .option('--bank-id <bankID>', 'whose book it is, where that does not follow; else the only bank there is')
  .option('--from <time>', 'only from that moment on: 2026-11-20 or 2026-11-20T00:00:00+03:00')
  .option('--to <time>', 'only before that moment; a file ends with its last line anyway')
  .option('--pending-hours <number>', 'for how long something may be in progress', '24')
  .option('--list <number>', 'how many differences of each class to list; all are counted', '100')
  .option(
    '--restored-to <time>',
    'the moment the database was restored to: tells what the bank did since, and what to do about it',
  )
  .option('--json', 'as JSON')
  .addHelpText(
    'after',
    `
Ends with 0 when all is equal, 1 when something differs, 2 when it could not be found out.

  mandate reconcile --bank ACME
  mandate reconcile --bank clearing-2026-11-20.csv --bank-id ACME --from 2026-11-20 --to 2026-11-21`,
  )
  .action(async (options) => (await import('./cli/banks/reconcile.ts')).reconcileWithBank(options));
reconcile.exitOverride(endAsNotFoundOut);

try {
  await program.parseAsync(presentNames(process.argv.slice(2), program), { from: 'user' });
} catch (error) {
  // An operating fault: what happened and what to do is in its message, where the code is only in the way.
  console.error(`mandate: ${error instanceof Error ? error.message : String(error)}`);
  if (process.env['LOG_LEVEL'] === 'debug') console.error(error);
  process.exitCode ??= 1;
}

/** What was asked for wrongly must not look like something found. */
function endAsNotFoundOut({ exitCode }: { exitCode: number }): never {
  process.exit(exitCode === 0 ? 0 : 2);
}
