// One round of one contender, with no other contender at work.
import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop, type Measured, type Work } from './load.ts';
import type { Contender, Processes } from './processes.ts';

/** Longer than a lease, so a job that a node lost has run again. */
const receiptsMostMs = 90_000;

/**
 * Waits for its receipts, and for what else is written `afterwards`: in the next round it would count against the other contender.
 */
export async function measureRound(
  processes: Processes,
  { database }: Contender,
  work: Work,
  loop: { clients: number; ms: number },
  afterwards: () => Promise<void> = async () => {},
): Promise<Measured> {
  const began = performance.now();
  const { latenciesMs } = await closedLoop(work, loop);
  await receiptsWritten(processes, database);
  await afterwards();
  return { rate: latenciesMs.length / ((performance.now() - began) / 1_000), latenciesMs };
}

/** In two turns each: bank and clients warm up too, which would otherwise shorten the first contender's warm-up. */
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
        throw new Error(
          `Receipts in database ${database} are not written after ${receiptsMostMs / 1_000} s.`,
        );
      await sleep(10);
    }
  });
}
