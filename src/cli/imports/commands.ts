// The commands of moving from another provider.
import type { MandateCommand } from '../mandate-command.ts';

export function addImportCommands(program: MandateCommand): void {
  const imports = program.subcommand('import', {
    summary: 'Import cards and consents from another provider',
    details: 'The guide docs/guide/recurring/moving.md has the steps and the format of a row.',
    examples: ['mandate import cards cards.sealed --party P1 --key /mnt/keys/import.pem --dry-run'],
  });
  imports
    .subcommand('key', {
      summary: 'Make the key pair of an import',
      details:
        'It writes the private key to a new file that only you can read, and prints the public key. Give the public key to the ' +
        'former provider. Delete the private key after the import.',
      examples: ['mandate import key --out /mnt/keys/import.pem'],
    })
    .requiredOption('--out <file>', 'the new file for the private key')
    .action(async (options) => (await import('./import-files.ts')).makeImportKey(options));
  imports
    .subcommand('encrypt', {
      summary: 'Encrypt rows to the public key of an import',
      details:
        'For the sender. It reads rows of JSON, one a line. It changes nothing in a row and checks none.',
      examples: [
        'mandate import encrypt rows.jsonl --to 0Ttp6pCYyJ5lVx8nYxLbi9Qc3vZq2eHkqSYwmGcWm3s --out /mnt/keys/cards.sealed',
        'provider-export | mandate import encrypt - --to 0Ttp6pCYyJ5lVx8nYxLbi9Qc3vZq2eHkqSYwmGcWm3s --out cards.sealed',
      ],
    })
    .argument('<rows>', 'a file of rows, or - to read standard input')
    .requiredOption('--to <key>', 'the public key that mandate import key printed')
    .requiredOption('--out <file>', 'the new file for the encrypted rows')
    .action(async (rows: string, options) => (await import('./import-files.ts')).encryptRows(rows, options));
  imports
    .subcommand('cards', {
      summary: 'Import an encrypted file of cards and consents',
      details:
        'It reads the whole file first, and writes nothing if a byte is not as it was encrypted. If it is interrupted, run it again: ' +
        'it continues. What is imported already is left as it is. It exits with 1 if it did not import some rows.',
      examples: [
        'mandate import cards cards.sealed --party P1 --key /mnt/keys/import.pem',
        'mandate import cards cards.sealed --party P1 --key /mnt/keys/import.pem --dry-run',
      ],
    })
    .argument('<file>', 'a file of mandate import encrypt')
    .requiredOption('--party <id>', 'the merchant')
    .requiredOption('--key <file>', 'the private key of mandate import key')
    .option('--dry-run', 'check every row and write nothing')
    .json()
    .action(async (file: string, options) => (await import('./import-cards.ts')).importFile(file, options));
}
