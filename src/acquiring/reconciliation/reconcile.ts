// Reconciles with a bank: reads its transaction report into a scratch table and compares it with Mandate's records.
// A difference is compared again with newer report lines, because the service keeps running meanwhile.
import type { BookEntry } from '../adapters/http/messages.ts';
import { laterBy, parseInstant, type Clock, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { randomText } from '../../ids.ts';
import { countLines, deleteRuns, storeLines } from './report-lines.store.ts';
import { afterAllIds, beforeAllIds, type Comparison, type Page } from './comparison.store.ts';
import { classify, type Difference, type Classification, type Scope } from './domain/difference.ts';
import { openTotals, type Totals } from './domain/totals.ts';

/** Clearing files may lack the card mask. */
type Entry = Omit<BookEntry, 'cardMask'> & { readonly cardMask?: string };

export type TransactionReport = {
  /** In the order of the sequence, in batches of any length. */
  entriesAfter(sequence: number): AsyncIterable<readonly Entry[]>;
  /** Whether the report grows during the run. A file does not, and proves nothing about later operations. */
  readonly grows: boolean;
};

export type Period = { readonly from?: Instant; readonly to?: Instant };

export type Progress = { readonly doing: 'reading' | 'comparing'; readonly lines: number };

export type Reconciliation = Totals & {
  /** For a file without `to`, it ends with the last line. */
  readonly period: Period;
  readonly lines: number;
  /** Lines outside the period are ignored. */
  readonly linesOutside: number;
};

export type ReconcileOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly comparison: Comparison;
  readonly book: TransactionReport;
  readonly bankId: string;
  readonly period: Period;
  /** How long an operation may be pending. */
  readonly pendingHours: number;
  /** How many differences of each class are listed; all are counted. */
  readonly maxList: number;
  /** Smaller in tests. */
  readonly rowsOfPage?: number;
  readonly report: (progress: Progress) => void;
};

const linesOfBatch = 1_000;
const usualRowsOfPage = 2_000;
const hourMs = 3_600_000;
/** The rows of a crashed run are deleted by the first run that starts this much later. */
const longestRunMs = 24 * hourMs;

export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  const { db, clock } = options;
  const startedAt = clock.now();
  const runId = `${startedAt}-${randomText(8)}`;
  await deleteRuns(db, '', laterBy(startedAt, -longestRunMs));
  try {
    const intake = openIntake(options, runId);
    await intake.readOn();
    const period = periodOf(options, intake.lastAt());
    const openSince = laterBy(startedAt, -options.pendingHours * hourMs);
    const scope = { ...period, bankId: options.bankId, openSince };
    const totals = openTotals(options.maxList);
    await walk(options, { runId, scope, readOn: intake.readOn, totals });
    await requireAllOf(intake.lines(), db, runId);
    return { ...totals.result(), period, lines: intake.lines(), linesOutside: intake.linesOutside() };
  } finally {
    await deleteRuns(db, runId, runId);
  }
}

/** The table of the lines is unlogged: PostgreSQL empties it after a crash. */
async function requireAllOf(lines: number, db: Database, runId: string): Promise<void> {
  const left = await countLines(db, runId);
  if (left === lines) return;
  throw new Error(
    `The database lost ${lines - left} of the ${lines} report lines, as it does when its server crashes. Run the command again.`,
  );
}

function openIntake({ db, book, period, report }: ReconcileOptions, runId: string) {
  const { from, to } = period;
  let lastSequence = 0;
  let lastAt: Instant | undefined;
  let lines = 0;
  let linesOutside = 0;

  return {
    lines: () => lines,
    linesOutside: () => linesOutside,
    lastAt: () => lastAt,
    /** Stores the lines after the last one read. */
    async readOn(): Promise<void> {
      let batch: Entry[] = [];
      const store = async () => {
        await storeLines(db, runId, batch);
        lines += batch.length;
        batch = [];
        report({ doing: 'reading', lines });
      };
      for await (const entries of book.entriesAfter(lastSequence)) {
        for (const entry of entries) {
          const at = parseInstant(entry.at);
          if (!at)
            throw new Error(
              `Line ${entry.sequence} of the transaction report has an invalid time. Ask the bank to correct it.`,
            );
          lastSequence = entry.sequence;
          if (lastAt === undefined || at > lastAt) lastAt = at;
          if ((from !== undefined && at < from) || (to !== undefined && at >= to)) linesOutside += 1;
          else batch.push(entry);
        }
        if (batch.length >= linesOfBatch) await store();
      }
      if (batch.length > 0) await store();
    },
  };
}

function periodOf({ book, period }: ReconcileOptions, lastAt: Instant | undefined): Period {
  return book.grows || period.to !== undefined || lastAt === undefined ? period : { ...period, to: lastAt };
}

type Run = {
  readonly runId: string;
  readonly scope: Scope;
  readonly readOn: () => Promise<void>;
  readonly totals: ReturnType<typeof openTotals>;
};

async function walk(options: ReconcileOptions, run: Run): Promise<void> {
  const { db, comparison, book, rowsOfPage: rows = usualRowsOfPage, report } = options;
  const { runId, scope, readOn, totals } = run;
  const look = async (page: Page) => {
    const { equal, pairs } = await comparison.compare(db, { runId, bankId: scope.bankId }, page);
    return { equal, classifications: pairs.map((pair) => classify(pair, scope)) };
  };
  let lines = 0;
  for (let first = beforeAllIds, last = ''; last !== afterAllIds; first = `${last} `) {
    const page = await comparison.pageFrom(db, { runId, first, rows });
    let seen = await look(page);
    const suspected = new Set(seen.classifications.filter(isDifference).map(nameOf));
    if (book.grows && suspected.size > 0) {
      await readOn();
      const again = await look(page);
      // A difference that is new has arisen between the two comparisons.
      const classifications = again.classifications.map((classification) =>
        isDifference(classification) && !suspected.has(nameOf(classification)) ? 'open' : classification,
      );
      seen = { ...again, classifications };
    }
    totals.add(seen.equal, seen.classifications);
    lines += seen.equal + seen.classifications.filter((classification) => classification !== 'edge').length;
    report({ doing: 'comparing', lines });
    last = page.last;
  }
}

function isDifference(classification: Classification): classification is Difference {
  return typeof classification === 'object';
}

function nameOf({ class: name, operationId, line }: Difference): string {
  return `${name} ${operationId} ${line?.sequence ?? ''}`;
}
