// The commands about identities, wallets and payouts.
import { Argument, Option } from 'commander';
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
  program
    .subcommand('wallet', {
      summary: 'Fund wallets',
      examples: ['mandate wallet deposit 1NvbIoO4BTk --amount 5000000 --from-shop S1'],
    })
    .subcommand('deposit', {
      summary: 'Put money on a wallet',
      details:
        'It prints the ID of the deposit. Give --reference to make a repeat safe: it deposits nothing more.',
      examples: [
        'mandate wallet deposit 1NvbIoO4BTk --amount 5000000 --from-bank MAIN --reference 2026-11-20/17',
      ],
    })
    .argument('<walletID>', 'the wallet')
    .requiredOption('--amount <number>', 'in minor units')
    .option('--from-shop <id>', 'take it from the balance of this shop of the merchant')
    .option('--from-bank <account>', 'it arrived on this bank account of yours')
    .option('--reference <text>', 'your ID of the deposit, such as that of your bank')
    .option('--description <text>', 'shown to the merchant')
    .action(async (id: string, options) => (await import('./payouts.ts')).deposit(id, options));
}

function addPayoutTerms(payout: MandateCommand): void {
  payout
    .subcommand('limits', {
      summary: 'Set the payout limits of a merchant',
      details:
        'They replace all limits for this level and currency. A limit that is not given does not apply.',
      examples: ['mandate payout limits --party P1 --level identified --currency RUB --per-day 60000000'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .addOption(
      new Option('--level <level>', 'identities these limits are for').choices(levels).makeOptionMandatory(),
    )
    .requiredOption('--currency <code>', 'an ISO 4217 code such as RUB')
    .option('--per-payout <number>', 'most for one payout, in minor units')
    .option('--per-day <number>', 'most per wallet and day, in minor units')
    .option('--per-month <number>', 'most per wallet and month, in minor units')
    .option('--number-per-day <number>', 'most payouts per wallet and day')
    .option('--none', 'no limits, in place of the options above')
    .action(async (options) => (await import('./payouts.ts')).setLimits(options));
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
        'Use it when you know the outcome and no bank reports it. It contacts no bank. It cannot be undone.',
      examples: ['mandate payout resolve 1NvbIoO4BTk --as succeeded --reason "bank statement, line 4"'],
    })
    .argument('<withdrawalID>', 'the withdrawal')
    .addOption(
      new Option('--as <outcome>', 'succeeded, or failed: the money returns to the wallet')
        .choices(['succeeded', 'failed'])
        .makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'how you know it; kept in the event log')
    .action(async (id: string, options) => (await import('./payouts.ts')).resolveWithdrawal(id, options));
  addRecovery(payout);
  payout
    .subcommand('revoke-grant', {
      summary: 'Revoke a grant to pay out from a wallet',
      details: 'A grant that was already used cannot be revoked: it pays nothing more.',
      examples: ['mandate payout revoke-grant 1NvbIoO4BTk'],
    })
    .argument('<grantID>', 'an ID that mandate payout recover prints; in a token, the part between the dots')
    .action(async (id: string) => (await import('./recover-payout.ts')).revokeGrant(id));
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
