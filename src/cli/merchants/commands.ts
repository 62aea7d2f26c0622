// The commands about merchants and their shops.
import { Option } from 'commander';
import { whenShortChoices } from '../../merchants/domain/party.ts';
import { repeated, type MandateCommand } from '../mandate-command.ts';

export function addMerchantCommands(program: MandateCommand): void {
  const party = program.subcommand('party', {
    summary: 'Manage merchants',
    details: 'A party is a merchant in the data. It owns shops and API keys.',
    examples: ['mandate party list'],
  });
  party
    .subcommand('create', {
      summary: 'Create a merchant',
      details: 'It prints the ID. Create a shop and an API key next.',
      examples: ['mandate party create --name "Example Ltd" --id P1'],
    })
    .requiredOption('--name <name>', 'the name of the merchant')
    .option('--id <id>', 'an ID of your choice; random by default')
    .action(async (options) => (await import('./merchants.ts')).createParty(options));
  party
    .subcommand('list', { summary: 'List all merchants', examples: ['mandate party list'] })
    .json()
    .action(async (options) => (await import('./merchants.ts')).listAllParties(options));
  for (const [verb, summary, flags] of tradingVerbs('merchant')) {
    party
      .subcommand(verb, { summary, details: detailsOf[verb], examples: [`mandate party ${verb} P1`] })
      .argument('<partyID>', 'an ID from mandate party list')
      .action(async (id: string) => (await import('./merchants.ts')).setParty(id, flags));
  }
  const shop = program.subcommand('shop', {
    summary: 'Manage shops',
    details: 'A shop sells in one currency and belongs to a merchant.',
    examples: ['mandate shop list --party P1'],
  });
  addShopCommands(shop);
  addRecurringSettings(shop);
  addShopSettings(shop);
}

const detailsOf = {
  block: 'Writes through the API are refused; reads work, and payments in progress continue.',
  unblock: 'It does not undo a suspension.',
  suspend: 'Use it when the merchant asks for it. Its effect is that of a block, and it is recorded apart.',
  activate: 'It does not undo a block.',
} as const;

function tradingVerbs(what: 'merchant' | 'shop') {
  return [
    ['block', `Refuse all writes of a ${what}`, { is_blocked: true }],
    ['unblock', `Lift the block of a ${what}`, { is_blocked: false }],
    ['suspend', `Suspend a ${what} at the merchant's request`, { is_suspended: true }],
    ['activate', `Lift the suspension of a ${what}`, { is_suspended: false }],
  ] as const;
}

