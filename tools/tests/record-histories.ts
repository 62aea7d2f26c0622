// Records what this version writes of its aggregates, for later versions to read. It chooses a few histories from the databases
// of tests and simulated worlds that together show every stored form.
//   npm run record:histories -- --into test/histories/0.2.0
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderVariable } from '../../test/histories/record-before-drop.ts';
import { fileOfRowsWithoutLog, type Recorded } from '../../test/histories/recorded.ts';
import { worthKeeping } from '../../test/histories/worth-keeping.ts';
import { readOptions, refuse, wholeNumber } from '../script-options.ts';
import { makeTemporaryFolder } from '../temporary-folders.ts';

const { options } = readOptions(
  `Records histories of every kind of aggregate as this version writes them.

  npm run record:histories -- --into test/histories/0.2.0

  --into FOLDER    where they go; it must not be there yet: what was recorded is never changed
  --tests PATH     the tests whose databases are recorded; may be given often
  --worlds 10      of the simulation, from seed 1 on
  --steps 2000     of each world`,
  {
    into: { type: 'string' },
    tests: {
      type: 'string',
      multiple: true,
      default: [
        'test/api',
        'src/cli',
        'test/process/commands/banks.test.ts',
        'test/histories/seldom.test.ts',
      ],
    },
    worlds: { type: 'string', default: '10' },
    steps: { type: 'string', default: '2000' },
  },
);
const into = options.into ?? refuse('--into is missing. Name the folder to write.');
if (existsSync(into)) refuse(`${into} already exists. Choose a new folder.`);
const worlds = wholeNumber('--worlds', options.worlds, 0);
const steps = wholeNumber('--steps', options.steps);

/** The histories in the databases of those tests and worlds. */
async function recorded(): Promise<Recorded[]> {
  const temporary = makeTemporaryFolder('histories');
  const folder = join(temporary, 'recorded');
  mkdirSync(folder);
  try {
    await run(folder, 'node_modules/vitest/vitest.mjs', 'run', ...options.tests);
    const some = ['--seed', '1', '--worlds', String(worlds), '--steps', String(steps)];
    if (worlds > 0) await run(folder, '--import', 'tsx', 'simulation/simulate.ts', ...some);
    return readdirSync(folder).flatMap((name) => linesOf(join(folder, name)));
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

async function run(folder: string, ...command: string[]): Promise<void> {
  const env = { ...process.env, [folderVariable]: folder };
  const child = spawn(process.execPath, command, { stdio: 'inherit', env });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${String(code)}, and nothing is recorded`);
}

function linesOf(file: string): Recorded[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded);
}

function fileOf(one: Recorded): string {
  return `${'table' in one ? fileOfRowsWithoutLog : one.aggregate}.ndjson`;
}

/** Without the aggregate, which the file name says. */
function lineOf(one: Recorded): string {
  if ('table' in one) return JSON.stringify(one);
  const { aggregate: _, ...history } = one;
  return JSON.stringify(history);
}

const linesBy = new Map<string, string[]>();
for (const one of await worthKeeping(await recorded())) {
  const lines = linesBy.get(fileOf(one));
  if (lines) lines.push(lineOf(one));
  else linesBy.set(fileOf(one), [lineOf(one)]);
}
mkdirSync(into, { recursive: true });
for (const [file, lines] of linesBy) {
  writeFileSync(join(into, file), `${lines.sort().join('\n')}\n`);
  console.log(`${file}: ${lines.length}`);
}
