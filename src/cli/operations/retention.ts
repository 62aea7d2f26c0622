// mandate retention: how much there is, how long it is kept, and an end to what nothing needs any more.
import { laterBy } from '../../clock.ts';
import { purge, purges, tableSizes } from '../../app/retention.ts';
import { retention } from '../../app/retention-rules.ts';
import { printTable, withFoundation } from '../foundation.ts';

const dayMs = 24 * 3_600_000;
/** The longest any rule looks back is a month. */
const minDays = 90;
const mebibyte = 2 ** 20;

export async function showRetention(options: { json?: true }): Promise<void> {
  const sizes = await withFoundation(({ database }) => tableSizes(database));
  const tables = sizes.map(({ name, rows, bytes }) => ({
    name,
    rows: Number(rows),
    bytes: Number(bytes),
    kept: retention[name] ?? 'not a table of this program',
  }));
  if (options.json) return console.log(JSON.stringify(tables, null, 2));
  printTable(
    ['table', 'rows, about', 'MiB', 'kept'],
    tables.map(({ name, rows, bytes, kept }) => [name, String(rows), (bytes / mebibyte).toFixed(1), kept]),
  );
}

export async function purgeOldRows(options: { olderThan: string; dryRun?: true }): Promise<void> {
  const days = Number(options.olderThan);
  if (!/^\d{1,5}$/.test(options.olderThan) || days < minDays)
    throw new Error(`--older-than must be a number of days, ${minDays} at least`);
  const isDry = options.dryRun === true;
  await withFoundation(async ({ database, ports }) => {
    const before = laterBy(ports.clock.now(), -days * dayMs);
    for (const rows of purges) {
      const found = await purge(database, rows, {
        before,
        isDry,
        report: reportOn(process.stderr, rows.table),
      });
      console.log(`${rows.table}: ${found} rows ${isDry ? 'would go' : 'are gone'}`);
    }
  });
}

const saysEveryMs = 5_000;

function reportOn(stream: NodeJS.WriteStream, table: string): (found: bigint) => void {
  let saidAtMs = performance.now();
  return (found) => {
    if (performance.now() - saidAtMs < saysEveryMs) return;
    saidAtMs = performance.now();
    stream.write(`${table}: ${found} so far\n`);
  };
}
