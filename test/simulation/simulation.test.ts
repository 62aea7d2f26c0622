// A short world of the simulation, from its beginning to its peace, with every check. Longer ones are for `npm run simulate`: what
// they find is looked into, not tried again.
import { spawn } from 'node:child_process';
import { execPath } from 'node:process';
import { expect, test } from 'vitest';

test('a short world does not break the service', { timeout: 240_000 }, async () => {
  const command = ['--import', 'tsx', 'simulation/simulate.ts'];
  // A process of its own: the simulation rules over time and chance of all that is in one.
  const child = spawn(execPath, [...command, '--seed', '7', '--steps', '150', '--as-it-is'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  expect(text).toMatch(/^seed 7: [1-9]\d* operations, .*\ntrace [0-9a-f]{16}\n$/m);
  expect(code, text).toBe(0);
});
