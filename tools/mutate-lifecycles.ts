// npm run mutate:lifecycles: whether the tests of the pure files would notice a mistake. Each file is replaced by its mutants, one
// after the other, in a copy of the sources, and the tests beside it are run; a mutant they let pass is printed.
//   npm run mutate:lifecycles -- payments/payment      one file alone
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createVitest, type Vitest } from 'vitest/node';
import { mutantsOf, type Mutant } from './mutants.ts';
import { readOptions } from './script-options.ts';

const { words } = readOptions(
  `
npm run mutate:lifecycles -- [payments/payment]
  whether the tests of the pure files notice a mistake; of one file alone`,
  {},
  { maxWords: 1 },
);
const repository = fileURLToPath(new URL('../', import.meta.url));
/** Sources, each with the tests that are to notice. */
const lifecycles: readonly (readonly [source: string, ...tests: string[]])[] = [
  ['invoices/invoice', 'invoices/invoice'],
  ['payments/payment', 'payments/payment', 'payments/refund'],
  ['payments/refund', 'payments/refund'],
  ['customers/customer', 'customers/customer'],
  ['customers/binding', 'customers/binding'],
  ['wallets/withdrawal', 'wallets/withdrawal'],
  ['wallets/destination', 'wallets/destination'],
  ['webhooks/delivery', 'webhooks/delivery'],
];
/** What is the same after the change as before it, by its line. */
const alike: readonly RegExp[] = [
  // Never, by the tables: it tells the compiler so, and whoever breaks a table.
  /throw new Error\((?!.*cannot have)/,
  /^if \('approval' in state\) .* → true$/,
  /^return state\.name === 'ready' \? state\.activeBindingId : undefined; .* → true$/,
  // Of two equal moments either is the earlier one.
  /^return a < b \? a : b; < → <=$/,
  /failure\.retryAfterMs \?\? 0.* 0 → 1$/,
  // What is sent after a replay is never within it.
  /sent < replay\.resumeAt; < → <=$/,
];
/** A mutant that runs in circles is noticed too. */
const endsWithinMs = 20_000;

const [only] = words;
const chosen = lifecycles.filter(([source]) => only === undefined || source === only);
if (chosen.length === 0)
  throw new Error(`there is no ${only}; there are ${lifecycles.map(([one]) => one).join(', ')}`);

const folder = await mkdtemp(join(tmpdir(), 'mandate-mutants-'));
let survived = 0;
let tried = 0;
try {
  for (const part of ['src', 'package.json', 'tsconfig.json'])
    await cp(join(repository, part), join(folder, part), { recursive: true });
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  for (const [source, ...tests] of chosen) {
    const file = join(folder, 'src', `${source}.ts`);
    const original = await readFile(file, 'utf8');
    const lines = original.split('\n');
    const mutants = mutantsOf(original).filter(({ line, change }) => {
      const where = `${lines[line - 1]?.trim()} ${change}`;
      return !alike.some((pattern) => pattern.test(where));
    });
    const survivors = await survivorsOf(mutants, original, file, tests);
    console.log(`${source}: ${mutants.length - survivors.length} of ${mutants.length} noticed`);
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
      include: tests.map((test) => `src/${test}.test.ts`),
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
