// Commands and options that were renamed. The old names work for one minor version more and are in no help.

/** A command is named by its words; a group of commands by its first. */
const renamedCommands: readonly (readonly [old: string, now: string])[] = [
  ['stuck list', 'jobs stuck'],
  ['stuck retry', 'jobs retry'],
  ['stuck', 'jobs'],
  ['payments settle', 'payments resolve'],
  ['payout settle', 'payout resolve'],
  ['payout restore', 'payout recover'],
  ['payout end-grant', 'payout revoke-grant'],
  ['bindings owed', 'bindings refunds'],
  ['bindings close', 'bindings resolve'],
  ['webhooks rebase', 'webhooks reset-cursor'],
  ['ledger spread', 'ledger shard'],
  ['retention sweep', 'retention purge'],
  ['mail try', 'mail test'],
];

/** By the present name of their command. */
const renamedOptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'wallet deposit': { '--name': '--reference' },
  'ledger shard': { '--lanes': '--shards' },
  'payout recover': { '--of': '--bank-id' },
  reconcile: { '--of': '--bank-id', '--open-hours': '--pending-hours' },
};

/** The arguments of the program with every old name replaced by the present one. */
export function presentNames(argv: readonly string[]): string[] {
  const renamed = renamedCommands.find(([old]) => startsWith(argv, old));
  const words =
    renamed === undefined ? argv : [...wordsOf(renamed[1]), ...argv.slice(wordsOf(renamed[0]).length)];
  const [, names = {}] = Object.entries(renamedOptions).find(([command]) => startsWith(words, command)) ?? [];
  const end = words.indexOf('--');
  return words.map((word, index) => (end >= 0 && index > end ? word : withPresentOption(word, names)));
}

function wordsOf(command: string): string[] {
  return command.split(' ');
}

function startsWith(argv: readonly string[], command: string): boolean {
  return wordsOf(command).every((word, index) => argv[index] === word);
}

/** `--name X`, or `--name=X`. */
function withPresentOption(word: string, names: Readonly<Record<string, string>>): string {
  const [name = ''] = word.split('=', 1);
  return Object.hasOwn(names, name) ? `${names[name]}${word.slice(name.length)}` : word;
}
