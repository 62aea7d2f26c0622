// Worlds of fresh seeds for as long as one wants, some side by side, each few in a process of their own: what worlds leave
// behind in memory ends with it.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { real } from './world/take-over.ts';

const worldsOfProcess = 8;
const program = fileURLToPath(new URL('simulate.ts', import.meta.url));

/** Whether all went well. Ends at the first that does not, and never in the middle of a world. */
export async function forAWhile(options: {
  readonly ms: number;
  readonly firstSeed: number;
  readonly sideBySide: number;
  /** What each process is told beside its seeds. */
  readonly told: readonly string[];
}): Promise<boolean> {
  const untilMs = real.nowMs() + options.ms;
  let seed = options.firstSeed;
  let isWell = true;

  async function worker(): Promise<void> {
    while (isWell && real.nowMs() < untilMs) {
      const from = seed;
      seed += worldsOfProcess;
      const leftSeconds = Math.ceil((untilMs - real.nowMs()) / 1_000);
      const bounds = [
        '--seed',
        String(from),
        '--worlds',
        String(worldsOfProcess),
        '--within',
        `${leftSeconds}s`,
      ];
      if (!(await run([...bounds, ...options.told]))) isWell = false;
    }
  }

  await Promise.all(Array.from({ length: options.sideBySide }, worker));
  return isWell;
}

/** What it prints of a world is passed on in one piece. */
async function run(told: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [...process.execArgv, '--import', 'tsx', program, ...told], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString();
    const end = wholeUntil(text);
    process.stdout.write(text.slice(0, end));
    text = text.slice(end);
  });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  process.stdout.write(text);
  return code === 0;
}

/** Until where worlds are told whole: behind the last trace. */
function wholeUntil(text: string): number {
  const [last] = [...text.matchAll(/^trace [0-9a-f]{16}\n/gm)].slice(-1);
  return last ? last.index + last[0].length : 0;
}
