// Runs the parts of a night one after the other, then again with further seeds until the time is used.
import type { Part } from './parts.ts';
import type { PartResult } from './record.ts';

/** A part takes consecutive seeds; the next round begins far behind them. */
const seedsOfRound = 1_000;

export type Outcome = { readonly isGood: boolean; readonly lastLines: string };

export type Night = {
  readonly seconds: number;
  readonly results: readonly PartResult[];
  readonly notReached: readonly string[];
};

/** A part that began runs to its end. A failure does not stop the night. */
export async function runNight(
  wish: { readonly parts: readonly Part[]; readonly ms: number; readonly seed: number },
  means: {
    run(command: string, part: Part): Promise<Outcome>;
    now(): number;
    print(line: string): void;
    /** Called after each part, so that a night that is stopped leaves what it did. */
    keep(night: Night): void;
  },
): Promise<Night> {
  const { parts, ms, seed } = wish;
  const { run, now, print, keep } = means;
  const beganMs = now();
  const secondsSince = (momentMs: number) => Math.round((now() - momentMs) / 1_000);
  const results: PartResult[] = [];
  const night = (): Night => ({
    seconds: secondsSince(beganMs),
    results,
    notReached: parts.map(({ name }) => name).filter((name) => !results.some((one) => one.name === name)),
  });

  for (let round = 0; ; round++) {
    const ofRound = round === 0 ? parts : parts.filter(({ repeats }) => repeats);
    for (const part of ofRound) {
      if (now() - beganMs >= ms) return night();
      const seedOfPart = seed + round * seedsOfRound;
      const command = part.command(seedOfPart);
      print(`${minutes(now() - beganMs)} of ${minutes(ms)} min  ${part.name}: ${part.does}`);
      const startedMs = now();
      const { isGood, lastLines } = await run(command, part);
      const seconds = secondsSince(startedMs);
      results.push({
        name: part.name,
        command,
        seed: seedOfPart,
        seconds,
        result: isGood ? 'passed' : 'failed',
      });
      print(`  ${isGood ? 'ok  ' : 'FAIL'} ${seconds} s  ${command}`);
      if (!isGood) print(lastLines.trimEnd().replace(/^/gm, '    '));
      keep(night());
    }
    if (ofRound.length === 0) return night();
  }
}

function minutes(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** One line for each part, then the failures with the commands that repeat them. */
export function summaryOf({ seconds, results, notReached }: Night): string[] {
  const names = [...new Set(results.map(({ name }) => name))];
  const lines = names.map((name) => {
    const runs = results.filter((one) => one.name === name);
    const spent = runs.reduce((sum, one) => sum + one.seconds, 0);
    const failures = runs.filter(({ result }) => result === 'failed').length;
    const verdict = failures === 0 ? 'ok  ' : 'FAIL';
    return `${verdict} ${name.padEnd(11)} ${String(spent).padStart(6)} s  ${runs.length} runs, ${failures} failed`;
  });
  const failed = results.filter(({ result }) => result === 'failed');
  return [
    ...lines,
    ...(notReached.length > 0 ? [`not reached: ${notReached.join(', ')}`] : []),
    ...(failed.length > 0 ? ['', 'To repeat what failed:'] : []),
    ...failed.map(({ command }) => `  ${command}`),
    '',
    failed.length === 0
      ? `Nothing failed in ${seconds} s.`
      : `FAILED in ${seconds} s: ${[...new Set(failed.map(({ name }) => name))].join(', ')}`,
  ];
}
