import { expect, onTestFinished, test, vi } from 'vitest';
import { presentNames, renamedCommands, renamedOptions } from './renamed.ts';

/** What the program prints when it is given these words; it ends no process, and needs no database for what is asked here. */
async function mandate(...words: readonly string[]): Promise<string> {
  let printed = '';
  const print = (text: unknown) => {
    printed += `${String(text)}\n`;
    return true;
  };
  const { argv, exitCode } = process;
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(print),
    vi.spyOn(process.stderr, 'write').mockImplementation(print),
    vi.spyOn(console, 'error').mockImplementation(print),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`ended with ${code}`);
    }),
  ];
  const restore = () => {
    process.argv = argv;
    process.exitCode = exitCode;
    for (const spy of spies) spy.mockRestore();
  };
  onTestFinished(restore);
  vi.resetModules();
  process.argv = ['node', 'mandate', ...words];
  await import('../main.ts');
  restore();
  return printed;
}

test.each(renamedCommands)('%s is still understood, as %s', async (old, now) => {
  const help = await mandate(...now.split(' '), '--help');
  expect(help).toContain(`Usage: mandate ${now} `);
  expect(await mandate(...old.split(' '), '--help')).toBe(help);
  const refused = await mandate(...now.split(' '), '--nonsense');
  expect(refused).toContain('error: ');
  expect(await mandate(...old.split(' '), '--nonsense')).toBe(refused);
});

const eachOption = Object.entries(renamedOptions).flatMap(([command, names]) =>
  Object.entries(names).map(([old, now]) => [command, old, now] as const),
);

test.each(eachOption)('of %s, %s is still understood, as %s', async (command, old, now) => {
  const refused = await mandate(...command.split(' '), now);
  expect(refused).toMatch(new RegExp(`'${now} <\\w+>' argument missing`));
  expect(await mandate(...command.split(' '), old)).toBe(refused);
});

test('the value of an option comes with it', async () => {
  const refused = await mandate('ledger', 'shard', 'ID', '--shards', 'many');
  expect(refused).toContain('--shards must be a whole number');
  expect(await mandate('ledger', 'spread', 'ID', '--lanes', 'many')).toBe(refused);
  expect(await mandate('ledger', 'spread', 'ID', '--lanes=many')).toBe(refused);
});

test('no help names what was renamed', async () => {
  const commands = ['', ...new Set(renamedCommands.map(([, now]) => now.split(' ')[0]!))];
  const helps = await inTurn([...commands, ...Object.keys(renamedOptions)], (command) =>
    mandate(...command.split(' ').filter(Boolean), '--help'),
  );
  for (const [old] of renamedCommands) {
    const [group, verb] = old.split(' ');
    const listed = helps.filter((help) =>
      help.includes(verb === undefined ? 'Usage: mandate [' : `mandate ${group} [`),
    );
    for (const help of listed) expect(help).not.toMatch(new RegExp(`^  ${verb ?? group}\\b`, 'm'));
  }
  for (const [command, old] of eachOption) {
    const help = helps.find((text) => text.includes(`Usage: mandate ${command} `));
    expect(help).not.toMatch(new RegExp(`${old}\\b`));
  }
});

test('other words stay as they are', () => {
  for (const words of [
    [],
    ['stick', 'list'],
    ['keys', 'create', '--name', 'x'],
    ['payments', 'release', 'stuck'],
  ])
    expect(presentNames(words)).toEqual(words);
});

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
