// Runs worlds of fresh seeds for a given time, a few in each process, so that their memory is freed with it.
// Consecutive processes share a PostgreSQL server.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startCluster, type Place } from './world/postgres/cluster.ts';
import { real } from './world/take-over.ts';

const worldsOfProcess = 8;
/** A large young generation is collected seldom; most objects live for one step. */
const memory = '--max-semi-space-size=64';
const program = fileURLToPath(new URL('simulate.ts', import.meta.url));

/** True if no world failed. Ends after the first that fails, never in the middle of a world. */
export async function forAWhile(options: {
  readonly ms: number;
  readonly firstSeed: number;
  readonly sideBySide: number;
  /** Arguments of each process, as well as its seeds. */
  readonly args: readonly string[];
}): Promise<boolean> {
  const clusters = await Promise.all(Array.from({ length: options.sideBySide }, () => startCluster()));
  const startedMs = real.nowMs();
  const untilMs = startedMs + options.ms;
  let seed = options.firstSeed;
  let isWell = true;
  let worlds = 0;
  let operations = 0;

  function count(text: string): void {
    for (const [, of] of text.matchAll(/^seed \d+: (\d+) operations/gm)) {
      worlds += 1;
      operations += Number(of);
    }
  }

  async function worker(cluster: (typeof clusters)[number]): Promise<void> {
    try {
      while (isWell && real.nowMs() < untilMs) {
        const from = seed;
        seed += worldsOfProcess;
        const within = `${Math.ceil((untilMs - real.nowMs()) / 1_000)}s`;
        const bounds = ['--seed', String(from), '--worlds', String(worldsOfProcess), '--within', within];
        if (!(await run([...bounds, ...options.args], cluster.place, count))) isWell = false;
      }
    } finally {
      await cluster.stop();
    }
  }

  await Promise.all(clusters.map(worker));
  const seconds = (real.nowMs() - startedMs) / 1_000;
  const rate = Math.round(operations / seconds);
  process.stdout.write(
    `${worlds} worlds, ${operations} operations in ${Math.round(seconds)} s (${rate}/s): ${isWell ? 'no world failed' : 'A WORLD FAILED, see above'}\n`,
  );
  return isWell;
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
