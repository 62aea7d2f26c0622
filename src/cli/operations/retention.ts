// mandate retention: show how long rows are kept, and delete those that no rule needs.
import { dayMs, laterBy } from '../../clock.ts';
import { purge, purges, tableSizes } from '../../app/purges.ts';
import { retention } from '../../app/table-retention.ts';
import { printTable, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

/** No rule reads rows older than a month. */
const minDays = 90;
const mebibyte = 2 ** 20;

export async function showRetention(options: { json?: true }): Promise<void> {
  const sizes = await withFoundation(({ database }) => tableSizes(database));
  const tables = sizes.map(({ name, rows, bytes }) => ({
    name,
    rows: Number(rows),
    bytes: Number(bytes),
    kept: retention[name] ?? 'not a table of Mandate',
  }));
  if (options.json) return printJson('retention show', tables);
  printTable(
    ['table', 'rows, about', 'MiB', 'kept'],
    tables.map(({ name, rows, bytes, kept }) => [name, String(rows), (bytes / mebibyte).toFixed(1), kept]),
  );
}

export async function purgeOldRows(options: { olderThan: string; dryRun?: true }): Promise<void> {
  const days = Number(options.olderThan);
  if (!/^\d{1,5}$/.test(options.olderThan) || days < minDays)
    throw new Error(`--older-than is "${options.olderThan}". Use a number of days, at least ${minDays}.`);
  const isDry = options.dryRun === true;
  await withFoundation(async ({ database, ports }) => {
    const before = laterBy(ports.clock.now(), -days * dayMs);
    for (const rows of purges) {
      const found = await purge(database, rows, {
        before,
        isDry,
        report: reportOn(process.stderr, rows.table),
      });
      console.log(`${rows.table}: ${isDry ? 'would delete' : 'deleted'} ${found} rows`);
    }
  });
}

const reportEveryMs = 5_000;

function reportOn(stream: NodeJS.WriteStream, table: string): (found: bigint) => void {
  let reportedAtMs = performance.now();
  return (found) => {
    if (performance.now() - reportedAtMs < reportEveryMs) return;
    reportedAtMs = performance.now();
    stream.write(`${table}: ${found} so far\n`);
  };
}
