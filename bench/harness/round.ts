// A round of one contender, alone on the machine with what it does.
import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop, type Measured, type Work } from './load.ts';
import type { Contender, Processes } from './processes.ts';

/** Longer than a lease: nothing is left for good. */
const receiptsMostMs = 90_000;

/** Over when what it leaves to be done is done: otherwise its receipts would be written in the round of the other, and count there. */
export async function measureRound(
  processes: Processes,
  { database }: Contender,
  work: Work,
  loop: { clients: number; ms: number },
): Promise<Measured> {
  const began = performance.now();
  const { latenciesMs } = await closedLoop(work, loop);
  await receiptsWritten(processes, database);
  return { rate: latenciesMs.length / ((performance.now() - began) / 1_000), latenciesMs };
}

/**
 * Each in two parts, in turns: bank and clients warm up as well, and would otherwise do it in the time of the first contender, which has
 * then seen less than the other.
 */
export async function warmUp(
  processes: Processes,
  works: ReadonlyMap<Contender, Work>,
  { clients, msOf }: { clients: number; msOf: (one: Contender) => number },
): Promise<void> {
  for (let part = 0; part < 2; part++)
    for (const [one, work] of works) await measureRound(processes, one, work, { clients, ms: msOf(one) / 2 });
}

export function receiptsWritten(processes: Processes, database: string): Promise<void> {
  const began = performance.now();
  return processes.withClient(database, async (client) => {
    while ((await client.query('select from payer_email where wake_at is not null limit 1')).rowCount !== 0) {
      if (performance.now() - began > receiptsMostMs)
        throw new Error(`the receipts in the database ${database} do not get written`);
      await sleep(10);
    }
  });
}
