// The commands about identities, wallets and payouts.
import { Argument, Option } from 'commander';
import { returnCodes } from '../../acquiring/domain/bank-port.ts';
import { levels } from '../../identities/domain/provider.ts';
import type { MandateCommand } from '../mandate-command.ts';

export function addPayoutCommands(program: MandateCommand): void {
  const identity = program.subcommand('identity', {
    summary: 'Manage the identities that pay out',
    details: 'An identity is the person or company in whose name wallets and destinations are kept.',
    examples: ['mandate identity list --party P1'],
  });
  addIdentityCommands(identity);
  addIdentityBlocks(identity);
  addWalletCommands(program);
  const payout = program.subcommand('payout', {
    summary: 'Set payout terms and resolve stuck payouts',
    examples: ['mandate payout fee --party P1 --currency RUB --fixed 3000'],
  });
  addLimitCommands(payout);
  addPayoutTerms(payout);
  addPayoutRepairs(payout);
}

function addIdentityCommands(identity: MandateCommand): void {
  identity
    .subcommand('list', {
      summary: 'List the identities of a merchant',
      details: 'It lists up to 1000.',
      examples: ['mandate identity list --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .json()
    .action(async (options) => (await import('./payouts.ts')).listIdentities(options));
  identity
    .subcommand('approve', {
      summary: 'Complete the pending identification',
      examples: ['mandate identity approve 1NvbIoO4BTk'],
    })
    .argument('<identityID>', 'an ID from mandate identity list')
    .action(async (id: string) =>
      (await import('./payouts.ts')).decideIdentification(id, { isPassed: true }),
    );
  identity
    .subcommand('reject', {
      summary: 'Fail the pending identification',
      details: 'The level of the identity stays. The merchant can start another identification.',
      examples: ['mandate identity reject 1NvbIoO4BTk --reason "the passport has expired"'],
    })
    .argument('<identityID>', 'an ID from mandate identity list')
    .requiredOption('--reason <text>', 'sent to the merchant')
    .action(async (id: string, options: { reason: string }) =>
      (await import('./payouts.ts')).decideIdentification(id, { isPassed: false, ...options }),
    );
  identity
    .subcommand('level', {
      summary: 'Set the identification level of an identity',
      details: 'Use it when you identified the person yourself. It starts no identification.',
      examples: ['mandate identity level 1NvbIoO4BTk identified --reason "met in person"'],
    })
    .argument('<identityID>', 'an ID from mandate identity list')
    .addArgument(new Argument('<level>', 'the new level').choices(levels))
    .requiredOption('--reason <text>', 'kept in the event log')
    .action(async (id: string, level: (typeof levels)[number], options) =>
      (await import('./payouts.ts')).setLevel(id, level, options),
    );
}

function addIdentityBlocks(identity: MandateCommand): void {
  identity
    .subcommand('block', {
      summary: 'Refuse payouts of an identity',
      details: 'It refuses payouts from its wallets and to its destinations.',
      examples: ['mandate identity block 1NvbIoO4BTk'],
    })
    .argument('<identityID>', 'an ID from mandate identity list')
    .action(async (id: string) => (await import('./payouts.ts')).blockIdentity(id, true));
  identity
    .subcommand('unblock', {
      summary: 'Allow payouts of an identity again',
      examples: ['mandate identity unblock 1NvbIoO4BTk'],
    })
    .argument('<identityID>', 'an ID from mandate identity list')
    .action(async (id: string) => (await import('./payouts.ts')).blockIdentity(id, false));
}

function addWalletCommands(program: MandateCommand): void {
  const wallet = program.subcommand('wallet', {
    summary: 'Fund wallets',
    examples: [
      'mandate wallet deposit 1NvbIoO4BTk --amount 5000000 --from-shop S1 --reference 2026-11-20/17',
    ],
  });
  wallet
    .subcommand('reverse-deposit', {
      summary: 'Take a mistaken deposit back',
      details:
        'It writes a reversing entry; the deposit stays in the list, as reverted. It refuses when the wallet no longer has the money.',
      examples: ['mandate wallet reverse-deposit 1NvbIoO4BTk --reason "typed one zero too many"'],
    })
    .argument('<depositID>', 'the ID that mandate wallet deposit printed')
    .requiredOption('--reason <text>', 'why; kept in the event log')
    .action(async (id: string, options) => (await import('./deposits.ts')).reverseDeposit(id, options));
  wallet
    .subcommand('deposit', {
      summary: 'Put money on a wallet',
      details: 'It prints the ID of the deposit. The same --reference deposits nothing more.',
      examples: [
        'mandate wallet deposit 1NvbIoO4BTk --amount 5000000 --from-bank MAIN --reference 2026-11-20/17',
      ],
    })
    .argument('<walletID>', 'the wallet')
    .requiredOption('--amount <number>', 'in minor units')
    .option('--from-shop <id>', 'take it from the balance of this shop of the merchant')
    .option('--from-bank <account>', 'it arrived on this bank account of yours')
    .option('--from-suspense <bankID>', 'it came back from this bank when the wallet was blocked')
    .requiredOption('--reference <text>', 'your ID of the deposit, such as that of your bank')
    .option('--description <text>', 'shown to the merchant')
    .action(async (id: string, options) => (await import('./deposits.ts')).deposit(id, options));
}

function addLimitCommands(payout: MandateCommand): void {
  const limits = payout.subcommand('limits', {
    summary: 'Set how much may be paid out in each currency',
    details:
      'A row has a currency, and may be for one merchant, network and level. The most specific row applies: that of the merchant ' +
      'first, then that of the network. Without a row, nothing is paid out in that currency in live mode.',
    examples: ['mandate payout limits list'],
  });
  addSetLimits(limits);
  limits
    .subcommand('list', {
      summary: 'List the rows of payout limits',
      details: 'In party, network and level, * stands for all.',
      examples: ['mandate payout limits list --party P1'],
    })
    .option('--party <id>', 'with the rows of this merchant')
    .json()
    .action(async (options) => (await import('./limits.ts')).listLimits(options));
  withLimitKey(
    limits.subcommand('remove', {
      summary: 'Remove a row of payout limits',
      details: 'If no other row applies, nothing is paid out in that currency in live mode.',
      examples: ['mandate payout limits remove --currency JPY --reason "contract ended"'],
    }),
  )
    .requiredOption('--reason <text>', 'why; printed with what is removed')
    .action(async (options) => (await import('./limits.ts')).removeLimits(options));
}

/** What tells one row of limits from another. */
function withLimitKey(command: MandateCommand): MandateCommand {
  return command
    .requiredOption('--currency <code>', 'an ISO 4217 code such as RUB')
    .option('--party <id>', 'only for this merchant')
    .option('--network <name>', 'only for cards of this network, such as visa')
    .addOption(new Option('--level <level>', 'only for identities of this level').choices(levels));
}

function addSetLimits(limits: MandateCommand): void {
  withLimitKey(
    limits.subcommand('set', {
      summary: 'Set a row of payout limits',
      details:
        'It replaces the row for the same currency, merchant, network and level. A limit that is not given does not apply. ' +
        'Days and months are counted for each identity and for each card, over all wallets, transfers to other identities included.',
      examples: [
        'mandate payout limits set --currency JPY --per-payout 500000 --per-day 2000000 --reason "bank contract 7"',
      ],
    }),
  )
    .requiredOption('--reason <text>', 'why; kept with the row')
    .option('--by <name>', 'who; your user name by default')
    .option('--min <number>', 'least for one payout, in minor units')
    .option('--per-payout <number>', 'most for one payout, in minor units')
    .option('--per-day <number>', 'most per identity and per card a day, in minor units')
    .option('--per-month <number>', 'most per identity and per card a month, in minor units')
    .option('--number-per-day <number>', 'most payouts per identity and per card a day')
    .option('--card-per-day <number>', 'most per card a day, if not as for an identity')
    .option('--card-per-month <number>', 'most per card a month, if not as for an identity')
    .option('--card-number-per-day <number>', 'most payouts per card a day, if not as for an identity')
    .option('--none', 'no limits, in place of the options above')
    .action(async (options) => (await import('./limits.ts')).setLimits(options));
}

function addPayoutTerms(payout: MandateCommand): void {
  payout
    .subcommand('fee', {
      summary: 'Set the payout fee of a merchant',
      details:
        'The fee is charged on top of the amount. It does not change payouts already created. A part that is not given is 0.',
      examples: ['mandate payout fee --party P1 --currency RUB --basis-points 50 --fixed 3000'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .requiredOption('--currency <code>', 'an ISO 4217 code such as RUB')
    .option('--basis-points <number>', 'hundredths of a percent of the amount')
    .option('--fixed <number>', 'in minor units; 0 alone for no fee')
    .action(async (options) => (await import('./payouts.ts')).setFee(options));
}

function addPayoutRepairs(payout: MandateCommand): void {
  payout
    .subcommand('resolve', {
      summary: 'Record the outcome of a stuck withdrawal',
      details:
        'Use it when you know the outcome and no bank reports it. It contacts no bank. It cannot be undone. ' +
        'With --since it is refused if the payout was retried after that time: it may have been sent meanwhile.',
      examples: [
        'mandate payout resolve 1NvbIoO4BTk --as succeeded --reason "bank statement, line 4"',
        'mandate payout resolve 1NvbIoO4BTk --as failed --since 2026-11-20T10:00:00.123000Z --reason "message 17"',
      ],
    })
    .argument('<withdrawalID>', 'the withdrawal')
    .addOption(
      new Option('--as <outcome>', 'succeeded, or failed: the money returns to the wallet')
        .choices(['succeeded', 'failed'])
        .makeOptionMandatory(),
    )
    .option('--since <time>', 'as mandate jobs stuck printed it before you asked the bank; needed for failed')
    .requiredOption('--reason <text>', 'how you know it; kept in the event log')
    .action(async (id: string, options) => (await import('./payouts.ts')).resolvePayout(id, options));
  addReturned(payout);
  addRecovery(payout);
  payout
    .subcommand('restored', {
      summary: 'Only ask about payouts that a restore found unsent',
      details:
        'Use it before the first node starts. The database does not know what was sent after its backup, so nothing of before is ' +
        'sent: the banks are only asked. Running it again changes nothing more.',
      examples: ['mandate payout restored'],
    })
    .action(async () => (await import('./payouts.ts')).doubtPayouts());
  payout
    .subcommand('revoke-grant', {
      summary: 'Revoke a grant to pay out from a wallet',
      details: 'A grant that was already used cannot be revoked: it pays nothing more.',
      examples: ['mandate payout revoke-grant 1NvbIoO4BTk'],
    })
    .argument('<grantID>', 'an ID that mandate payout recover prints; in a token, the part between the dots')
    .action(async (id: string) => (await import('./recover-payout.ts')).revokeGrant(id));
}

function addReturned(payout: MandateCommand): void {
  payout
    .subcommand('returned', {
      summary: 'Record that the money of a payout came back',
      details:
        'Use it when the bank says so in writing, or when "mandate reconcile" lists it. A bank that says it over the bank protocol ' +
        'needs no command. The money goes to the wallet, the fee stays. The same return is recorded once.',
      examples: [
        'mandate payout returned 1NvbIoO4BTk --code account_closed --at 2026-11-20T10:00:00Z --reason "message 17"',
      ],
    })
    .argument('<withdrawalID>', 'the withdrawal')
    .addOption(new Option('--code <code>', 'why it came back').choices(returnCodes).makeOptionMandatory())
    .requiredOption('--at <time>', 'when, as the bank says: 2026-11-20T10:00:00Z')
    .requiredOption('--reason <text>', 'how you know it; kept in the event log')
    .option('--amount <number>', 'how much, in minor units; all of it by default')
    .action(async (id: string, options) => (await import('./returned.ts')).recordReturn(id, options));
}

function addRecovery(payout: MandateCommand): void {
  payout
    .subcommand('recover', {
      summary: 'Record a payout that a restored database lost',
      details:
        'Use it after a restore, for payouts that "mandate reconcile --restored-to" lists. ' +
        'The amount comes from the report of the bank. Nothing is sent.',
      examples: [
        'mandate payout recover 1NvbIoO4BTk.p --wallet 1Nvc7h2mKsq --destination 1Nvc8a9xQeT --reason "restore of 20 May"',
      ],
    })
    .argument('<operationID>', 'an ID that mandate reconcile prints')
    .requiredOption('--wallet <id>', 'the wallet that paid, from the records of the merchant')
    .requiredOption('--destination <id>', 'the destination; its card must match the report')
    .requiredOption('--reason <text>', 'who you are and how you know it; kept in the event log')
    .option('--external-id <text>', 'the externalID of the merchant, so that their repeat pays nothing')
    .option('--party <id>', 'the merchant that asked, if not the owner of the wallet')
    .option('--wallet-grant <token>', 'the grant they used, which is used up; lost if it was lost too')
    .option('--destination-party <id>', 'the owner of the destination, if not the merchant that asked')
    .option('--bank <bank>', 'ID or address of a bank, or a report file; the only bank by default')
    .option('--bank-id <bankID>', 'the bank that the report is from, if --bank does not say it')
    .action(async (id: string, options) => (await import('./recover-payout.ts')).recoverPayout(id, options));
}
