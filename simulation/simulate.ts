// npm run simulate: worlds that try to break the service, one seed each. A failing world is made smaller and its story printed.

// Imported first, before the service is loaded.
import { real } from './world/take-over.ts';
import { availableParallelism } from 'node:os';
import { happenedMark, manyWorlds } from './many-worlds.ts';
import type { Report, Story } from './run-world.ts';
import { buildSerialisersOnce } from './world/built-once.ts';
import { enterCluster, startCluster, type Place } from './world/postgres/cluster.ts';
import { readOptions, refuse, wholeNumber } from '../tools/script-options.ts';

const { options: values } = readOptions(
  `Worlds that try to break the service, decided by a seed.

  npm run simulate -- --seed 7 --steps 3000    one world; the last line is its trace
  npm run simulate -- --worlds 14 --seed 7     worlds of the seeds 7 to 20, until one fails
  npm run simulate -- --for 5m                 worlds of fresh seeds, until one fails
  npm run simulate -- --for 5m --seed 7        worlds of the seeds from 7 on

  --seed N            first seed: 1, with --for a fresh one
  --worlds N          number of worlds, which bounds what is proved on any machine
  --for 5m            time in which worlds may start; not with --worlds
  --steps N           steps of a world: 3000, with --for 8000
  --processes N       number of processes: 1, with --for 2 if there are two cores
  --without KIND      leaves out a kind of fault or request; can be repeated
  --story             print every line of what happened
  --shrink-within 2m  time to search for a smaller world that fails in the same way
  --as-it-is          does not search for one

Exit code 1 if a world failed. More: simulation/README.md`,
  {
    seed: { type: 'string' },
    worlds: { type: 'string' },
    for: { type: 'string' },
    steps: { type: 'string' },
    processes: { type: 'string' },
    without: { type: 'string', multiple: true, default: [] },
    story: { type: 'boolean', default: false },
    'shrink-within': { type: 'string', default: '2m' },
    'as-it-is': { type: 'boolean', default: false },
    /** Internal: the distance between seeds, so that worlds have one theme. */
    every: { type: 'string', default: '1' },
    /** Internal: the running PostgreSQL server to use. */
    place: { type: 'string' },
    /** Internal: the time within which worlds may start. */
    within: { type: 'string', default: '24h' },
  },
);
const { without } = values;
/** With --for worlds are longer, so that starting and ending them costs a smaller share. */
const steps = wholeNumber('--steps', values.steps ?? (values.for === undefined ? '3000' : '8000'));
const seed = values.seed === undefined ? undefined : wholeNumber('--seed', values.seed, 0);
const worlds = wholeNumber('--worlds', values.worlds ?? '1');
const every = wholeNumber('--every', values.every);
const usualProcesses = values.for === undefined ? 1 : Math.min(2, availableParallelism());
const processes = wholeNumber('--processes', values.processes ?? String(usualProcesses));
const shrinkWithinMs = millisecondsIn('--shrink-within', values['shrink-within']);
const withinMs = millisecondsIn('--within', values.within);
const forMs = values.for === undefined ? undefined : millisecondsIn('--for', values.for);
if (forMs !== undefined && values.worlds !== undefined)
  refuse('--for and --worlds exclude each other: worlds end by time or by their number');

function millisecondsIn(name: string, text: string): number {
  const [, count, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  if (count === undefined) return refuse(`${name} is a time such as 20s, 5m or 1h, not ${text || 'nothing'}`);
  return Number(count) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h'];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function summary({ operations, happened, statements, batches, tookMs }: Report): string {
  const faults = Object.entries(happened).reduce((sum, [, times]) => sum + times, 0);
  const seconds = tookMs / 1_000;
  const rate = Math.round(operations / seconds);
  const ofSize = (least: number) => batches.filter((size) => size >= least).length;
  const together = `batches of 2 or more ${ofSize(2)}, of 4 ${ofSize(4)}, of 8 ${ofSize(8)}`;
  return `${operations} operations, ${faults} faults, ${statements} statements in ${seconds.toFixed(1)} s (${rate}/s); ${together}`;
}

function printFindings(story: Story, { findings, stepsTaken }: Report): void {
  print(`seed ${story.seed} fails after ${stepsTaken} steps:`);
  for (const { check, about, problem } of findings.slice(0, 10)) print(`  ${check}: ${about}: ${problem}`);
}

async function severalWorlds(): Promise<boolean> {
  buildSerialisersOnce();
  const { runWorld } = await import('./run-world.ts');
  const { commandOf, shrink } = await import('./shrink.ts');
  const { storyOf } = await import('./story.ts');
  const { place } = values;
  const cluster = await (place === undefined ? startCluster() : enterCluster(JSON.parse(place) as Place));

  async function one(story: Story): Promise<boolean> {
    const report = await runWorld(cluster, story);
    if (values.story) for (const line of report.lines) print(line);
    print(`seed ${story.seed}: ${summary(report)}`);
    const isWell = report.findings.length === 0;
    if (!isWell) {
      printFindings(story, report);
      print(commandOf(story));
    }
    if (!isWell && !values['as-it-is']) {
      const small = await shrink(cluster, { story, report }, shrinkWithinMs);
      print(`\nSmallest failing world: ${commandOf(small.story)}`);
      printFindings(small.story, small.report);
      for (const line of storyOf(small.report)) print(`  ${line}`);
      print(`  trace of the smallest: ${small.report.trace}`);
    }
    print(`${happenedMark}${JSON.stringify(report.happened)}`);
    print(`trace ${report.trace}`);
    return isWell;
  }

  try {
    const untilMs = real.nowMs() + withinMs;
    for (let world = 0; world < worlds && real.nowMs() < untilMs; world++) {
      if (!(await one({ seed: (seed ?? 1) + world * every, steps, without }))) return false;
    }
    return true;
  } finally {
    await cluster.stop();
  }
}

/** In processes of their own. */
async function elsewhere(end: { ms: number } | { worlds: number }): Promise<boolean> {
  const firstSeed = seed ?? ('ms' in end ? Date.now() % 1_000_000_000 : 1);
  print('ms' in end ? `seeds from ${firstSeed} on` : `seeds ${firstSeed} to ${firstSeed + end.worlds - 1}`);
  const common = ['--steps', String(steps), ...without.flatMap((name) => ['--without', name])];
  return manyWorlds({
    end,
    firstSeed,
    processes,
    args: [
      ...common,
      '--shrink-within',
      values['shrink-within'],
      ...(values['as-it-is'] ? ['--as-it-is'] : []),
    ],
  });
}

async function run(): Promise<boolean> {
  if (forMs !== undefined) return elsewhere({ ms: forMs });
  return processes === 1 ? severalWorlds() : elsewhere({ worlds });
}

process.exitCode = (await run()) ? 0 : 1;
