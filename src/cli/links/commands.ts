// The commands about payment links.
import type { MandateCommand } from '../mandate-command.ts';

export function addLinkCommands(program: MandateCommand): void {
  const links = program.subcommand('links', {
    summary: 'Manage payment links',
    details:
      'A payment link is the address of a checkout page. Each payer who opens it pays an invoice of their own. Each link has an ' +
      'invoice template, which the API also makes.',
    examples: ['mandate links list --party P1'],
  });
  addCreate(links);
  links
    .subcommand('list', {
      summary: 'List the payment links of a merchant',
      details: 'The newest first. Deleted ones are not listed.',
      examples: ['mandate links list --party P1'],
    })
    .requiredOption('--party <partyID>', 'the merchant')
    .option('--limit <number>', 'how many to list, up to 1000', '50')
    .json()
    .action(async (options) => (await import('./links.ts')).listLinks(options));
  links
    .subcommand('show', {
      summary: 'Show a payment link, also as a QR code',
      details: 'Print the SVG file at 3 cm or more.',
      examples: ['mandate links show 1NvbIoO4BTk --qr', 'mandate links show 1NvbIoO4BTk --svg link.svg'],
    })
    .argument('<linkID>', 'an ID from mandate links list')
    .option('--qr', 'draw a QR code of the link')
    .option('--svg <file>', 'write a QR code of the link to a file, for print')
    .json()
    .action(async (id: string, options) => (await import('./links.ts')).showLink(id, options));
  links
    .subcommand('delete', {
      summary: 'End a payment link',
      details: 'Its page then says that the link no longer works. Invoices made before can still be paid.',
      examples: ['mandate links delete 1NvbIoO4BTk'],
    })
    .argument('<linkID>', 'an ID from mandate links list')
    .action(async (id: string) => (await import('./links.ts')).deleteLink(id));
}

function addCreate(links: MandateCommand): void {
  links
    .subcommand('create', {
      summary: 'Create a payment link',
      details: 'It prints the link. Give payers its address, or a QR code of it.',
      examples: [
        'mandate links create --party P1 --shop S1 --product "Ticket" --amount 60000',
        'mandate links create --party P1 --shop S1 --product "Donation" --amount 10000-500000 --qr',
      ],
    })
    .requiredOption('--party <partyID>', 'the merchant')
    .requiredOption('--shop <shopID>', 'its shop')
    .requiredOption('--product <text>', 'what payers pay for')
    .requiredOption(
      '--amount <number>',
      'in minor units; a range such as 10000-500000, or any, lets the payer choose',
    )
    .option('--description <text>', 'shown to the payer below the product')
    .option('--name <name>', 'your name for it; payers do not see it')
    .option('--days <number>', 'how long the payer can pay an invoice of it', '3')
    .option('--qr', 'draw a QR code of the link')
    .json()
    .action(async (options) => (await import('./links.ts')).createLink(options));
}
