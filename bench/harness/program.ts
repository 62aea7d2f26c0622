// Runs a program of this repository in its own process, as an operator does.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../..', import.meta.url));
/** Runs the sources where the development tools are installed, otherwise the built program. */
export const mandateProgram = 'bin/mandate.js';

export type Program = {
  readonly url: string;
  readonly pid: number;
  /** From its start to the log line with its address. */
  readonly startMs: number;
  stop(): Promise<void>;
};

/** Resolves when the program has logged the address it listens on. */
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
  // Keep reading its log: a full pipe would block the program.
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const [, found] = /"address":"([^"]+)"/.exec(line) ?? [];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} exited with code ${code}`)));
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

/** Of a program that ends. */
export function outputOf(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number; output: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const options = { cwd: repository, env: { PATH, HOME, ...environment }, maxBuffer: 2 ** 28 };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? 1, output: stdout + stderr }),
    );
  });
}
