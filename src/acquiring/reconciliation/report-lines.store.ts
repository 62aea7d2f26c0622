// Keeps a bank's transaction report in the database during a reconciliation, so that it never fills the memory.
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';

const insertLines = statement({
  name: 'insert_bank_lines',
  parameters: { run_id: 'text', entries: 'json' },
  row: {},
  text: `
    insert into report_line (run_id, aggregate_id, operation_id, sequence, kind, original_id, amount_minor, currency, sign,
      booked_at, card_mask)
    select :run_id, split_part("operationId", '.', 1), "operationId", sequence, kind, "originalOperationId", amount, currency,
      sign, at, "cardMask"
    from json_to_recordset(:entries) as entry (sequence int8, "operationId" text, kind text, "originalOperationId" text,
      amount int8, currency text, sign int, at timestamptz, "cardMask" text)`,
});

const deleteLines = statement({
  name: 'delete_bank_lines',
  parameters: { first: 'text', last: 'text', lines: 'int4' },
  row: { deleted: 'int8' },
  text: `
    with gone as (
      delete from report_line where (run_id, aggregate_id, operation_id, sequence) in (
        select run_id, aggregate_id, operation_id, sequence from report_line
        where run_id between :first and :last order by 1, 2, 3, 4 limit :lines)
      returning 1)
    select count(*) as deleted from gone`,
});

const countOfRun = statement({
  name: 'count_bank_lines',
  parameters: { run_id: 'text' },
  row: { lines: 'int8' },
  text: 'select count(*) as lines from report_line where run_id = :run_id',
});

const linesAtOnce = 20_000;

export async function storeLines(
  db: Database,
  runId: string,
  /** Entries as in the bank protocol. */
  entries: readonly object[],
): Promise<void> {
  if (entries.length > 0) await db.run(insertLines, { run_id: runId, entries });
}

export async function countLines(db: Database, runId: string): Promise<number> {
  const [row] = await db.run(countOfRun, { run_id: runId });
  return Number(row?.lines);
}

/** Deletes the lines of the runs from `first` to `last`, in short statements. */
export async function deleteRuns(db: Database, first: string, last: string): Promise<void> {
  for (;;) {
    const [row] = await db.run(deleteLines, { first, last, lines: linesAtOnce });
    if (Number(row?.deleted ?? 0n) < linesAtOnce) return;
  }
}
