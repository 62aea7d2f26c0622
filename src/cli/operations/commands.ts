// The commands of running the service: keys, vault, jobs, webhooks, ledger, retention and mail.
import { exitUnknown, type MandateCommand } from '../mandate-command.ts';

export function addOperationsCommands(program: MandateCommand): void {
  addKeyCommands(program);
  addVaultCommands(program);
  addJobCommands(program);
  addWebhookCommands(program);
  addLedgerCommands(program);
  addRetentionCommands(program);
  addMailCommands(program);
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
}

function addVaultCommands(program: MandateCommand): void {
  program
    .subcommand('vault', { summary: 'Manage the stored cards', examples: ['mandate vault rotate'] })
    .subcommand('rotate', {
      summary: 'Encrypt every card with a new key',
      details:
        'Run it while the service runs. If it is interrupted, run it again: it continues where it stopped.',
      examples: ['mandate vault rotate', 'mandate vault rotate --wait 0'],
    })
    .option('--wait <seconds>', 'how long to wait until nodes know the new key; 0 if no node runs', '65')
    .action(async (options) => (await import('./vault.ts')).rotateVault(options));
}

function addJobCommands(program: MandateCommand): void {
  const jobs = program.subcommand('jobs', {
    summary: 'List and retry stuck jobs',
    details: 'A job is stuck after 15 failures in a row, over about an hour. It then waits for an operator.',
    examples: ['mandate jobs stuck'],
  });
  jobs
    .subcommand('stuck', {
      summary: 'List stuck jobs',
      details: 'Each has the reason of its last failure. Jobs that still retry automatically are not listed.',
      examples: ['mandate jobs stuck', 'mandate jobs stuck --json'],
    })
    .json()
    .action(async (options) => (await import('./jobs.ts')).listStuckJobs(options));
  jobs
    .subcommand('retry', {
      summary: 'Retry a stuck job from its first attempt',
      details: 'Use it when the cause is gone. A retry is safe: the bank is queried before anything is sent.',
      examples: ['mandate jobs retry payment 1NvbIoO4BTk/1'],
    })
    .argument('<kind>', 'the kind that mandate jobs stuck prints')
    .argument('<id>', 'the ID that mandate jobs stuck prints')
    .action(async (kind: string, id: string) => (await import('./jobs.ts')).retryJob(kind, id));
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
