// npm run mutate:lifecycles: whether the tests of the lifecycles would notice a mistake. Each file is replaced by its mutants, one
// after the other, in a copy of the sources, and the tests next to it are run; a mutant they let pass is printed.
//   npm run mutate:lifecycles -- payment      one of them alone
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVitest, type Vitest } from 'vitest/node';
import { lifecyclesIn, mutantsToNotice } from './lifecycles.ts';
import type { Mutant } from './mutants.ts';
import { readOptions } from '../script-options.ts';
import { readSourceFiles, repository } from '../source-files.ts';

const { words } = readOptions(
  `
npm run mutate:lifecycles -- [payment]
  whether the tests of the lifecycles notice a mistake; of one of them alone`,
  {},
  { maxWords: 1 },
);
/** A mutant that runs in circles is noticed too. */
const endsWithinMs = 20_000;

const [only] = words;
const lifecycles = lifecyclesIn(readSourceFiles());
const chosen = lifecycles.filter(({ name }) => only === undefined || name === only);
if (chosen.length === 0)
  throw new Error(`there is no ${only}; there are ${lifecycles.map(({ name }) => name).join(', ')}`);

const folder = await mkdtemp(join(tmpdir(), 'mandate-mutants-'));
let survived = 0;
let tried = 0;
try {
  for (const part of ['src', 'package.json', 'tsconfig.json'])
    await cp(join(repository, part), join(folder, part), { recursive: true });
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  for (const { name, file, tests } of chosen) {
    const mutants = mutantsToNotice(file.text);
    const survivors = await survivorsOf(mutants, file.text, join(folder, file.path), tests);
    console.log(`${name}: ${mutants.length - survivors.length} of ${mutants.length} noticed`);
    for (const { line, change } of survivors) console.log(`  line ${line}: ${change}`);
    tried += mutants.length;
    survived += survivors.length;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`mutants ${tried}, noticed ${tried - survived}, not noticed ${survived}`);
process.exitCode = survived > 0 ? 1 : 0;

async function survivorsOf(
  mutants: readonly Mutant[],
  original: string,
  file: string,
  tests: readonly string[],
): Promise<Mutant[]> {
  let vitest = await open(tests);
  const survivors: Mutant[] = [];
  if (!(await pass(vitest, file))) throw new Error(`the tests of ${file} do not pass as it is`);
  for (const mutant of mutants) {
    await writeFile(file, mutant.code);
    const outcome = await Promise.race([pass(vitest, file), after(endsWithinMs)]);
    if (outcome === true) survivors.push(mutant);
    if (outcome !== undefined) continue;
    void vitest.close();
    vitest = await open(tests);
  }
  await writeFile(file, original);
  await vitest.close();
  return survivors;
}

function open(tests: readonly string[]): Promise<Vitest> {
  return createVitest(
    'test',
    {
      config: false,
      root: folder,
      include: [...tests],
      reporters: [{}],
      watch: false,
      pool: 'threads',
      maxWorkers: 1,
      isolate: false,
      bail: 1,
    },
    { cacheDir: join(folder, '.vite') },
  );
}

async function pass(vitest: Vitest, file: string): Promise<boolean> {
  vitest.invalidateFile(file);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    await vitest.globTestSpecifications(),
  );
  return unhandledErrors.length === 0 && testModules.length > 0 && testModules.every((module) => module.ok());
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref());
}
