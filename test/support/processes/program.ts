// The real program in a separate process, for tests of starting, stopping and being killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import { readSandboxFacts } from '../../../src/sandbox/sandbox-setup.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

export type Server = {
  readonly url: string;
  readonly pid: number;
  /** Everything it printed. */
  output(): string;
  /** Ends it and returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

/** The program of a checkout, which runs its sources. */
export const programOfSources = fileURLToPath(new URL('../../../bin/mandate.js', import.meta.url));

type Options = {
  runAs?: { uid: number; gid: number };
  cwd?: string;
  /** Which copy of the program to run; by default the built one. */
  file?: string;
  /** What it reads on standard input. */
  input?: string;
};

/** Starts `mandate serve` on a free port and waits until it is ready. */
export function startServer(environment: Record<string, string>, options: Options = {}): Promise<Server> {
  return start('serve', { PORT: '0', CARD_TESTING_LIMITS: 'off', ...environment }, options);
}

/** Starts `mandate bank` on a free port, or on the port stored in its folder. */
export function startBank(environment: Record<string, string>, options: Options = {}): Promise<Server> {
  return start('bank', environment, options);
}

async function start(
  command: 'serve' | 'bank',
  environment: Record<string, string>,
  options: Options,
): Promise<Server> {
  const child = run([command], { LOG_LEVEL: 'info', ...environment }, options);
  let output = '';
  const ready = new Promise<string>((resolve, reject) => {
    const read = (line: string) => {
      output += line + '\n';
      const [, address] = /"address":"([^"]+)".*"msg":"ready"/.exec(line) ?? [];
      if (address) resolve(address);
    };
    createInterface(child.stdout!).on('line', read);
    createInterface(child.stderr!).on('line', read);
    child.once('close', () => reject(new Error(`the program ended before it was ready:\n${output}`)));
  });
  // Not its exit, after which the last lines may still be unread. The private PostgreSQL, which may outlive it, has a file for its output.
  const ended = once(child, 'close');
  const url = await ready;
  return {
    url,
    pid: child.pid!,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}

/** The API key of a running sandbox, with all scopes. */
export function sandboxKey({ MANDATE_DATA = '' }: Record<string, string>): string {
  const facts = readSandboxFacts(MANDATE_DATA);
  if (!facts) throw new Error(`no sandbox has run in ${MANDATE_DATA}`);
  return facts.apiKey;
}

/** Runs a subcommand to its end. */
export async function mandate(
  args: readonly string[],
  environment: Record<string, string>,
  options: Options = {},
): Promise<{ code: number | null; output: string; errors: string }> {
  const child = run(args, environment, options);
  child.stdin?.end(options.input);
  let output = '';
  let errors = '';
  child.stdout!.on('data', (text) => (output += String(text)));
  child.stderr!.on('data', (text) => (errors += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output, errors };
}

function run(args: readonly string[], environment: Record<string, string>, options: Options): ChildProcess {
  const { runAs, cwd = repository, file = inject('builtProgram') } = options;
  // Only the given names: a DATABASE_URL of the tester's shell must not leak in.
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env: { PATH, HOME, ...environment },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...runAs,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

export async function request(
  method: string,
  url: string,
  options: { token: string; body?: unknown },
): Promise<{ status: number; body: any }> {
  const answer = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${options.token}`,
      'x-request-id': 'test',
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Polls until there is a result; fails after the given time. */
export async function eventually<T>(
  ask: () => Promise<T | undefined>,
  withinMs: number,
  what: string,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
