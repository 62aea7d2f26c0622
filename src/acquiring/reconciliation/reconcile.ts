// A reconciliation: the bank's book is read into the database, then walked through beside our own records. What looks different
// is looked at a second time, after reading what the bank has booked since: the service goes on working all the while, and
// what it did between two of our steps is no difference. Nothing is changed but the scratch table.
import type { BookEntry } from '../adapters/http/messages.ts';
import { laterBy, parseInstant, type Clock, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { randomText } from '../../ids.ts';
import { countLines, deleteRuns, storeLines } from './report-lines.store.ts';
import { afterAllIds, beforeAllIds, type Comparison, type Page } from './comparison.store.ts';
import { classify, type Difference, type Classification, type Scope } from './domain/difference.ts';
import { openTotals, type Totals } from './domain/totals.ts';

/** Clearing files may lack what a book has. */
type Entry = Omit<BookEntry, 'cardMask'> & { readonly cardMask?: string };

export type TransactionReport = {
  /** In the order of their sequences, in parts of any length. */
  entriesAfter(sequence: number): AsyncIterable<readonly Entry[]>;
  /** Whether it grows while we read. A file does not, and says nothing about what came after its last line. */
  readonly grows: boolean;
};

export type Period = { readonly from?: Instant; readonly to?: Instant };

export type Progress = { readonly doing: 'reading' | 'comparing'; readonly lines: number };

export type Reconciliation = Totals & {
  /** With the end a file has by itself. */
  readonly period: Period;
  readonly lines: number;
  /** Not in the period, and passed over. */
  readonly linesOutside: number;
};

export type ReconcileOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly comparison: Comparison;
  readonly book: TransactionReport;
  readonly bankId: string;
  readonly period: Period;
  /** How long something may be under way here, until now. */
  readonly pendingHours: number;
  /** Of each class so many differences are listed; all are counted. */
  readonly maxList: number;
  /** Smaller in a test of it. */
  readonly rowsOfPage?: number;
  readonly report: (progress: Progress) => void;
};

const linesOfBatch = 1_000;
const usualRowsOfPage = 2_000;
const hourMs = 3_600_000;
/** What a run left behind that died is deleted by one that starts so much later. */
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

/** The lines are in no log of the server, which empties their table when it starts again after a crash. */
async function requireAllOf(lines: number, db: Database, runId: string): Promise<void> {
  const left = await countLines(db, runId);
  if (left === lines) return;
  throw new Error(
    `the database has lost ${lines - left} of the ${lines} lines of the bank’s book, as it does when its server crashes: run it again`,
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
    /** Takes in what comes after what it has. */
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
          if (!at) throw new Error(`the bank’s line ${entry.sequence} has no time that can be understood`);
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
      // What differs only now is what happened between the two looks.
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
