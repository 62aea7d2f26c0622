// The commands about what lists and searches look through.
import { Option } from 'commander';
import { exportedKinds } from '../../search/exports/domain/export.ts';
import { repeated, type MandateCommand } from '../mandate-command.ts';

export function addSearchCommands(program: MandateCommand): void {
  program
    .subcommand('search', {
      summary: 'Maintain what lists and searches look through',
      examples: ['mandate search rebuild'],
    })
    .subcommand('rebuild', {
      summary: 'Copy every invoice, payment, refund and payout again',
      details:
        'Run it while the service runs. Their sums are made again, too, and the counts of what banks answered in the last month. If it is interrupted, the nodes finish it. Meanwhile searches find what they found before.',
      examples: ['mandate search rebuild'],
    })
    .action(async () => (await import('./rebuild.ts')).rebuildSearch());
  addExportCommands(program);
}

function addExportCommands(program: MandateCommand): void {
  const exports = program.subcommand('export', {
    summary: 'Order and save CSV files of what a search finds',
    details: 'The guide docs/guide/invoices/exports.md has the columns. A file is kept for seven days.',
    examples: ['mandate export order payments --party P1 --shop S1 --since 30d'],
  });
  addOrderCommand(exports);
  exports
    .subcommand('list', {
      summary: 'List the exports of a merchant',
      examples: ['mandate export list --party P1'],
    })
    .requiredOption('--party <id>', 'the merchant')
    .json()
    .action(async (options) => (await import('./exports.ts')).listExports(options));
  exports
    .subcommand('save', {
      summary: 'Save the file of an export that is ready',
      details: 'It compares the hash, and leaves no file that is not whole.',
      examples: ['mandate export save 1NvbIoO4BTk --party P1 --out payments.csv'],
    })
    .argument('<exportID>', 'the export')
    .requiredOption('--party <id>', 'the merchant')
    .requiredOption('--out <file>', 'the new file')
    .action(async (id: string, options) => (await import('./exports.ts')).saveExport(id, options));
  exports
    .subcommand('cancel', {
      summary: 'Cancel an export that is not ready',
      examples: ['mandate export cancel 1NvbIoO4BTk --party P1'],
    })
    .argument('<exportID>', 'the export')
    .requiredOption('--party <id>', 'the merchant')
    .action(async (id: string, options) => (await import('./exports.ts')).cancelOrdered(id, options));
}

function addOrderCommand(exports: MandateCommand): void {
  exports
    .subcommand('order', {
      summary: 'Order a file for a merchant',
      details: 'It prints the ID of the export. A node that runs makes the file.',
      examples: [
        'mandate export order payments --party P1 --shop S1 --since 30d',
        'mandate export order refunds --party P1 --shop S1 --since 2026-01-01T00:00:00Z --filter refundStatus=failed',
        'mandate export order withdrawals --party P1 --since 7d',
      ],
    })
    .argument('<what>', `one of ${exportedKinds.join(', ')}`)
    .requiredOption('--party <id>', 'the merchant')
    .option('--shop <id>', 'a shop, all by default; repeatable', repeated)
    .option('--except-shop <id>', 'all but this shop; repeatable', repeated)
    .requiredOption('--since <time>', 'created since: a date-time, or how long ago (30m, 7d)')
    .option('--until <time>', 'created before: a date-time, or how long ago; now by default')
    .option(
      '--filter <name=value>',
      'another parameter of the search; repeatable, and lists take commas',
      repeated,
    )
    .option('--time-zone <name>', 'in which times are shown once more; that of the shop by default')
    .addOption(new Option('--delimiter <character>', 'between cells').choices([',', ';']))
    .option('--byte-order-mark', 'begin with the mark by which some spreadsheets know UTF-8')
    .option('--column <name>', 'a column of the file, all by default; repeatable', repeated)
    .action(async (what: string, options) => (await import('./exports.ts')).orderExport(what, options));
}
