// Runs a folder's simulation from one seed to the next until a world fails all have run.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export type Found = {
  readonly check: string;
  readonly problem: string;
  readonly seed: number;
  /** Operations of all worlds up to the failure. */
  readonly operations: number;
  readonly seconds: number;
};

export async function search(
  folder: string,
  wish: {
    readonly firstSeed: number;
    /** The distance from one seed to the next. */
    readonly every: number;
    readonly steps: number;
    readonly worlds: number;
  },
): Promise<Found | undefined> {
  const startedMs = Date.now();
  const { firstSeed, every, steps, worlds } = wish;
  const options = { seed: firstSeed, worlds, every, steps };
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const program = join(folder, 'simulation/simulate.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...given, '--as-it-is'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  child.stderr.on('data', (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  if (code === 0) return undefined;
  const found = foundIn(text);
  // A simulation that does not start has found nothing.
  if (!found) throw new Error(`the simulation ended with ${code}: ${text.slice(-1_000)}`);
  return { ...found, seconds: Math.round((Date.now() - startedMs) / 1_000) };
}

/** Reads the output of the simulation about the world that fails. */
export function foundIn(text: string): Omit<Found, 'seconds'> | undefined {
  const [, seed, check, problem] = /^seed (\d+) fails after .*\n {2}([^:\n]+): (.*)$/m.exec(text) ?? [];
  if (seed === undefined || check === undefined || problem === undefined) return undefined;
  const counts = [...text.matchAll(/^seed \d+: (\d+) operations/gm)].map(([, count]) => Number(count));
  const operations = counts.reduce((sum, count) => sum + count, 0);
  return { check, problem, seed: Number(seed), operations };
}
