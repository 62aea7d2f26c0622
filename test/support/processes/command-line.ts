// Runs a subcommand or a script in the test's own process. It returns what that prints and its exit code. test/process tests the
// separate process with its settings.
import { Console } from 'node:console';
import { Writable } from 'node:stream';

type Ended = { readonly code: number; readonly output: string; readonly errors: string };

class Exit extends Error {}

const signals = ['SIGTERM', 'SIGINT'] as const;

// The tests of a worker share its process and may all listen to its signals. The warning about that would look like a subcommand's.
process.setMaxListeners(0);

let runs = 0;
let last: Promise<unknown> = Promise.resolve();

export function commandLine(args: readonly string[], environment: Record<string, string>): Promise<Ended> {
  return inTurn(() => run('src/main.ts', args, environment));
}

/** For scripts whose imports leave the process as it is. `file` is relative to the repository. */
export function scriptLine(file: string, args: readonly string[]): Promise<Ended> {
  return inTurn(() => run(file, args, {}));
}

/** One at a time, because each has the process to itself: its arguments, environment and output. */
function inTurn(start: () => Promise<Ended>): Promise<Ended> {
  const ended = last.then(start);
  last = ended.catch(() => undefined);
  return ended;
}

/** As an operator sets up a new database. */
export async function migrateDatabase(environment: Record<string, string>): Promise<void> {
  const { code, errors } = await commandLine(['migrate'], environment);
  if (code !== 0) throw new Error(errors);
}

async function run(
  file: string,
  args: readonly string[],
  environment: Record<string, string>,
): Promise<Ended> {
  const output = collector();
  const errors = collector();
  const before = {
    argv: process.argv,
    env: process.env,
    exit: process.exit,
    exitCode: process.exitCode,
    console: globalThis.console,
    stdout: process.stdout.write,
    stderr: process.stderr.write,
  };
  const listeners = signals.map((signal) => [signal, process.rawListeners(signal)] as const);
  for (const signal of signals) process.removeAllListeners(signal);
  let code: number | undefined;
  Object.assign(process, {
    argv: [process.execPath, 'mandate', ...args],
    env: { PATH: before.env['PATH'], HOME: before.env['HOME'], ...environment },
    exitCode: undefined,
    exit(given?: number): never {
      code = given ?? Number(process.exitCode ?? 0);
      throw new Exit();
    },
  });
  globalThis.console = new Console(output.stream, errors.stream);
  process.stdout.write = (text: string | Uint8Array) => output.stream.write(text);
  process.stderr.write = (text: string | Uint8Array) => errors.stream.write(text);
  try {
    // Evaluated each time; its imports are loaded already.
    const program = `../../../${file}?run=${++runs}`;
    await import(program);
    code ??= Number(process.exitCode ?? 0);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
  } finally {
    const { console, stdout, stderr, ...ofProcess } = before;
    Object.assign(process, ofProcess);
    Object.assign(process.stdout, { write: stdout });
    Object.assign(process.stderr, { write: stderr });
    globalThis.console = console;
    for (const [signal, known] of listeners) {
      process.removeAllListeners(signal);
      for (const listener of known) process.on(signal, listener as NodeJS.SignalsListener);
    }
  }
  return { code: code ?? 0, output: output.text(), errors: errors.text() };
}

function collector(): { readonly stream: Writable; text(): string } {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(part: string | Uint8Array, _encoding, done) {
      text += typeof part === 'string' ? part : Buffer.from(part).toString();
      done();
    },
  });
  return { stream, text: () => text };
}
