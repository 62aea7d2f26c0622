// npm run mutate:lifecycles: checks that the tests of the lifecycles detect mistakes. It works in a copy of the sources, where
// each mutant replaces its file while the tests next to it run.
import { cp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createVitest, type Vitest } from 'vitest/node';
import { lifecyclesIn, mutantsToDetect } from './lifecycles.ts';
import type { Mutant } from './mutants.ts';
import { readOptions, refuse } from '../script-options.ts';
import { readSourceFiles, repository } from '../source-files.ts';
import { makeTemporaryFolder } from '../temporary-folders.ts';

const { words } = readOptions(
  `npm run mutate:lifecycles -- [LIFECYCLE]
Checks that the tests of the lifecycles detect mistakes, and prints each mistake they do not detect.
  LIFECYCLE  only this one, such as payment or refund
Example: npm run mutate:lifecycles -- payment`,
  {},
  { maxWords: 1 },
);
/** A mutant that loops endlessly counts as detected. */
const endsWithinMs = 20_000;

const [only] = words;
const lifecycles = lifecyclesIn(readSourceFiles());
const chosen = lifecycles.filter(({ name }) => only === undefined || name === only);
if (chosen.length === 0)
  refuse(`unknown lifecycle "${only}"; use ${lifecycles.map(({ name }) => name).join(', ')}`);

const folder = makeTemporaryFolder('mutants');
let survived = 0;
let tried = 0;
try {
  for (const part of ['src', 'package.json', 'tsconfig.json'])
    await cp(join(repository, part), join(folder, part), { recursive: true });
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  for (const { name, file, tests } of chosen) {
    const mutants = mutantsToDetect(file.text);
    const survivors = await survivorsOf(mutants, file.text, join(folder, file.path), tests);
    console.log(`${name}: ${mutants.length - survivors.length} of ${mutants.length} detected`);
    for (const { line, change } of survivors) console.log(`  line ${line}: ${change}`);
    tried += mutants.length;
    survived += survivors.length;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`mutants ${tried}, detected ${tried - survived}, not detected ${survived}`);
process.exitCode = survived > 0 ? 1 : 0;

async function survivorsOf(
  mutants: readonly Mutant[],
  original: string,
  file: string,
  tests: readonly string[],
): Promise<Mutant[]> {
  let vitest = await open(tests);
  const survivors: Mutant[] = [];
  if (!(await pass(vitest, file))) throw new Error(`The tests of ${file} fail without a mutant.`);
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
