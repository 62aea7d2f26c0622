// The subcommands about merchants and their shops, a line each.
import { Option, type Command } from 'commander';

export function addMerchantCommands(program: Command): void {
  const party = program.command('party').description('merchants');
  party
    .command('create')
    .description('make a merchant; the answer is its id')
    .requiredOption('--name <name>')
    .option('--id <id>', 'an id of your choice instead of a random one')
    .action(async (options) => (await import('./merchants.ts')).createParty(options));
  party
    .command('list')
    .description('list all merchants')
    .action(async () => (await import('./merchants.ts')).listAllParties());
  for (const [verb, flags, meaning] of [
    ['block', { is_blocked: true }, 'refuse every write of a merchant'],
    ['unblock', { is_blocked: false }, 'let a blocked merchant trade again'],
    ['suspend', { is_suspended: true }, 'stop a merchant at his own wish'],
    ['activate', { is_suspended: false }, 'let a suspended merchant trade again'],
  ] as const) {
    party
      .command(verb)
      .description(meaning)
      .argument('<partyID>')
      .action(async (id: string) => (await import('./merchants.ts')).setParty(id, flags));
  }

  const shop = program.command('shop').description('shops of merchants');
  shop
    .command('create')
    .description(
      'make a shop, in live mode one for real money and in a sandbox one for tests; the answer is its id',
    )
    .requiredOption('--party <id>')
    .requiredOption('--name <name>')
    .requiredOption('--currency <code>', 'ISO 4217, RUB for instance')
    .requiredOption('--url <url>', 'the address of the shop')
    .option('--category <id>', 'see GET /v2/processing/categories', '1')
    .option('--id <id>', 'an id of your choice instead of a random one')
    .action(async (options) => (await import('./merchants.ts')).createShop(options));
  shop
    .command('list')
    .description('list the shops of a merchant')
    .requiredOption('--party <id>')
    .action(async (options) => (await import('./merchants.ts')).listShops(options));
  const yesOrNo = (flags: string, meaning: string) => new Option(flags, meaning).choices(['yes', 'no']);
  shop
    .command('recurring')
    .description('show or set what a shop wants of recurring charges beside the rules')
    .requiredOption('--party <id>')
    .argument('<shopID>')
    .option('--schedule <text>', 'of consents whose payment says nothing: P1M, or words')
    .option('--valid-until <day>', 'the last day of such consents, 2030-12-31')
    .option('--contact <text>', 'where payers can ask, on their receipts')
    .addOption(
      new Option('--language <name>', 'of receipts that are mailed, where the payer’s is not known').choices([
        'en',
        'ru',
      ]),
    )
    .addOption(yesOrNo('--enforce-max-gap <yes|no>', 'refuse a charge after six months without one'))
    .addOption(yesOrNo('--require-consent-evidence <yes|no>', 'store no card without the consent'))
    .addOption(yesOrNo('--needs-api-key <yes|no>', 'no charge with the token of an invoice'))
    .action(async (id: string, options) => (await import('./recurring.ts')).setRecurring(id, options));
  for (const [verb, flags, meaning] of [
    ['block', { is_blocked: true }, 'refuse every write of a shop'],
    ['unblock', { is_blocked: false }, 'let a blocked shop trade again'],
    ['suspend', { is_suspended: true }, 'stop a shop at its owner’s wish'],
    ['activate', { is_suspended: false }, 'let a suspended shop trade again'],
  ] as const) {
    shop
      .command(verb)
      .description(meaning)
      .requiredOption('--party <id>')
      .argument('<shopID>')
      .action(async (id: string, options) =>
        (await import('./merchants.ts')).setShop(id, { ...options, ...flags }),
      );
  }

  shop
    .command('fees')
    .description(
      'show what a shop is charged for, or change it; payments made before keep what they were made with',
    )
    .requiredOption('--party <id>')
    .argument('<shopID>')
    .option(
      '--payment <schedule>',
      'of what is captured: 2.5%, 10, 2.5%+10, 2.5%+10,least=30,most=5000, or 0',
    )
    .option('--refund <schedule>', 'of what is given back, likewise; amounts are in minor units')
    .action(async (id: string, options) => (await import('./fees.ts')).shopFees(id, options));
  const several = (text: string, before: string[] = []) => [...before, text];
  shop
    .command('origins')
    .description('show, or change, which sites may have the checkout in a frame and get payers back')
    .requiredOption('--party <id>')
    .option('--add <origin>', 'like https://shop.example; may be given several times', several)
    .option('--remove <origin>', 'may be given several times', several)
    .argument('<shopID>')
    .action(async (id: string, options) => (await import('./merchants.ts')).shopOrigins(id, options));
}
