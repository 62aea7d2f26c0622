// Runs several ways to do something in turns, and prints a table of their rates and latencies.
import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop, percentile, type Work } from './load.ts';

export type Alternative = {
  readonly name: string;
  readonly work: Work;
  /** Its number of clients, where it differs from the others'. */
  readonly clients?: number;
};

/** Lets the server flush before the next alternative, which would otherwise pay for it. */
const pauseMs = 100;

/** Returns rates per second in the order of the alternatives. The printed shares are of the first. */
export async function compare(
  alternatives: readonly Alternative[],
  how: { readonly clients: number; readonly rounds: number; readonly roundMs: number },
  words: { readonly unit: string; readonly first: string },
): Promise<readonly number[]> {
  const { clients, rounds, roundMs } = how;
  const latenciesMs = alternatives.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of alternatives.entries()) {
      const measured = await closedLoop(one.work, { clients: one.clients ?? clients, ms: roundMs });
      latenciesMs[index]?.push(...measured.latenciesMs);
      await sleep(pauseMs);
    }
  }
  const perSecond = latenciesMs.map((of) => of.length / ((rounds * roundMs) / 1_000));
  const [first = 1] = perSecond;
  console.log(`${clients} clients, ${rounds} rounds of ${Math.round(roundMs)} ms each\n`);
  console.log(
    `| | ${words.unit}/s | of ${words.first} | p50 ms | p99 ms |\n| --- | ---: | ---: | ---: | ---: |`,
  );
  for (const [index, { name }] of alternatives.entries()) {
    const rate = perSecond[index] ?? 0;
    const at = (share: number) => percentile(latenciesMs[index] ?? [], share).toFixed(1);
    const share = ((100 * rate) / first).toFixed(0);
    console.log(`| ${name} | ${rate.toFixed(0)} | ${share} % | ${at(0.5)} | ${at(0.99)} |`);
  }
  return perSecond;
}
