// The commands of running the service: keys, vault, jobs, webhooks, ledger, retention and mail.
import { exitUnknown, repeated, type MandateCommand } from '../mandate-command.ts';

export function addOperationsCommands(program: MandateCommand): void {
  addKeyCommands(program);
  addVaultCommands(program);
  addJobCommands(program);
  addWebhookCommands(program);
  addLedgerCommands(program);
  addDatabaseCommands(program);
  addRetentionCommands(program);
  addMailCommands(program);
  addCardCommands(program);
}

function addKeyCommands(program: MandateCommand): void {
  const keys = program.subcommand('keys', {
    summary: 'Manage API keys and the token-signing key',
    examples: ['mandate keys list --party P1'],
  });
  keys
    .subcommand('create', {
      summary: 'Create an API key',
      details: 'The key is printed once and cannot be shown again. Without --scopes it has every scope.',
      examples: ['mandate keys create --party P1 --name backend --scopes invoices:write,invoices:read'],
    })
    .requiredOption('--party <id>', 'the merchant the key belongs to')
    .requiredOption('--name <name>', 'a name to recognise the key by')
    .option('--scopes <names>', 'scopes separated by commas; all by default')
    .action(async (options) => (await import('./keys.ts')).createKey(options));
  keys
    .subcommand('list', {
      summary: 'List the API keys of a merchant',
      details: 'It shows no secrets. It also lists revoked keys and those of the other mode.',
      examples: ['mandate keys list --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .json()
    .action(async (options) => (await import('./keys.ts')).listKeys(options));
  keys
    .subcommand('rotate', {
      summary: 'Replace an API key',
      details: 'It prints a new key with the same scopes. The old key works until the overlap ends.',
      examples: ['mandate keys rotate a1B2c3D4e5F6 --overlap 48'],
    })
    .argument('<keyID>', 'an ID from mandate keys list')
    .option('--overlap <hours>', 'how long both keys work, up to 8760', '24')
    .action(async (keyId: string, options) => (await import('./keys.ts')).rotateKey(keyId, options));
  addKeyEndCommands(keys);
}

function addKeyEndCommands(keys: MandateCommand): void {
  keys
    .subcommand('revoke', {
      summary: 'Revoke an API key',
      details: 'Every node refuses the key within a second. A revoked key cannot be restored.',
      examples: ['mandate keys revoke a1B2c3D4e5F6'],
    })
    .argument('<keyID>', 'an ID from mandate keys list')
    .action(async (keyId: string) => (await import('./keys.ts')).revokeKey(keyId));
  keys
    .subcommand('rotate-signing', {
      summary: 'Sign new access tokens with a new key',
      details: 'Tokens issued before stay valid until they expire. API keys are not affected.',
      examples: ['mandate keys rotate-signing'],
    })
    .action(async () => (await import('./keys.ts')).rotateSigningKey());
  keys
    .subcommand('change-master-key', {
      summary: 'Encrypt all stored keys with another master key',
      details:
        'Stop every node first. Put the new key into MANDATE_MASTER_KEY and the old one into a file. What was copied from the ' +
        'database before stays readable with the old key.',
      examples: ['mandate keys change-master-key --old-key-file /root/old-master-key'],
    })
    .requiredOption('--old-key-file <path>', 'a file with the old master key in base64')
    .action(async (options) => (await import('./master-key.ts')).replaceMasterKey(options));
}

function addVaultCommands(program: MandateCommand): void {
  program
    .subcommand('vault', { summary: 'Manage the stored cards', examples: ['mandate vault rotate'] })
    .subcommand('rotate', {
      summary: 'Encrypt every card with a new key',
      details:
        'Run it while the service runs. If it is interrupted, run it again: it continues where it stopped. ' +
        'The first run also renews keys that version 0.2.0 has made: start it once no node of 0.2.0 runs.',
      examples: ['mandate vault rotate', 'mandate vault rotate --wait 0'],
    })
    .option('--wait <seconds>', 'how long to wait until nodes know the new key; 0 if no node runs', '65')
    .action(async (options) => (await import('./vault.ts')).rotateVault(options));
}

function addJobCommands(program: MandateCommand): void {
  const jobs = program.subcommand('jobs', {
    summary: 'Find failing and stuck jobs, and retry stuck ones',
    details: 'A job is stuck after 15 failures in a row, over about an hour. It then waits for an operator.',
    examples: ['mandate jobs stuck'],
  });
  jobs
    .subcommand('failing', {
      summary: 'List jobs that failed and are retried automatically',
      details:
        'Of every kind, from the first failure on: payments, payouts, saved cards, emails. ' +
        'Each has the reason of its last failure. It lists up to 1000 of each kind, the next try first.',
      examples: ['mandate jobs failing', 'mandate jobs failing --json'],
    })
    .json()
    .action(async (options) => (await import('./jobs.ts')).listFailingJobs(options));
  jobs
    .subcommand('stuck', {
      summary: 'List stuck jobs',
      details:
        'Each has the reason of its last failure. Jobs that still retry automatically are in "mandate jobs failing".',
      examples: ['mandate jobs stuck', 'mandate jobs stuck --json'],
    })
    .json()
    .action(async (options) => (await import('./jobs.ts')).listStuckJobs(options));
  jobs
    .subcommand('retry', {
      summary: 'Retry a stuck job, or all of a kind',
      details:
        'Use it when the cause is gone. A retry is safe: the bank is queried first, or recognises a repeat by its ID. ' +
        'An email may arrive twice.',
      examples: ['mandate jobs retry payment 1NvbIoO4BTk/1', 'mandate jobs retry withdrawal --all'],
    })
    .argument('<kind>', 'the kind that mandate jobs stuck prints')
    .argument('[id]', 'the ID that mandate jobs stuck prints')
    .option('--all', 'every stuck job of the kind')
    .action(async (kind: string, id: string | undefined, options) =>
      (await import('./jobs.ts')).retryJobs(kind, id, options),
    );
}

function addWebhookCommands(program: MandateCommand): void {
  const webhooks = program.subcommand('webhooks', {
    summary: 'Inspect and replay webhook deliveries',
    examples: ['mandate webhooks list --party P1'],
  });
  webhooks
    .subcommand('list', {
      summary: 'List the webhooks of a merchant',
      examples: ['mandate webhooks list --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .json()
    .action(async (options) => (await import('./webhooks.ts')).listWebhooks(options));
  webhooks
    .subcommand('parked', {
      summary: 'List the parked queues of a webhook',
      details: 'A queue is parked after its last delivery attempt fails. It lists up to 1000.',
      examples: ['mandate webhooks parked 1NvbIoO4BTk'],
    })
    .argument('<webhookID>', 'an ID from mandate webhooks list')
    .json()
    .action(async (id: string, options) => (await import('./webhooks.ts')).listParked(id, options));
  webhooks
    .subcommand('resume', {
      summary: 'Resume parked and delayed deliveries',
      details: 'Use it when the receiver works again. Nothing is sent that was already accepted.',
      examples: [
        'mandate webhooks resume 1NvbIoO4BTk',
        'mandate webhooks resume 1NvbIoO4BTk --object 1Nvc7h2mKsq',
      ],
    })
    .argument('<webhookID>', 'an ID from mandate webhooks list')
    .option('--object <id>', 'only the queue of this invoice, customer, series, withdrawal or destination')
    .action(async (id: string, options) => (await import('./webhooks.ts')).resumeQueues(id, options));
  addReplayCommands(webhooks);
}

function addReplayCommands(webhooks: MandateCommand): void {
  webhooks
    .subcommand('replay', {
      summary: 'Send the webhook events of a period again',
      details:
        'Each object gets its events again in order, with the same eventIDs. Receivers must ignore repeats.',
      examples: ['mandate webhooks replay 1NvbIoO4BTk --since 24h'],
    })
    .argument('<webhookID>', 'an ID from mandate webhooks list')
    .requiredOption('--since <time>', 'start: a date-time, or how long ago (30m, 24h, 7d)')
    .option('--until <time>', 'end, in the same form; now by default')
    .action(async (id: string, options) => (await import('./webhooks.ts')).replay(id, options));
  webhooks
    .subcommand('listen', {
      summary: 'Print webhook events and forward them locally',
      details:
        'Use it in development, without a registered webhook. It forwards each event once and does not retry.',
      examples: [
        'mandate webhooks listen',
        'mandate webhooks listen --shop TEST --forward http://localhost:3000/webhooks',
      ],
    })
    .option('--party <id>', 'the merchant', 'SANDBOX')
    .option('--shop <id>', 'only the events of this shop')
    .option('--forward <url>', 'the address to send signed events to')
    .action(async (options) => (await import('./webhooks.ts')).listen(options));
  webhooks
    .subcommand('reset-cursor', {
      summary: 'Reset the webhook cursor after a restore',
      details:
        'Run it once, with no node running, after you restored a dump into another PostgreSQL. ' +
        'Events before it count as sent: use replay for those that were not. ' +
        'It refuses when the event log fits this PostgreSQL.',
      examples: ['mandate webhooks reset-cursor'],
    })
    .option('--force', 'reset also when the event log fits this PostgreSQL')
    .action(async (options: { force?: true }) => (await import('./webhooks.ts')).resetWebhookCursor(options));
}

function addLedgerCommands(program: MandateCommand): void {
  const ledger = program.subcommand('ledger', {
    summary: 'Check and inspect the double-entry ledger',
    examples: ['mandate ledger check'],
  });
  ledger
    .subcommand('check', {
      summary: 'Check every invariant of the ledger',
      details:
        'Exit code: 0 if all hold, 1 if one is violated, 2 if the check could not run. It changes nothing.',
      examples: ['mandate ledger check', 'mandate ledger check --recent --json'],
    })
    .exitOverride(exitUnknown)
    .option('--recent', 'only what changed since the last such check')
    .json()
    .action(async (options) => (await import('./ledger.ts')).runLedgerCheck(options));
  ledger
    .subcommand('account', {
      summary: 'Show the balances and transfers of an account',
      details: 'If no account has this ID, it lists up to 20 whose ID contains it.',
      examples: ['mandate ledger account test:RUB:merchant.settlement:SANDBOX:TEST'],
    })
    .argument('<accountID>', 'an ID such as live:RUB:merchant.settlement:PARTY:SHOP')
    .option('--hours <number>', 'how far back to list transfers, up to 8784', '24')
    .json()
    .action(async (id: string, options) => (await import('./ledger.ts')).showAccount(id, options));
  ledger
    .subcommand('shard', {
      summary: 'Spread the balance of a busy account over more rows',
      details:
        'Writers of the account then wait less for each other. The service may run. The balance does not change.',
      examples: ['mandate ledger shard test:RUB:merchant.settlement:SANDBOX:TEST --shards 16'],
    })
    .argument('<accountID>', 'the account')
    .requiredOption('--shards <number>', 'rows next to the main one, up to 256')
    .action(async (id: string, options) => (await import('./ledger.ts')).shard(id, options));
}

function addRetentionCommands(program: MandateCommand): void {
  const retention = program.subcommand('retention', {
    summary: 'Show and delete old rows',
    examples: ['mandate retention show'],
  });
  retention
    .subcommand('show', {
      summary: 'List tables, their sizes and retention',
      examples: ['mandate retention show'],
    })
    .json()
    .action(async (options) => (await import('./retention.ts')).showRetention(options));
  retention
    .subcommand('purge', {
      summary: 'Delete rows that no rule needs any more',
      details: 'Run it while the service runs. If it is interrupted, run it again. Payments and ledger stay.',
      examples: ['mandate retention purge --older-than 365 --dry-run'],
    })
    .requiredOption('--older-than <days>', 'at least 90')
    .option('--dry-run', 'count the rows and delete none')
    .action(async (options) => (await import('./retention.ts')).purgeOldRows(options));
}

function addMailCommands(program: MandateCommand): void {
  program
    .subcommand('mail', {
      summary: 'Test the mail server for receipts',
      examples: ['mandate mail test you@example.com'],
    })
    .subcommand('test', {
      summary: 'Send a test email through SMTP_URL',
      details: 'It shows that the mail server accepts receipts. Whether they arrive, check in the mailbox.',
      examples: ['mandate mail test you@example.com'],
    })
    .argument('<address>', 'an address of yours')
    .action(async (address: string) => (await import('./mail.ts')).testMail(address));
}

function addDatabaseCommands(program: MandateCommand): void {
  const database = program.subcommand('database', {
    summary: 'Give and check the rights of database roles',
    examples: ['mandate database check'],
  });
  database
    .subcommand('grants', {
      summary: 'Print the SQL that gives roles their rights',
      details:
        'Run it as the owner of the tables, after the first migration and after each upgrade. The service can then not change the log, ' +
        'the ledger or the tables themselves. A reader sees no sealed data. It connects to nothing.',
      examples: [
        'mandate database grants --service svc_mandate',
        'mandate database grants --service svc_mandate --reader report_mandate',
      ],
    })
    .requiredOption('--service <role>', 'the role in the DATABASE_URL of nodes and commands')
    .option('--reader <role>', 'a role for reports')
    .action(async (options) => (await import('./database.ts')).printGrants(options));
  database
    .subcommand('check', {
      summary: 'Check what the role of the service may do',
      details:
        'It checks the role in DATABASE_URL, the triggers that protect the log, and TLS. Exit code: 0 if every rule holds, ' +
        '1 if one is violated, 2 if the check could not run. It changes nothing.',
      examples: ['mandate database check', 'mandate database check --reader report_mandate --json'],
    })
    .exitOverride(exitUnknown)
    .option('--reader <role>', 'also check this role for reports')
    .json()
    .action(async (options) => (await import('./database.ts')).runDatabaseCheck(options));
}

function addCardCommands(program: MandateCommand): void {
  const testing = program.subcommand('card-testing', {
    summary: 'Show and end the guard of shops where cards are tested',
    examples: ['mandate card-testing list'],
  });
  testing
    .subcommand('list', {
      summary: 'List shops that challenge or refuse payers',
      details:
        'A shop is guarded for 30 minutes after nearly all its cards were declined. It challenges every payer, and if that ' +
        'does not help it refuses payers who enter a card. Charges without the payer continue.',
      examples: ['mandate card-testing list', 'mandate card-testing list --json'],
    })
    .json()
    .action(async (options) => (await import('../cards/card-testing.ts')).listGuardedShops(options));
  testing
    .subcommand('reset', {
      summary: 'End the guard of a shop',
      details: 'Use it when the declines had another reason. It also forgets them.',
      examples: ['mandate card-testing reset S1 --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .argument('<shopID>', 'an ID from mandate card-testing list')
    .action(async (id: string, options) =>
      (await import('../cards/card-testing.ts')).resetGuard(id, options),
    );
  program
    .subcommand('pan-scan', {
      summary: 'Search everything stored for card numbers',
      details:
        'It reads every table, the data folder and the paths given, and names where a card number stands in the clear, never the ' +
        'number. It opens gzip, tar and dumps of pg_dump, and names what it cannot open on standard error. It ends with 0 if there ' +
        'is none, with 1 if there is one, and with 2 if it failed. With 3 it found none, but did not search everything.',
      examples: ['mandate pan-scan', 'mandate pan-scan --path /var/log/mandate --json'],
    })
    .option(
      '--path <path>',
      'a file or folder to search as well, such as archived logs; repeatable',
      repeated,
    )
    .json()
    .action(async (options) => (await import('../cards/pan-scan.ts')).scanForCards(options));
}
