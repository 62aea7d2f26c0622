// Commands and options that were renamed. The old names work for one more minor version and are in no help.
import type { Command } from 'commander';

/** A command by its words, a group of commands by its first word. */
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

/** By the new name of their command. */
const renamedOptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'wallet deposit': { '--name': '--reference' },
  'ledger shard': { '--lanes': '--shards' },
  'payout recover': { '--of': '--bank-id' },
  reconcile: { '--of': '--bank-id', '--open-hours': '--pending-hours' },
};

/** The arguments of the program with new names for old ones. */
export function presentNames(argv: readonly string[], program: Command): string[] {
  const words = withPresentCommand(argv);
  const [command, names] = Object.entries(renamedOptions).find(([name]) => startsWith(words, name)) ?? [];
  if (command === undefined || names === undefined) return words;
  const withValue = optionsWithValue(program, wordsOf(command));
  let isLiteral = false;
  let isLast = false;
  return words.map((word) => {
    const present = isLiteral || isLast ? word : withPresentOption(word, names);
    isLast ||= !isLiteral && word === '--';
    isLiteral = !isLiteral && withValue.has(present);
    return present;
  });
}

/** `help` comes before the name of a command, or between its words. */
function withPresentCommand(argv: readonly string[]): string[] {
  const helpAt = argv.slice(0, 2).indexOf('help');
  const words = helpAt < 0 ? [...argv] : argv.toSpliced(helpAt, 1);
  const renamed = renamedCommands.find(([old]) => startsWith(words, old));
  if (renamed !== undefined) words.splice(0, wordsOf(renamed[0]).length, ...wordsOf(renamed[1]));
  return helpAt < 0 ? words : words.toSpliced(helpAt, 0, 'help');
}

/** The word after one of these is its value. */
function optionsWithValue(program: Command, [word, ...more]: readonly string[]): Set<string | undefined> {
  const command = program.commands.find((one) => one.name() === word) ?? program;
  if (more.length > 0) return optionsWithValue(command, more);
  return new Set(command.options.filter(({ required }) => required).map(({ long }) => long));
}

function wordsOf(command: string): string[] {
  return command.split(' ');
}

function startsWith(argv: readonly string[], command: string): boolean {
  return wordsOf(command).every((word, index) => argv[index] === word);
}

/** Reads `--name X` and `--name=X`. */
function withPresentOption(word: string, names: Readonly<Record<string, string>>): string {
  const [name = ''] = word.split('=', 1);
  return Object.hasOwn(names, name) ? `${names[name]}${word.slice(name.length)}` : word;
}
