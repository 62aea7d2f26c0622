// Moves the test clock of a party, and runs everything that falls due on the way, in order and each job at its own time.
import { epochMsOf, type Instant } from '../../clock.ts';
import { earliestDueIn, moveTestClock } from './job-claims.ts';
import { leaseMs, type JobTable, type JobTableDeps } from './job-table.ts';

type Deps = Pick<JobTableDeps, 'db' | 'clock' | 'loop'>;

const claimedAtOnce = 100;
const stepsAtOnce = 8;

export function openPartyClocks(tables: readonly JobTable[], { db, clock, loop }: Deps) {
  const earliestDue = earliestDueIn(tables.map(({ name }) => name));
  const moves = new Map<string, Promise<void>>();

  /** The next time at which something falls due for a party, and in which tables. */
  async function nextStop(partyId: string, to: Instant) {
    const found = await db.run(earliestDue, { party_id: partyId, before: to });
    const [at] = found.map(({ wake_at }) => wake_at).sort();
    const ordinals = found.filter(({ wake_at }) => wake_at === at).map(({ ordinal }) => ordinal);
    return at && { at, due: tables.filter((_, ordinal) => ordinals.includes(ordinal)) };
  }

  async function moveThrough(partyId: string, to: Instant): Promise<void> {
    for (;;) {
      const stop = await nextStop(partyId, to);
      const offsetMs = epochMsOf(stop?.at ?? to) - epochMsOf(clock.now());
      await db.run(moveTestClock, { party_id: partyId, offset_ms: BigInt(Math.max(0, offsetMs)) });
      if (stop === undefined || loop.isStopping()) return;
      // Jobs that these start belong to this moment too; a later stop would claim them again.
      await loop.including(async () => {
        for (const table of stop.due) await runDue(table, stop.at, partyId, { db, loop });
      });
    }
  }

  return {
    /** Meanwhile the polls of this node skip the party, or the order would be lost. */
    isMoving: (partyId: string) => moves.has(partyId),
    /** Moves of one party's clock run one after the other: together they would run jobs at each other's times. */
    async advance(partyId: string, to: Instant): Promise<void> {
      const before = moves.get(partyId) ?? Promise.resolve();
      const move = before.catch(() => undefined).then(() => moveThrough(partyId, to));
      moves.set(partyId, move);
      try {
        await move;
      } finally {
        if (moves.get(partyId) === move) moves.delete(partyId);
      }
    },
    whenStill: () => Promise.allSettled(moves.values()),
  };
}

/** Everything due at one moment ends before the clock moves on. */
async function runDue(
  { sql, runClaimed }: JobTable,
  now: Instant,
  partyId: string,
  { db, loop }: Omit<Deps, 'clock'>,
): Promise<void> {
  const lease = { now, lease_ms: BigInt(leaseMs), full: [], limit: claimedAtOnce, party_id: partyId };
  for (;;) {
    const rows = await db.run(sql.claimOfParty, lease);
    const waiting = rows.values();
    const runWaiting = async () => {
      for (const row of waiting) await runClaimed({ ...row, movesClock: true });
    };
    await Promise.all(Array.from({ length: stepsAtOnce }, runWaiting));
    if (rows.length < claimedAtOnce || loop.isStopping()) return;
  }
}
