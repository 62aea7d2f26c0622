// Runs the command of a part in a shell, with its output in a file.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Outcome } from './night.ts';

const shownLines = 40;
/** SIGTERM first, so that databases are removed. */
const killAfterMs = 30_000;

/** `tooLate` stops it with all its children, and so does a signal that tells this process to end. */
export async function runPart(
  command: string,
  { log, folder, tooLate }: { readonly log: string; readonly folder: string; readonly tooLate: AbortSignal },
): Promise<Outcome> {
  const file = openSync(log, 'w');
  const child = spawn(command, { cwd: folder, shell: true, detached: true, stdio: ['ignore', file, file] });
  closeSync(file);
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  let killing: NodeJS.Timeout | undefined;
  const stop = () => {
    signal('SIGTERM');
    killing = setTimeout(() => signal('SIGKILL'), killAfterMs);
  };
  tooLate.addEventListener('abort', stop, { once: true });
  const endings = (['SIGINT', 'SIGTERM'] as const).map((name) => {
    const end = () => {
      signal(name);
      process.exit(130);
    };
    process.once(name, end);
    return () => process.off(name, end);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(killing);
  tooLate.removeEventListener('abort', stop);
  for (const remove of endings) remove();
  const last = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-shownLines);
  const reason = tooLate.aborted ? ['It was stopped because it took too long.'] : [];
  return { isGood: code === 0, lastLines: [...last, ...reason, `All of it: ${log}`].join('\n') };
}
