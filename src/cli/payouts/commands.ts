// The subcommands about identities, wallets and payouts, a line each.
import type { Command } from 'commander';

export function addPayoutCommands(program: Command): void {
  const identity = program
    .command('identity')
    .description('in whose name wallets are held, and how well it is known');
  identity
    .command('list')
    .description('list the identities of a merchant')
    .requiredOption('--party <id>')
    .action(async (options) => (await import('./payouts.ts')).listIdentities(options));
  identity
    .command('approve')
    .description('complete the identification that is under way')
    .argument('<identityID>')
    .action(async (id: string) =>
      (await import('./payouts.ts')).decideIdentification(id, { isPassed: true }),
    );
  identity
    .command('reject')
    .description('let the identification that is under way fail')
    .argument('<identityID>')
    .requiredOption('--reason <text>', 'what the merchant is told')
    .action(async (id: string, options: { reason: string }) =>
      (await import('./payouts.ts')).decideIdentification(id, { isPassed: false, ...options }),
    );
  identity
    .command('level')
    .description('set how well it is known, without an identification')
    .argument('<identityID>')
    .argument('<level>', 'anonymous, partial or identified')
    .requiredOption('--reason <text>', 'for the log')
    .action(async (id: string, level: string, options) =>
      (await import('./payouts.ts')).setLevel(id, level, options),
    );
  identity
    .command('block')
    .description('refuse every payout of its wallets and to its destinations')
    .argument('<identityID>')
    .action(async (id: string) => (await import('./payouts.ts')).blockIdentity(id, true));
  identity
    .command('unblock')
    .description('let it pay out again')
    .argument('<identityID>')
    .action(async (id: string) => (await import('./payouts.ts')).blockIdentity(id, false));

  program
    .command('wallet')
    .description('what payouts are made from')
    .command('deposit')
    .description('put money on a wallet; the answer is the id of the deposit')
    .argument('<walletID>')
    .requiredOption('--amount <number>', 'in minor units')
    .option('--from-shop <id>', 'from the balance of this shop of the same merchant')
    .option('--from-bank <account>', 'it came to this bank account of yours')
    .option(
      '--reference <text>',
      'your own for it, as the one of your bank: the command given again with the same reference puts no more on the wallet',
    )
    .option('--description <text>', 'for the merchant')
    .action(async (id: string, options) => (await import('./payouts.ts')).deposit(id, options));

  const payout = program.command('payout').description('payouts to cards');
  payout
    .command('limits')
    .description('agree on limits with a merchant, in place of the usual ones; what is left out has none')
    .requiredOption('--party <id>')
    .requiredOption('--level <level>', 'of the identity: anonymous, partial or identified')
    .requiredOption('--currency <code>')
    .option('--per-payout <number>', 'in minor units')
    .option('--per-day <number>', 'in minor units, for each wallet')
    .option('--per-month <number>', 'in minor units, for each wallet')
    .option('--number-per-day <number>', 'of payouts, for each wallet')
    .action(async (options) => (await import('./payouts.ts')).setLimits(options));
  payout
    .command('fee')
    .description('agree on what a payout costs a merchant, on top of it')
    .requiredOption('--party <id>')
    .requiredOption('--currency <code>')
    .option('--basis-points <number>', 'hundredths of a percent', '0')
    .option('--fixed <number>', 'in minor units', '0')
    .action(async (options) => (await import('./payouts.ts')).setFee(options));
  payout
    .command('resolve')
    .description('record the outcome of a withdrawal when no bank reports it; no bank is contacted')
    .argument('<withdrawalID>')
    .requiredOption('--as <end>', 'succeeded, or failed: then its money goes back to the wallet')
    .requiredOption('--reason <text>', 'how you know; it stays in the log')
    .action(async (id: string, options) => (await import('./payouts.ts')).resolveWithdrawal(id, options));
  payout
    .command('recover')
    .description('write down a payout that a bank has made and a restored database lost')
    .argument(
      '<operationID>',
      'as mandate reconcile --restored-to tells it; its amount is taken from the book',
    )
    .requiredOption('--wallet <id>', 'the wallet it was paid from, as the merchant’s own records have it')
    .requiredOption(
      '--destination <id>',
      'the destination it went to; its card is compared with the one in the book',
    )
    .requiredOption('--reason <text>', 'who you are and how you know; it stays in the log')
    .option('--external-id <text>', 'what the merchant called it, so that his repeat pays nothing')
    .option('--party <id>', 'who asked for it, where that was not the owner of the wallet')
    .option(
      '--wallet-grant <token>',
      'by which grant he did, which is used up; or lost, where it is not known here any more',
    )
    .option('--destination-party <id>', 'whose destination it is, where not that of who asked')
    .option(
      '--bank <name>',
      'id or address of the bank, or a file with its book; else the only bank there is',
    )
    .option('--bank-id <bankID>', 'whose book it is, where that does not follow')
    .action(async (id: string, options) => (await import('./recover-payout.ts')).recoverPayout(id, options));
  payout
    .command('revoke-grant')
    .description('revoke a grant of a wallet, so that nothing is paid out by it any more')
    .argument('<grantID>', 'as mandate payout recover tells it; in a token it stands between the dots')
    .action(async (id: string) => (await import('./recover-payout.ts')).revokeGrant(id));
}
