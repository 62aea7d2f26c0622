// Runs worlds for a given time or a given number of them, a few in each process, so that their memory is freed with it.
// Consecutive processes share a PostgreSQL server.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { batchesOf } from './batches.ts';
import { startCluster, type Place } from './world/postgres/cluster.ts';
import { real } from './world/take-over.ts';

/** A large young generation is collected seldom; most objects live for one step. */
const memory = '--max-semi-space-size=64';
const program = fileURLToPath(new URL('simulate.ts', import.meta.url));

/** Before the counts of what happened in a world. */
export const happenedMark = 'happened ';

/** True if no world failed. Ends after the first that fails, never in the middle of a world. */
export async function manyWorlds(options: {
  readonly end: { readonly ms: number } | { readonly worlds: number };
  readonly firstSeed: number;
  readonly processes: number;
  /** Arguments of each process, as well as its seeds. */
  readonly args: readonly string[];
}): Promise<boolean> {
  const { end, firstSeed, processes, args } = options;
  const asked = 'worlds' in end ? end.worlds : undefined;
  const batches = batchesOf({ firstSeed, worlds: asked, processes });
  const clusters = await Promise.all(Array.from({ length: processes }, () => startCluster()));
  const startedMs = real.nowMs();
  const untilMs = startedMs + ('ms' in end ? end.ms : Infinity);
  let isWell = true;
  let worlds = 0;
  let operations = 0;
  const happened = new Map<string, number>();

  function count(text: string): void {
    for (const [, of] of text.matchAll(/^seed \d+: (\d+) operations/gm)) {
      worlds += 1;
      operations += Number(of);
    }
    for (const [, counts = ''] of text.matchAll(new RegExp(`^${happenedMark}(.*)$`, 'gm')))
      for (const [what, times] of Object.entries(JSON.parse(counts) as Record<string, number>))
        happened.set(what, (happened.get(what) ?? 0) + times);
  }

  async function worker(cluster: (typeof clusters)[number]): Promise<void> {
    try {
      for (const batch of batches) {
        const within = 'ms' in end ? ['--within', `${Math.ceil((untilMs - real.nowMs()) / 1_000)}s`] : [];
        const bounds = ['--seed', String(batch.seed), '--worlds', String(batch.worlds), ...within];
        if (!(await run([...bounds, ...args], cluster.place, count))) isWell = false;
        if (!isWell || real.nowMs() >= untilMs) return;
      }
    } finally {
      await cluster.stop();
    }
  }

  await Promise.all(clusters.map(worker));
  const seconds = (real.nowMs() - startedMs) / 1_000;
  const rate = Math.round(operations / seconds);
  const counted = [...happened].map(([what, times]) => `${what} ${times}`);
  process.stdout.write(`In all worlds: ${counted.join(', ')}\n`);
  const isShort = isWell && asked !== undefined && worlds < asked;
  const verdict = isShort ? `ONLY ${worlds} OF ${asked} WORLDS RAN` : 'A WORLD FAILED, see above';
  process.stdout.write(
    `${worlds} worlds, ${operations} operations in ${Math.round(seconds)} s (${rate}/s): ${isWell && !isShort ? 'no world failed' : verdict}\n`,
  );
  return isWell && !isShort;
}

/** Passes the output of each world on in one piece. */
async function run(args: readonly string[], place: Place, heard: (text: string) => void): Promise<boolean> {
  const given = [...args, '--place', JSON.stringify(place)];
  const command = [...process.execArgv, memory, '--import', 'tsx', program, ...given];
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  const passOn = (end: number): void => {
    const part = text.slice(0, end);
    heard(part);
    process.stdout.write(part);
    text = text.slice(end);
  };
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString();
    passOn(wholeUntil(text));
  });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  passOn(text.length);
  return code === 0;
}

/** The end of the last complete world: after the last trace. */
function wholeUntil(text: string): number {
  const [last] = [...text.matchAll(/^trace [0-9a-f]{16}\n/gm)].slice(-1);
  return last ? last.index + last[0].length : 0;
}