function addShopCommands(shop: MandateCommand): void {
  shop
    .subcommand('create', {
      summary: 'Create a shop',
      details: 'It prints the ID. In live mode the shop takes real money, in the sandbox test money.',
      examples: ['mandate shop create --party P1 --name Books --currency EUR --url https://shop.example'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .requiredOption('--name <name>', 'the name of the shop')
    .requiredOption('--currency <code>', 'an ISO 4217 code such as EUR')
    .requiredOption('--url <url>', 'the address of the shop')
    .option('--category <id>', 'an ID from GET /v2/processing/categories', '1')
    .option('--id <id>', 'an ID of your choice; random by default')
    .action(async (options) => (await import('./merchants.ts')).createShop(options));
  shop
    .subcommand('list', {
      summary: 'List the shops of a merchant',
      examples: ['mandate shop list --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .json()
    .action(async (options) => (await import('./merchants.ts')).listShops(options));
  for (const [verb, summary, flags] of tradingVerbs('shop')) {
    shop
      .subcommand(verb, {
        summary,
        details: detailsOf[verb],
        examples: [`mandate shop ${verb} S1 --party P1`],
      })
      .requiredOption('--party <id>', 'the merchant')
      .argument('<shopID>', 'an ID from mandate shop list')
      .action(async (id: string, options) =>
        (await import('./merchants.ts')).setShop(id, { ...options, ...flags }),
      );
  }
}

function yesOrNo(flags: string, meaning: string): Option {
  return new Option(flags, meaning).choices(['yes', 'no']);
}

function subscriptionOptions(): Option[] {
  return [
    yesOrNo('--pause-by-payer <yes|no>', 'payers may pause their subscription; yes by default'),
    yesOrNo('--new-card-by-payer <yes|no>', 'payers may change the card; yes by default'),
    new Option(
      '--announce-each <hours>',
      'announce every charge of a subscription so long before; 0 for those that need it',
    ),
    new Option('--subscription-emails <who>', 'who writes to payers about subscriptions').choices([
      'service',
      'merchant',
    ]),
    yesOrNo('--charge-unannounced <yes|no>', 'charge also if an announcement has not reached the payer'),
  ];
}

function addRecurringSettings(shop: MandateCommand): void {
  const recurring = shop
    .subcommand('recurring', {
      summary: 'Show or change settings for recurring charges',
      details: 'It prints the settings as JSON. Options that are not given stay as they are.',
      examples: [
        'mandate shop recurring S1 --party P1',
        'mandate shop recurring S1 --party P1 --time-zone Europe/Berlin --period-rule refuse',
        'mandate shop recurring S1 --party P1 --schedule P1M --amount-rule upTo:100000',
      ],
    })
    .requiredOption('--party <id>', 'the merchant')
    .argument('<shopID>', 'an ID from mandate shop list')
    .option('--schedule <text>', 'default schedule of a consent: P1M, or words')
    .option('--valid-until <day>', 'default last day of a consent, such as 2030-12-31')
    .option('--amount-rule <rule>', 'default amount: fixed:29900, upTo:100000 or variable:words')
    .option('--contact <text>', 'where payers can ask, on receipts and pages')
    .addOption(
      new Option('--language <name>', 'language of receipts if that of the payer is unknown').choices([
        'en',
        'ru',
      ]),
    )
    .option('--time-zone <name>', 'IANA name; Europe/Moscow by default in RUB, otherwise UTC')
    .addOption(
      new Option(
        '--period-rule <rule>',
        'what happens to a second charge in a period of the schedule',
      ).choices(['warn', 'refuse']),
    )
    .addOption(yesOrNo('--enforce-amount <yes|no>', 'the amounts of consents from before 0.3.0 bind too'))
    .addOption(yesOrNo('--enforce-max-gap <yes|no>', 'refuse a charge six months after the last one'))
    .addOption(yesOrNo('--require-consent-evidence <yes|no>', 'save no card without evidence of consent'))
    .addOption(yesOrNo('--needs-api-key <yes|no>', 'refuse charges without the payer by access token'));
  for (const option of subscriptionOptions()) recurring.addOption(option);
  recurring.action(async (id: string, options) => (await import('./recurring.ts')).setRecurring(id, options));
}

function addRefundCommands(shop: MandateCommand): void {
  shop
    .subcommand('refunds', {
      summary: 'Show or change what refunds do without enough money',
      details:
        'A refund takes its amount and fee from the balance of the shop. If that is too small, the refund is refused. ' +
        'With an overdraft it takes the balance below zero, down to a limit. Or it waits for money, for ten days at most.',
      examples: [
        'mandate shop refunds S1 --party P1',
        'mandate shop refunds S1 --party P1 --when-short wait',
        'mandate shop refunds S1 --party P1 --when-short overdraft --overdraft-limit 5000000',
      ],
    })
    .requiredOption('--party <id>', 'the merchant')
    .argument('<shopID>', 'an ID from mandate shop list')
    .addOption(
      new Option('--when-short <choice>', 'what a refund does if the balance is too small').choices(
        whenShortChoices,
      ),
    )
    .option('--overdraft-limit <number>', 'how far refunds may take the balance below zero, in minor units')
    .json()
    .action(async (id: string, options) => (await import('./refunds.ts')).shopRefunds(id, options));
  shop
    .subcommand('top-up', {
      summary: 'Book money that came in for a shop',
      details:
        'Use it when a merchant has paid in money for refunds. It prints the ID. A repeat with the same reference books nothing.',
      examples: [
        'mandate shop top-up S1 --party P1 --amount 5000000 --from-bank MAIN --reference 2026-11-20/17',
      ],
    })
    .requiredOption('--party <id>', 'the merchant')
    .requiredOption('--amount <number>', 'in minor units')
    .requiredOption('--from-bank <account>', 'it arrived on this bank account of yours')
    .requiredOption('--reference <text>', "the bank's reference of the payment")
    .argument('<shopID>', 'an ID from mandate shop list')
    .action(async (id: string, options) => (await import('./refunds.ts')).topUpShop(id, options));
  shop
    .subcommand('reverse-top-up', {
      summary: 'Take a mistaken top-up back',
      details: 'It writes a reversing entry. It refuses when the shop no longer has the money.',
      examples: ['mandate shop reverse-top-up 9f2c41d07ab8 --reason "typed one zero too many"'],
    })
    .argument('<topUpID>', 'the ID that mandate shop top-up printed')
    .requiredOption('--reason <text>', 'why; kept in the event log')
    .action(async (id: string, options) => (await import('./refunds.ts')).reverseTopUp(id, options));
}

function addThreeDSecure(shop: MandateCommand): void {
  shop
    .subcommand('three-d-secure', {
      summary: 'Show or choose when payers are authenticated',
      details:
        'It is for payers who are present. With always, a payer who cannot be authenticated cannot pay. whenTheBankSays leaves it to the bank. ' +
        'With never, only cards to be saved are authenticated. A payment with its own threeDSecure overrides it.',
      examples: ['mandate shop three-d-secure S1 always --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .argument('<shopID>', 'an ID from mandate shop list')
    .argument('[wish]', 'always, whenTheBankSays or never')
    .action(async (id: string, wish: string | undefined, options) =>
      (await import('./three-d-secure.ts')).shopThreeDSecure(id, wish, options),
    );
}

function addReceipts(shop: MandateCommand): void {
  shop
    .subcommand('receipts', {
      summary: 'Choose whether one-off payments have receipts too',
      details:
        'With yes, a payer who gave an email address is sent a receipt for a payment without a series too. It is in the --language of mandate shop recurring.',
      examples: ['mandate shop receipts S1 yes --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .argument('<shopID>', 'an ID from mandate shop list')
    .argument('<yes|no>', 'whether they have')
    .action(async (id: string, answer: string, options) =>
      (await import('./merchants.ts')).shopReceipts(id, answer, options),
    );
}

function addBranding(shop: MandateCommand): void {
  shop
    .subcommand('branding', {
      summary: 'Show or change how the pages for payers look',
      details:
        'It is for the checkout and the page that ends recurring charges. Options that are not given stay as they are; none takes a value away. ' +
        'Payers can ask at the --contact of mandate shop recurring.',
      examples: [
        'mandate shop branding S1 --party P1 --terms https://shop.example/terms --privacy https://shop.example/privacy',
        'mandate shop branding S1 --party P1 --accent "#0b6b5c" --logo logo.png',
        'mandate shop branding S1 --party P1 --logo none',
      ],
    })
    .requiredOption('--party <id>', 'the merchant')
    .argument('<shopID>', 'an ID from mandate shop list')
    .option('--accent <colour>', 'of buttons, such as #0b6b5c; white text on it must be easy to read')
    .option('--logo <file>', 'PNG, JPEG or WebP, at most 8000 bytes')
    .option('--terms <url>', 'the terms of the shop')
    .option('--privacy <url>', 'how the shop handles personal data')
    .action(async (id: string, options) => (await import('./branding.ts')).shopBranding(id, options));
}

function addShopSettings(shop: MandateCommand): void {
  shop
    .subcommand('fees', {
      summary: 'Show or change the fees of a shop',
      details: 'Payments already created keep the fees they were created with.',
      examples: ['mandate shop fees S1 --party P1 --payment 2.5%+10,least=30,most=5000 --refund 0'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .argument('<shopID>', 'an ID from mandate shop list')
    .option('--payment <schedule>', 'fee on captured amounts: 2.5%, 10, 2.5%+10,least=30,most=5000, or 0')
    .option('--refund <schedule>', 'fee on refunded amounts, in the same form; amounts in minor units')
    .json()
    .action(async (id: string, options) => (await import('./fees.ts')).shopFees(id, options));
  addRefundCommands(shop);
  addThreeDSecure(shop);
  addBranding(shop);
  shop
    .subcommand('origins', {
      summary: 'Show or change the sites that may embed checkout',
      details:
        'These sites may show the checkout in a frame and get payers back. A list holds in a sandbox too. It prints the list.',
      examples: ['mandate shop origins S1 --party P1 --add https://shop.example'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .option('--add <origin>', 'allow a site such as https://shop.example; repeatable', repeated)
    .option('--remove <origin>', 'no longer allow a site; repeatable', repeated)
    .argument('<shopID>', 'an ID from mandate shop list')
    .json()
    .action(async (id: string, options) => (await import('./merchants.ts')).shopOrigins(id, options));
  addReceipts(shop);
  shop
    .subcommand('strict-ids', {
      summary: 'Choose whether IDs may look like card numbers',
      details:
        'With yes, an externalID or Idempotency-Key that holds a card number is refused. With no, it is logged as a warning.',
      examples: ['mandate shop strict-ids S1 yes --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .argument('<shopID>', 'an ID from mandate shop list')
    .argument('<yes|no>', 'whether they are refused')
    .action(async (id: string, answer: string, options) =>
      (await import('./merchants.ts')).shopStrictIds(id, answer, options),
    );
}
