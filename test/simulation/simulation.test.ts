// Worlds that have to stay well, and the promise that a seed is enough to see a world again. Fresh seeds are for
// `npm run simulate -- --for 5m`: what they find is looked into, not tried again.
import { spawn } from 'node:child_process';
import { execPath } from 'node:process';
import { expect, test } from 'vitest';

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

test.each(['1', '2'])(
  'the world of seed %s does not break the service',
  async (seed) => {
    const { code, lines } = await simulate('--seed', seed, '--steps', '1000', '--as-it-is');
    expect(lines.at(-1)).toMatch(/^trace [0-9a-f]{16}$/);
    expect(code, lines.join('\n')).toBe(0);
  },
  beyondMs,
);
