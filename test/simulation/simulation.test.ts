// Worlds of fresh seeds, each printed, and the promise that a seed is enough to see a world again. SIMULATE_SECONDS says for how
// long; 20 are the usual.
import { spawn } from 'node:child_process';
import { env, execPath } from 'node:process';
import { expect, test } from 'vitest';

const seconds = Number(env['SIMULATE_SECONDS'] ?? 20);
/** A world that is begun is ended: with what it settles, and on a busy machine. */
const beyondMs = 240_000;

/** A process of its own: the simulation rules over time and chance of all that is in one. */
async function simulate(...asked: string[]): Promise<{ code: number | null; lines: string[] }> {
  const command = ['--import', 'tsx', 'simulation/simulate.ts', ...asked];
  const child = spawn(execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { code, lines: text.trim().split('\n') };
}

test(
  'the same seed gives the same trace, and another one another',
  async () => {
    const traceOf = async (seed: string) =>
      (await simulate('--seed', seed, '--steps', '400', '--as-it-is')).lines.at(-1);
    const [first, again, other] = [await traceOf('7'), await traceOf('7'), await traceOf('8')];
    expect(first).toMatch(/^trace [0-9a-f]{16}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  },
  beyondMs,
);

test(
  'fresh seeds do not break the service',
  async () => {
    const { code, lines } = await simulate('--for', `${seconds}s`, '--steps', '2000');
    process.stdout.write(`${lines.filter((line) => line.startsWith('seed ')).join('\n')}\n`);
    expect(lines.join('\n')).toMatch(/^trace/m);
    expect(code, lines.join('\n')).toBe(0);
  },
  seconds * 1_000 + beyondMs,
);
