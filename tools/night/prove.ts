// A night from its first line to its exit code, with its record and outputs in a folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNight, summaryOf, type Night } from './night.ts';
import type { LeftOut, Part } from './parts.ts';
import { leastSeconds, type NightRecord } from './record.ts';
import { runPart } from './run-part.ts';

/** Stops what hangs. */
const mostOfPartMs = 3_600_000;

/** Answers the exit code. */
export async function prove(wish: {
  readonly parts: readonly Part[];
  readonly leftOut: readonly LeftOut[];
  readonly ms: number;
  readonly seed: number;
  readonly checkout: { readonly folder: string; readonly commit: string; isClean(): boolean };
  /** The record is `<name>.json` in it, the outputs are in its folder `<name>`. */
  readonly records: string;
  readonly name: string;
  print(line: string): void;
}): Promise<number> {
  const { parts, leftOut, ms, seed, checkout, records, name, print } = wish;
  const { commit, folder } = checkout;
  const outputs = join(records, name);
  const startsClean = checkout.isClean();
  const began = new Date().toISOString();
  let runs = 0;

  function keep({ seconds, results, notReached }: Night): void {
    const record: NightRecord = {
      commit,
      isClean: startsClean && checkout.isClean(),
      node: process.version,
      began,
      seed,
      seconds,
      parts: results,
      notReached,
      leftOut,
    };
    writeFileSync(join(records, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`);
  }

  mkdirSync(outputs, { recursive: true });
  print(`seed ${seed}, commit ${commit.slice(0, 9)}${startsClean ? '' : ' with changes'}`);
  for (const { name, why } of leftOut) print(`left out: ${name}, ${why}`);
  const night = await runNight(
    { parts, ms, seed },
    {
      run: (command, part) => {
        runs += 1;
        const log = join(outputs, `${String(runs).padStart(3, '0')}-${part.name}.log`);
        return runPart(command, { log, folder, tooLate: AbortSignal.timeout(mostOfPartMs) });
      },
      now: () => performance.now(),
      print,
      keep,
    },
  );
  keep(night);
  print('');
  for (const line of summaryOf(night)) print(line);
  if (night.seconds < leastSeconds) print(`Too short for a release, which wants ${leastSeconds} s.`);
  return night.results.some(({ result }) => result === 'failed') ? 1 : 0;
}
