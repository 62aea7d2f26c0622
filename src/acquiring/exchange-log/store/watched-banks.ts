// Banks as the exchange log watches them, in SQL: how far they are read, and whether one is stopped.
import type { Instant } from '../../../clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import { statement, type Values } from '../../../platform/database/statement.ts';

const row = {
  bank_id: 'text',
  updates_cursor: 'int8',
  report_cursor: 'int8?',
  is_shared: 'bool',
  stopped_at: 'timestamptz?',
} as const;
export type WatchedBank = Values<typeof row>;

/** One node at a time, so that a bank is not read more often because there are more nodes. */
const claimBanks = statement({
  name: 'claim_banks_to_watch',
  parameters: { now: 'timestamptz', before: 'timestamptz' },
  row,
  text: `update bank set checked_at = :now
         where checked_at is null or checked_at < :before
         returning bank_id, updates_cursor, report_cursor, is_shared, stopped_at`,
});

const readBankToWatch = statement({
  name: 'read_bank_to_watch',
  parameters: { bank_id: 'text' },
  row,
  text: `select bank_id, updates_cursor, report_cursor, is_shared, stopped_at from bank where bank_id = :bank_id`,
});

/** Another node may have read further meanwhile. */
const moveReportCursor = statement({
  name: 'move_report_cursor',
  parameters: { bank_id: 'text', from: 'int8?', to: 'int8' },
  row: {},
  text: `update bank set report_cursor = :to
         where bank_id = :bank_id and report_cursor is not distinct from :from and stopped_at is null`,
});

const noteProblem = statement({
  name: 'note_problem_of_report',
  parameters: { bank_id: 'text', problem: 'text?' },
  row: {},
  text: `update bank set check_problem = :problem
         where bank_id = :bank_id and check_problem is distinct from :problem`,
});

const stopBank = statement({
  name: 'stop_bank',
  parameters: { bank_id: 'text', now: 'timestamptz', because: 'text' },
  row: { bank_id: 'text' },
  text: `update bank set stopped_at = :now, stopped_because = :because
         where bank_id = :bank_id and stopped_at is null returning bank_id`,
});

const confirmBank = statement({
  name: 'confirm_bank',
  parameters: { bank_id: 'text', report_cursor: 'int8', reason: 'text' },
  row: { bank_id: 'text' },
  text: `update bank
         set stopped_at = null, stopped_because = null, confirmed_because = :reason, report_cursor = greatest(report_cursor, :report_cursor)
         where bank_id = :bank_id and stopped_at is not null returning bank_id`,
});

const shareBank = statement({
  name: 'set_shared_bank',
  parameters: { bank_id: 'text', is_shared: 'bool' },
  row: { bank_id: 'text' },
  text: 'update bank set is_shared = :is_shared where bank_id = :bank_id returning bank_id',
});

export const countStoppedBanks = statement({
  name: 'count_stopped_banks',
  parameters: {},
  row: { stopped: 'int8' },
  text: 'select count(*) as stopped from bank where stopped_at is not null',
});

export function claimBanksToWatch(db: Database, now: Instant, before: Instant): Promise<WatchedBank[]> {
  return db.run(claimBanks, { now, before });
}

export async function findWatchedBank(db: Database, id: string): Promise<WatchedBank | undefined> {
  return (await db.run(readBankToWatch, { bank_id: id }))[0];
}

export async function storeReportCursor(
  db: Database,
  bankId: string,
  { from, to }: { readonly from: number | undefined; readonly to: number },
): Promise<void> {
  await db.run(moveReportCursor, {
    bank_id: bankId,
    from: from === undefined ? null : BigInt(from),
    to: BigInt(to),
  });
}

const longestProblem = 300;

/** Null if all can be read. */
export async function storeProblem(db: Database, bankId: string, problem: string | null): Promise<void> {
  await db.run(noteProblem, { bank_id: bankId, problem: problem?.slice(0, longestProblem) ?? null });
}

/** False if it is stopped already. */
export async function storeStop(
  db: Database,
  bankId: string,
  because: string,
  now: Instant,
): Promise<boolean> {
  return (await db.run(stopBank, { bank_id: bankId, now, because })).length > 0;
}

/** False if it is not stopped. All that the report has until then counts as known. */
export async function storeConfirmation(
  db: Database,
  bankId: string,
  { reportCursor, reason }: { readonly reportCursor: number; readonly reason: string },
): Promise<boolean> {
  const confirmed = { bank_id: bankId, report_cursor: BigInt(reportCursor), reason };
  return (await db.run(confirmBank, confirmed)).length > 0;
}

export async function storeSharing(db: Database, bankId: string, isShared: boolean): Promise<boolean> {
  return (await db.run(shareBank, { bank_id: bankId, is_shared: isShared })).length > 0;
}
