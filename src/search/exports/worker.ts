// The job of an export: writes its file from one snapshot, and deletes it once it has expired. What a run
// that ends early has written cannot be fetched, and the next one begins again.
import { epochMsOf, laterBy, type Instant } from '../../clock.ts';
import { codeOf } from '../../error-code.ts';
import type { Database } from '../../platform/database/database.ts';
import { leaseMs, type LeasedJob } from '../../platform/jobs/job-table.ts';
import type { Logger } from '../../platform/log.ts';
import type { LastRow } from '../page-tokens.ts';
import { freshness } from '../position.store.ts';
import { fileLifeMs, maxRows, shopsIn, type Export, type ExportTerms } from './domain/export.ts';
import { openExportFile, type FileKeys, type WrittenFile } from './export-file.ts';
import { exportLines } from './export-lines.ts';
import { deleteExport, findExport, rescheduleExport, storeExportEnd, storeRun } from './exports.store.ts';
import type { ExportSource, ExportSources } from './source.ts';

export type ExportJobDeps = {
  readonly db: Database;
  readonly log: Logger;
  readonly keys: FileKeys;
  readonly sources: ExportSources;
  /** A node that stops leaves the export to another one. */
  readonly isStopping: () => boolean;
};

const pageRows = 1_000;
/** While everything is copied again, rows may lack. */
const afterRebuildMs = 5_000;
const canceled = '57014';

/** The transaction of the search is of no use any more, so the end is stored after it. */
class TooWide extends Error {}

type ExportJob = Pick<LeasedJob, 'key' | 'clock' | 'leaseMoved'>;

export async function runExportJob(
  deps: ExportJobDeps,
  { key: [partyId = '', exportId = ''], ...run }: ExportJob,
): Promise<void> {
  const { clock } = run;
  const { db, log } = deps;
  const of = await findExport(db, partyId, exportId);
  if (!of) return;
  const { expiresAt } = of;
  if (expiresAt !== undefined) {
    if (expiresAt > clock.now()) return rescheduleExport(db, of, of.run, expiresAt);
    return deleteExport(db, of);
  }
  const startedAtMs = epochMsOf(clock.now());
  const written = await writeFile(deps, of, run);
  if (typeof written === 'string') return;
  const { rows, bytes } = written;
  const durationMs = epochMsOf(clock.now()) - startedAtMs;
  const kind = of.terms.of;
  log.info({ export: of.id, party: of.partyId, kind, rows, bytes, durationMs }, 'export ready');
}

type Unwritten = 'postponed' | 'failed' | 'superseded';

async function writeFile(
  deps: ExportJobDeps,
  of: Export,
  { clock, leaseMoved }: Omit<ExportJob, 'key'>,
): Promise<WrittenFile | Unwritten> {
  const { db } = deps;
  // Before the snapshot, which has everything that was there by then.
  const now = clock.now();
  const runs = { last: of.run };
  const fail = async (failure: 'tooManyRows' | 'tooWide') => {
    const end = { failure, expiresAt: laterBy(clock.now(), fileLifeMs) };
    return (await storeExportEnd(db, of, runs.last, end)) ? 'failed' : 'superseded';
  };
  try {
    return await db.transaction(async (tx) => {
      const { asOf, isRebuilding } = await freshness(tx, of.partyId, now);
      if (isRebuilding) return postpone(db, of, of.run, laterBy(now, afterRebuildMs));
      const leasedUntil = laterBy(clock.now(), leaseMs);
      const run = await storeRun(db, of, leasedUntil);
      if (run === undefined) return 'superseded';
      leaseMoved(leasedUntil);
      runs.last = run;
      const file = openExportFile(deps, { of, run, clock, leaseMoved });
      const ended = await writeRows(deps, tx, of, file);
      if (ended === 'stopped') return postpone(db, of, run, clock.now());
      if (ended === 'tooManyRows') return fail(ended);
      const written = ended === 'superseded' ? undefined : await file.end();
      if (!written) return 'superseded';
      const expiresAt = laterBy(clock.now(), fileLifeMs);
      const { sha256, md5 } = written;
      return (await storeExportEnd(db, of, run, { asOf, sha256, md5, expiresAt })) ? written : 'superseded';
    }, 'snapshot');
  } catch (error) {
    if (error instanceof TooWide) return fail('tooWide');
    throw error;
  }
}

async function postpone(db: Database, of: Export, run: number, until: Instant): Promise<'postponed'> {
  await rescheduleExport(db, of, run, until);
  return 'postponed';
}

/** In pages, so that neither the node nor PostgreSQL holds more than one. */
async function writeRows(
  { sources, isStopping }: ExportJobDeps,
  tx: Database,
  { partyId, terms }: Export,
  file: ReturnType<typeof openExportFile>,
): Promise<'whole' | 'stopped' | 'tooManyRows' | 'superseded'> {
  const source = sources[terms.of];
  const { heading, linesOf } = exportLines(source, terms);
  if (!(await file.write(heading, 0))) return 'superseded';
  let rowCount = 0n;
  for (const part of partsOf(source, terms))
    for (let after: LastRow | undefined, isLast = false; !isLast;) {
      if (isStopping()) return 'stopped';
      const asked = { partyId, terms: part, limit: pageRows };
      const page = await source.page(tx, asked, after).catch(tooWideIfCanceled);
      rowCount += BigInt(page.rows.length);
      if (rowCount > maxRows) return 'tooManyRows';
      if (!(await file.write(linesOf(page.rows), page.rows.length))) return 'superseded';
      isLast = page.rows.length < pageRows;
      after = page.last;
    }
  return 'whole';
}

/** Shop by shop: every page of several would read a page of each, and look once more through those that have hardly any. */
function partsOf({ isOfShop }: ExportSource, terms: ExportTerms): readonly ExportTerms[] {
  return isOfShop ? shopsIn(terms).map((shopId) => ({ ...terms, shopIds: [shopId] })) : [terms];
}

function tooWideIfCanceled(error: unknown): never {
  throw codeOf(error) === canceled ? new TooWide('A search took too long.', { cause: error }) : error;
}
