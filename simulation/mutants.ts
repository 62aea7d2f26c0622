// npm run simulate:mutants: plants each fault in a copy of the sources and runs the simulation until it finds the fault.
// Seeds that found one are then run without any fault: what fails there too does not count.
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { firstSeedOf, themes } from './clients/themes.ts';
import { plantedFaults, type PlantedFault } from './faults/faults.ts';
import { compilerErrors, copySources, plant } from './faults/planting/plant.ts';
import { search, type Found } from './faults/search.ts';
import { tableOf, withTable, type Outcome } from './faults/table.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';

const { options: values, words: positionals } = readOptions(
  `Plants faults in copies of the sources and runs the simulation to find each.

  npm run simulate:mutants                          all of simulation/faults
  npm run simulate:mutants -- delivered-in-reverse  only the named ones
  npm run simulate:mutants -- --write               also renews their rows in docs/planted-faults.md

  --worlds 8          worlds for each fault
  --steps 1500        steps of a world
  --seed 1            first seed
  --side-by-side N    faults at the same time

Exit code 1 if a fault was not found, cannot be planted, or does not compile. More: simulation/README.md`,
  {
    worlds: { type: 'string', default: '8' },
    steps: { type: 'string', default: '1500' },
    seed: { type: 'string', default: '1' },
    'side-by-side': { type: 'string', default: String(Math.min(2, availableParallelism())) },
    write: { type: 'boolean', default: false },
  },
  { maxWords: 100 },
);
const wish = {
  steps: wholeNumber('--steps', values.steps),
  worlds: wholeNumber('--worlds', values.worlds),
  every: themes.length,
};
const fromSeed = wholeNumber('--seed', values.seed, 0);
const maxSideBySide = wholeNumber('--side-by-side', values['side-by-side']);
const document = new URL('../docs/planted-faults.md', import.meta.url);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function sideBySide<T, R>(things: readonly T[], work: (thing: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = things.entries();
  const worker = async () => {
    for (const [place, thing] of waiting) results[place] = await work(thing);
  };
  await Promise.all(Array.from({ length: maxSideBySide }, worker));
  return results;
}

async function searchFor(fault: PlantedFault): Promise<Outcome> {
  const planted = plant(fault);
  try {
    const firstSeed = firstSeedOf(fault.theme, fromSeed);
    const found = await search(planted.folder, { ...wish, firstSeed });
    print(`${fault.name}: ${fault.does}\n  ${found ? textOf(found) : notFound(fault, firstSeed)}`);
    return { fault, ...(found ? { found } : {}) };
  } catch (error) {
    print(`${fault.name}: ${String(error)}`);
    return { fault };
  } finally {
    planted.remove();
  }
}

function notFound({ name }: PlantedFault, firstSeed: number): string {
  const { worlds, steps } = wish;
  const again = `npm run simulate:mutants -- ${name} --seed ${fromSeed} --worlds ${worlds} --steps ${steps}`;
  return `NOT FOUND in ${worlds} worlds from seed ${firstSeed} on: ${again}`;
}

function textOf({ check, problem, seed, operations, seconds }: Found): string {
  return `found by ${check}, seed ${seed}, after ${operations} operations, ${seconds} s: ${problem}`;
}

/** The seeds that fail without any fault. */
async function wrongAnyway(seeds: readonly number[]): Promise<number[]> {
  if (seeds.length === 0) return [];
  const sources = copySources();
  try {
    const found = await sideBySide(seeds, (seed) =>
      search(sources.folder, { ...wish, firstSeed: seed, worlds: 1 }),
    );
    return found.flatMap((one) => {
      if (one) print(`without any fault: ${textOf(one)}`);
      return one ? [one.seed] : [];
    });
  } finally {
    sources.remove();
  }
}

const unknown = positionals.filter((wanted) => !plantedFaults.some(({ name }) => name === wanted));
if (unknown.length > 0) {
  print(`Unknown planted fault ${unknown.join(', ')}. Use a name from simulation/faults.`);
  process.exit(2);
}
const faults = plantedFaults.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const errors = compilerErrors(faults);
if (errors) {
  print(`The sources do not compile with the faults planted:\n${errors}`);
  process.exit(1);
}
const looked = await sideBySide(faults, searchFor);
const seeds = [...new Set(looked.flatMap(({ found }) => (found ? [found.seed] : [])))].sort((a, b) => a - b);
const wrong = await wrongAnyway(seeds);
const outcomes = looked.map(({ fault, found }): Outcome =>
  found && !wrong.includes(found.seed) ? { fault, found } : { fault },
);
const missed = outcomes.filter(({ found }) => !found);
print(`\n${tableOf(outcomes)}`);
print(`${outcomes.length - missed.length} of ${outcomes.length} planted faults were found`);
if (missed.length > 0) print(`not found: ${missed.map(({ fault }) => fault.name).join(', ')}`);
if (seeds.length > 0)
  print(
    `without any fault ${seeds.length - wrong.length} of the ${seeds.length} worlds that found them do not fail`,
  );
if (values.write) {
  const names = plantedFaults.map(({ name }) => name);
  writeFileSync(document, withTable(readFileSync(document, 'utf8'), outcomes, names));
}
process.exitCode = missed.length === 0 && faults.length > 0 ? 0 : 1;
