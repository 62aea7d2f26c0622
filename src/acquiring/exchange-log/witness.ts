// Detects that the exchange log is empty or has gone back in time: then the bank's transaction report has operations that are unknown here.
// The bank is stopped until an operator confirms, because a repeat could pay twice.
import { laterBy, type Clock } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/log.ts';
import type { BookEntry } from '../adapters/http/messages.ts';
import type { Certainty } from '../reconciliation/domain/difference.ts';
import { closeEnded, type CertaintyOf } from './close-ended.ts';
import { noteContradiction } from './contradictions.ts';
import { interpret } from './domain/interpret.ts';
import { findExchanges } from './store/exchange-rows.ts';
import { storeReportCursor, storeStop, type WatchedBank } from './store/watched-banks.ts';

export type WitnessDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  /** What a module knows of an operation that an older node has begun or ended, without the log. */
  readonly certaintyOf: CertaintyOf;
  /** Looks for another proof about a charge that the bank had declined: a line of its report is none. True if the charge is undone then. */
  readonly isApprovedLate: (operationId: string) => Promise<boolean>;
};

/** Page by page, up to its current end. */
type Report = { entriesAfter(sequence: number): AsyncIterable<readonly Line[]> };
type Line = Pick<
  BookEntry,
  'sequence' | 'operationId' | 'kind' | 'originalOperationId' | 'amount' | 'currency'
>;

/** A page has 100 lines. */
const maxPages = 300;
const listed = 5;

/** Why the report cannot be checked; null if it can, or need not. */
export async function witness(
  deps: WitnessDeps,
  { bank_id: bankId, report_cursor: cursor, is_shared, stopped_at }: WatchedBank,
  report: Report,
): Promise<string | null> {
  if (is_shared || stopped_at !== null) return null;
  const { db, log } = deps;
  // The report of a bank of before is long, and the log does not have its operations.
  const judges = cursor !== null;
  let from = cursor === null ? undefined : Number(cursor);
  let pages = 0;
  try {
    for await (const entries of report.entriesAfter(from ?? 0)) {
      const unknown = judges ? await unknownAmong(deps, bankId, entries) : [];
      if (unknown.length > 0) {
        await stop(deps, bankId, unknown);
        return null;
      }
      const to = entries.at(-1)?.sequence ?? from ?? 0;
      if (judges) await storeReportCursor(db, bankId, { from, to });
      from = to;
      if (judges && ++pages >= maxPages) break;
    }
    if (!judges) await storeReportCursor(db, bankId, { from: undefined, to: from ?? 0 });
    return null;
  } catch (error) {
    log.warn({ err: error, bank: bankId }, 'bank report cannot be checked');
    return String(error);
  }
}

/** Also notes what contradicts the log. */
async function unknownAmong(
  { db, log, certaintyOf, clock, isApprovedLate }: WitnessDeps,
  bankId: string,
  entries: readonly Line[],
) {
  const known = new Map((await findExchanges(db, entries.map(sentAs))).map((one) => [one.operationId, one]));
  const unknown: string[] = [];
  for (const entry of entries) {
    const operationId = sentAs(entry);
    const logged = known.get(operationId);
    if (!logged && !isSent(await certaintyOf(db, operationId))) unknown.push(operationId);
    if (!logged || entry.kind === 'return') continue;
    const exchange = await closeEnded({ db, clock, certaintyOf }, logged);
    const amount = { minor: BigInt(entry.amount), currency: entry.currency as Currency };
    const meaning = interpret(exchange, { by: 'report', amount });
    if (meaning.says !== 'contradiction') continue;
    const mayBeLate = exchange.state === 'declined' && exchange.kind === 'authorise';
    if (mayBeLate && (await isApprovedLate(operationId))) continue;
    const note = {
      bankId,
      key: `report ${entry.sequence}`,
      operationId,
      what: 'report',
      heard: { ...amount },
    };
    await noteContradiction({ db, log }, note, meaning.why, clock.now());
  }
  return unknown;
}

function isSent(certainty: Certainty | undefined): boolean {
  return certainty !== undefined && certainty !== 'never';
}

/** A returned payout has a line of its own, which no node sent. */
function sentAs({ kind, operationId, originalOperationId }: Line): string {
  return kind === 'return' ? (originalOperationId ?? operationId) : operationId;
}

async function stop(
  { db, clock, log }: WitnessDeps,
  bankId: string,
  unknown: readonly string[],
): Promise<void> {
  const operations = unknown.slice(0, listed);
  const because = `its report has operations that are unknown here: ${operations.join(', ')}`;
  const isNew = await storeStop(db, bankId, because, clock.now());
  if (isNew) log.error({ bank: bankId, operations, unknown: unknown.length }, 'bank stopped');
}

/** The sequence of the report's last line. */
export async function endOfReport(report: Report, after: number): Promise<number> {
  let last = after;
  for await (const entries of report.entriesAfter(after)) last = entries.at(-1)?.sequence ?? last;
  return last;
}

/** How long ago a bank was last watched before it is watched again. */
export const watchEveryMs = 60_000;
export const lastWatchedBefore = ({ clock }: { readonly clock: Clock }) =>
  laterBy(clock.now(), -watchEveryMs / 2);
