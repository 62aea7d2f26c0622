// A process that can be killed and started again with the same environment.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const readyWithinMs = 90_000;

export type Mortal = {
  readonly name: string;
  /** Resolves with its address once it logs that it is ready. */
  start(): Promise<string>;
  /** As `kill -9` does. */
  kill(): Promise<void>;
  /** Shuts it down with SIGTERM and answers its exit code. */
  stop(): Promise<number | null>;
};

export function mortal(
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  logFile: string,
): Mortal {
  let child: ChildProcess | undefined;
  const log = createWriteStream(logFile, { flags: 'a' });

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    const [code] = await exited;
    return code;
  }

  return {
    name,
    async start() {
      const { PATH = '', HOME = '' } = process.env;
      const started = spawn(process.execPath, ['bin/mandate.js', ...args], {
        cwd: repository,
        env: { PATH, HOME, LOG_LEVEL: 'info', ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = started;
      const last: string[] = [];
      return new Promise<string>((resolve, reject) => {
        const give = (why: string) => reject(new Error(`${name} ${why}:\n${last.slice(-10).join('\n')}`));
        const timer = setTimeout(() => give('is not ready'), readyWithinMs);
        started.once('close', () => give('ended before it was ready'));
        const read = (line: string) => {
          log.write(`${line}\n`);
          last.push(line);
          const [, address] = /"address":"([^"]+)".*"msg":"ready"/.exec(line) ?? [];
          if (address === undefined) return;
          clearTimeout(timer);
          resolve(address);
        };
        createInterface(started.stdout).on('line', read);
        createInterface(started.stderr).on('line', read);
      });
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

/** Runs a subcommand to its end. */
export async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, ['bin/mandate.js', ...args], {
    cwd: repository,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (text) => (output += String(text)));
  child.stderr.on('data', (text) => (output += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
