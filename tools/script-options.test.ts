// Every script, also one added later, reads its command line before it does anything.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { scriptLine } from '../test/support/processes/command-line.ts';

const repository = new URL('../', import.meta.url);
const { scripts } = JSON.parse(readFileSync(new URL('package.json', repository), 'utf8')) as {
  scripts: Record<string, string>;
};
const files = [
  ...Object.values(scripts).flatMap((command) => /^tsx (\S+)/.exec(command)?.slice(1) ?? []),
  ...['bench/', 'bench/proofs/'].flatMap((folder) =>
    readdirSync(new URL(folder, repository), { encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}${name}`),
  ),
];

/** The text after the header and the imports. */
function beginningOf(file: string): string {
  const text = readFileSync(new URL(file, repository), 'utf8');
  return text.replace(/^(\/\/[^\n]*\n|\n|import [^;]*;)+/, '');
}

test.each([...new Set(files)])('%s reads its command line before it does anything', (file) => {
  expect(beginningOf(file)).toMatch(/^(const \{[^}]*\} = )?readOptions\(/);
});

/** It takes the clock over as soon as it is loaded, so it has a process of its own. */
const takesOver = 'simulation/simulate.ts';

async function run(file: string, ...args: string[]) {
  if (file !== takesOver) {
    const { code, output, errors } = await scriptLine(file, args);
    return { code, stdout: output, stderr: errors };
  }
  const script = join(inject('plainSources'), file.replace(/\.ts$/, '.js'));
  return promisify(execFile)(process.execPath, [script, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

test.each([
  ['bench/resident-memory.ts', 'npm run bench:memory -- [--minutes 10] [--rate 20] [--only recurring]\n'],
  ['bench/month-of-retries.ts', 'npm run bench:retries -- [SERIES] [CHARGED]\n'],
  ['tools/night/prove-night.ts', 'npm run prove:night -- [PART…] [--for 20m] [--seed N]\n'],
  ['simulation/simulate.ts', 'Worlds that try to break the service, decided by a seed.\n'],
])('%s --help prints its usage', { timeout: 120_000 }, async (file, beginning) => {
  const { code, stdout, stderr } = await run(file, '--help', '--rate');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.startsWith(beginning)).toBe(true);
});

test.each([
  [
    'bench/resident-memory.ts',
    ['--minutes', 'ten'],
    '--minutes must be a whole number of 1 or more, not "ten"',
  ],
  [
    'bench/load-database.ts',
    ['--folder', '/', '--writers='],
    '--writers must be a whole number of 1 or more, not ""',
  ],
  [
    'bench/month-of-retries.ts',
    ['1e3'],
    'the number of series must be a whole number of 1 or more, not "1e3"',
  ],
  ['simulation/simulate.ts', ['--seed', '0x7'], '--seed must be a whole number of 0 or more, not "0x7"'],
  ['simulation/simulate.ts', ['--for', '5'], '--for is a time such as 20s, 5m or 1h, not 5'],
  [
    'simulation/simulate.ts',
    ['--for', '5m', '--worlds', '3'],
    '--for and --worlds exclude each other: worlds end by time or by their number',
  ],
  [
    'simulation/simulate.ts',
    ['--processes', '0'],
    '--processes must be a whole number of 1 or more, not "0"',
  ],
  ['tools/night/prove-night.ts', ['--for', '20'], '--for is a time such as 20m or 8h, not 20'],
  ['tools/night/prove-night.ts', ['tortur'], 'unknown part "tortur"'],
  ['simulation/torture.ts', ['--kills', '2.5'], '--kills must be a whole number of 0 or more, not "2.5"'],
  [
    'simulation/torture.ts',
    ['--seconds', '60', '--operations', '300'],
    '--seconds and --operations exclude each other: the torture ends by time or by count',
  ],
])('%s refuses %j in one line, and starts nothing', { timeout: 120_000 }, async (file, args, problem) => {
  const { code, stdout, stderr } = await run(file, ...args);
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: `${problem}. Run with --help for usage.\n`,
  });
});

test.each([
  ['an unknown option', ['--cleints', '8'], "Unknown option '--cleints'"],
  ['an option without its value', ['--minutes'], "Option '--minutes <value>' argument missing"],
  ['an unknown argument', ['8'], 'unknown argument "8"'],
])('%s is refused in one line', { timeout: 120_000 }, async (_, args, problem) => {
  const { code, stdout, stderr } = await run('bench/resident-memory.ts', ...args);
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: `${problem}. Run with --help for usage.\n`,
  });
});
