// The banks as an operator sees them: what each report says, and which are away.
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { listAwayBanks } from './store/away-banks.ts';
import { listBanks } from './store/banks.ts';

export type BankOverview = Awaited<ReturnType<typeof bankOverviews>>[number];

/** A bank is away as a node has reported within the last two minutes. */
export async function bankOverviews(db: Database, now: Instant) {
  const [rows, away] = await Promise.all([db.run(listBanks, {}), db.run(listAwayBanks, { now })]);
  return rows.map((row) => {
    const found = away.find(({ bank_id }) => bank_id === row.bank_id);
    return {
      bankId: row.bank_id,
      url: row.url,
      terminals: Number(row.terminals),
      createdAt: row.created_at,
      isShared: row.is_shared,
      stoppedAt: row.stopped_at,
      stoppedBecause: row.stopped_because,
      checkedAt: row.checked_at,
      checkProblem: row.check_problem,
      awaySince: found?.away_since ?? null,
      awayBecause: found?.away_because ?? null,
      ...heldOf(row, now),
    };
  });
}

/** Of charges that Mandate begins automatically. A hold that is over says nothing. */
function heldOf(
  row: { readonly charges_held_until: Instant | null; readonly charges_held_because: string | null },
  now: Instant,
) {
  const { charges_held_until: until, charges_held_because: because } = row;
  const isHeld = until !== null && until > now;
  return { chargesHeldUntil: isHeld ? until : null, chargesHeldBecause: isHeld ? because : null };
}
