// A program of this repository in a process of its own, as an operator runs it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../..', import.meta.url));
/** Runs the sources, or the built program where there is one. */
export const mandateProgram = 'bin/mandate.js';

export type Program = {
  readonly url: string;
  readonly pid: number;
  /** From its start to its first word that it listens. */
  readonly startMs: number;
  stop(): Promise<void>;
};

/** Running when it has written the address at which it listens. */
export async function startProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Program> {
  const { PATH = '', HOME = '' } = process.env;
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: repository,
    env: { PATH, HOME, NODE_ENV: 'production', LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Its log is read to the end: a full pipe would block it.
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const [, found] = /"address":"([^"]+)"/.exec(line) ?? [];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    startMs: performance.now() - startedMs,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
