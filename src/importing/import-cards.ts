// Imports the rows of a file in batches, each in one transaction. A row's external ID is its identity, so a second run leaves what is
// imported and continues (docs/decisions/0042-import.md).
import type { Instant } from '../clock.ts';
import { isExternalIdTaken, isVersionConflict } from '../platform/database/database.ts';
import {
  decideBatch,
  type Decided,
  type ImportDeps,
  type ImportOptions,
  type NumberedRow,
  type Problem,
} from './decide-batch.ts';
import { readRow } from './row.ts';
import type { Line } from './sealed-file.ts';
import { noRows, type SeenRows } from './dry-run-rows.ts';

export type ImportReport = {
  imported: number;
  /** Imported before, with the same values. */
  repeated: number;
  /** Imported before, with other values. They are left as they were. */
  readonly conflicts: Problem[];
  readonly refused: Problem[];
};

/** The rows of a transaction. */
export const rowsOfBatch = 250;
const maxTries = 100;

export async function importCards(
  deps: ImportDeps,
  lines: AsyncIterable<Line>,
  options: ImportOptions & { readonly isStopped?: () => boolean },
): Promise<ImportReport> {
  const report: ImportReport = { imported: 0, repeated: 0, conflicts: [], refused: [] };
  const run = { options, report, seen: noRows() };
  const { isStopped = () => false } = options;
  let waiting: readonly NumberedRow[] = [];
  for await (const { number: line, text } of lines) {
    if (isStopped()) break;
    if (text.trim() === '') continue;
    const read = readRow(text, options.now);
    if (read.ok) waiting = [...waiting, { line, row: read.row }];
    else report.refused.push({ line, reason: read.reason });
    if (waiting.length >= rowsOfBatch) waiting = await importBatch(deps, waiting, run);
  }
  while (waiting.length > 0 && !isStopped()) waiting = await importBatch(deps, waiting, run);
  for (const problems of [report.conflicts, report.refused]) problems.sort((a, b) => a.line - b.line);
  return report;
}

type Run = { readonly options: ImportOptions; readonly report: ImportReport; readonly seen: SeenRows };

/** Returns the rows that have to wait for the next batch. */
async function importBatch(
  deps: ImportDeps,
  rows: readonly NumberedRow[],
  { options, report, seen }: Run,
): Promise<readonly NumberedRow[]> {
  for (let tries = 1; ; tries++) {
    const decided = await decideBatch(deps, rows, options, seen);
    try {
      if (!options.isDryRun && decided.imports.length > 0) await store(deps, decided, options.now);
    } catch (error) {
      // Another writer has changed a customer or has taken an external ID since they were read.
      const isConflict = isVersionConflict(error) || isExternalIdTaken(error);
      if (!isConflict || tries === maxTries) throw error;
      continue;
    }
    // Otherwise later batches find in the database what was written.
    if (options.isDryRun) seen.add(decided.imports.map((one) => one.seen));
    report.imported += decided.imports.length;
    report.repeated += decided.repeated;
    report.conflicts.push(...decided.conflicts);
    report.refused.push(...decided.refused);
    return decided.rest;
  }
}

function store({ db, cards, bindings, series }: ImportDeps, { imports }: Decided, now: Instant) {
  return db.transaction(async (tx) => {
    await cards.storeImported(
      tx,
      imports.map(({ card }) => card),
    );
    // Another run that has written one of the customers or external IDs is found here, before their series clash.
    await bindings.store(
      tx,
      imports.map(({ binding }) => binding),
    );
    await series.store(
      tx,
      imports.map((one) => one.series),
      now,
    );
  });
}
