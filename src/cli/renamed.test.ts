import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandLine } from '../../test/support/processes/command-line.ts';
import { presentNames } from './renamed.ts';

/** What the program prints for these arguments. It opens no database. */
async function mandate(...words: readonly string[]): Promise<string> {
  const { output, errors } = await commandLine(words, {});
  return output + errors;
}

/** From the page of renames: a command, or a command with an option. */
const page = readFileSync(new URL('../../docs/renames.md', import.meta.url), 'utf8');
const [, section = ''] = page.split(/^## /m);
const rows = [...section.matchAll(/^\| `(.+?)` +\| `(.+?)` +\|$/gm)].map(
  ([, old = '', now = '']) => [old, now] as const,
);
const partsOf = (usage: string) => {
  const words = usage.split(' ');
  const isOption = (word: string) => word.startsWith('--');
  return { command: words.filter((word) => !isOption(word)), option: words.find(isOption) };
};

test('the page of renames has commands and options', () => {
  expect(rows.length).toBeGreaterThanOrEqual(16);
});

test.each([['stuck', 'jobs'] as const, ...rows])('%s works as %s', async (old, now) => {
  const [before, after] = [partsOf(old), partsOf(now)];
  const help = await mandate(...after.command, '--help');
  expect(help).toContain(`Usage: mandate ${after.command.join(' ')} `);
  expect(await mandate(...before.command, '--help')).toBe(help);
  const [group = '', ...verbs] = before.command;
  const [presentGroup = '', ...presentVerbs] = after.command;
  expect(await mandate(group, 'help', ...verbs)).toBe(await mandate(presentGroup, 'help', ...presentVerbs));
  // Wrong on purpose: an option without its value, or an unknown one.
  const refused = await mandate(...after.command, after.option ?? '--nonsense');
  expect(refused).toMatch(
    after.option === undefined ? / is missing|Unknown option / : `Option ${after.option} <`,
  );
  expect(await mandate(...before.command, before.option ?? '--nonsense')).toBe(refused);
});

test('a renamed option keeps its value', async () => {
  const refused = await mandate('ledger', 'shard', 'ID', '--shards', 'many');
  expect(refused).toContain('--shards is "many". Use a whole number');
  expect(await mandate('ledger', 'spread', 'ID', '--lanes', 'many')).toBe(refused);
  expect(await mandate('ledger', 'spread', 'ID', '--lanes=many')).toBe(refused);
});

test('the old name of a group finds its help', async () => {
  const help = await mandate('help', 'jobs');
  expect(help).toContain('Usage: mandate jobs ');
  expect(await mandate('help', 'stuck')).toBe(help);
  expect(await mandate('stuck', 'help')).toBe(help);
});

test('the value of an option is not renamed', () => {
  const program = new Command();
  const deposit = program.command('wallet').command('deposit').argument('<walletID>');
  deposit.option('--reference <text>').option('--description <text>').option('--json');
  const present = (...words: string[]) =>
    presentNames(['wallet', 'deposit', 'W', ...words], program).slice(3);
  expect(present('--description', '--name')).toEqual(['--description', '--name']);
  expect(present('--description', '--name', '--name', 'X')).toEqual([
    '--description',
    '--name',
    '--reference',
    'X',
  ]);
  expect(present('--name', '--name', '--name')).toEqual(['--reference', '--name', '--reference']);
  expect(present('--description=--name', '--name=X')).toEqual(['--description=--name', '--reference=X']);
  expect(present('--description', '--', '--name=X')).toEqual(['--description', '--', '--reference=X']);
  expect(present('--json', '--name', 'X')).toEqual(['--json', '--reference', 'X']);
});

test('no help contains an old name', async () => {
  expect(await mandate('--help')).not.toMatch(/^ {2}stuck\b/m);
  for (const [old, now] of rows) {
    const [before, after] = [partsOf(old), partsOf(now)];
    const [group = '', verb] = before.command;
    if (verb !== undefined && group === after.command[0] && verb !== after.command[1])
      expect(await mandate(group, '--help')).not.toMatch(new RegExp(`^ {2}${verb}\\b`, 'm'));
    if (before.option !== undefined)
      expect(await mandate(...after.command, '--help')).not.toMatch(new RegExp(`${before.option}\\b`));
  }
});

test('other arguments are not renamed', () => {
  for (const words of [
    [],
    ['stick', 'list'],
    ['keys', 'create', '--name', 'x'],
    ['payments', 'release', 'stuck'],
    ['wallet', 'deposit', 'constructor', '--description', 'toString'],
    ['wallet', 'deposit', '--', '--name'],
  ])
    expect(presentNames(words, new Command())).toEqual(words);
});
