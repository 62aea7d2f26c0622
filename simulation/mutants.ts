// npm run simulate:mutants: plants one fault after the other in a copy of the sources and lets the simulation look for it. A
// simulation that does not find them would not find ours either.
//
//   npm run simulate:mutants                    all of simulation/faults
//   npm run simulate:mutants -- told-backwards  only those
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** For each fault. */
    seconds: { type: 'string', default: '180' },
    steps: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
  },
});

const root = new URL('..', import.meta.url).pathname;
const faults = join(root, 'simulation/faults');
const copied = ['src', 'simulation', 'pages', 'test/support', 'package.json', 'tsconfig.json', 'schema.sql'];

type Found = { readonly check: string; readonly seed: string; readonly operations: number };

function plant(patch: string): { folder: string; remove(): void } | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'mandate-mutant-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const applied = spawnSync('git', ['apply', '-p1', join(faults, patch)], { cwd: folder, encoding: 'utf8' });
  if (applied.status === 0) return { folder, remove };
  print(`${patch} does not apply any more: ${applied.stderr.trim()}`);
  remove();
  return undefined;
}

/** What the first world that fails says of it. */
async function search(folder: string): Promise<Found | undefined> {
  const { seed, steps, seconds } = values;
  const asked = ['--seed', seed, '--steps', steps, '--for', `${seconds}s`, '--as-it-is'];
  const command = ['--import', 'tsx', 'simulation/simulate.ts', ...asked];
  const child = spawn(process.execPath, command, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  child.stderr.on('data', (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  if (code === 0) return undefined;
  const [, failing = '?'] = /^seed (\d+) fails/m.exec(text) ?? [];
  const [, check = `it ended with ${code}: ${text.slice(-500)}`] =
    /^seed \d+ fails.*\n {2}([^:\n]+):/m.exec(text) ?? [];
  const operations = [...text.matchAll(/^seed \d+: (\d+) operations/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
  return { check, seed: failing, operations };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const patches = readdirSync(faults)
  .filter((name) => name.endsWith('.patch'))
  .filter((name) => positionals.length === 0 || positionals.includes(name.replace('.patch', '')))
  .sort();
let missed = 0;
for (const patch of patches) {
  const planted = plant(patch);
  const found = planted && (await search(planted.folder));
  planted?.remove();
  const [why = ''] = readFileSync(join(faults, patch), 'utf8').split('\n');
  if (found) {
    print(
      `${patch}: ${why}\n  found by ${found.check}, seed ${found.seed}, after ${found.operations} operations`,
    );
  } else {
    missed += 1;
    print(`${patch}: ${why}\n  NOT FOUND`);
  }
}
print(`${patches.length - missed} of ${patches.length} planted faults were found`);
process.exitCode = missed === 0 ? 0 : 1;
