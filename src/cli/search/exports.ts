// mandate export: orders CSV files for a merchant, and saves them.
import { createHash } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { exportSources } from '../../app/sources/export-sources.ts';
import { defined } from '../../defined.ts';
import { livemodeOf } from '../../livemode.ts';
import { openMerchants } from '../../merchants/merchants.ts';
import {
  exportedKinds,
  shopsIn,
  statusOf,
  type Export,
  type ExportedKind,
} from '../../search/exports/domain/export.ts';
import { readExportFile } from '../../search/exports/export-file.ts';
import { cancelExport } from '../../search/exports/cancel-export.ts';
import { exportsOf, findExport } from '../../search/exports/exports.store.ts';
import { openOrderExport, type AskedExport } from '../../search/exports/order-export.ts';
import {
  logInLiveMode,
  printTable,
  refusalText,
  requireParty,
  userHere,
  withFoundation,
} from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { moment } from '../option-values.ts';

type OrderOptions = {
  readonly party: string;
  readonly shop?: readonly string[];
  readonly exceptShop?: readonly string[];
  readonly since: string;
  readonly until?: string;
  readonly filter?: readonly string[];
  readonly timeZone?: string;
  readonly delimiter?: AskedExport['delimiter'];
  readonly byteOrderMark?: true;
  readonly column?: readonly string[];
};

export async function orderExport(what: string, options: OrderOptions): Promise<void> {
  const of = exportedKinds.find((kind) => kind === what);
  if (!of) throw new Error(`"${what}" cannot be exported. Use one of ${exportedKinds.join(', ')}.`);
  const filters = filtersOf(of, options.filter ?? []);
  const id = await withFoundation(async ({ database, ports: { clock, ids }, config }) => {
    const party = await requireParty(database, options.party);
    const livemode = livemodeOf(config.mode);
    const merchants = openMerchants(database.lookups, clock, livemode);
    const now = merchants.timeOf(party);
    const { shop: shopIDs, exceptShop: excludeShopIDs, timeZone, delimiter, byteOrderMark, column } = options;
    const asked = {
      of,
      fromTime: moment('--since', options.since, now),
      toTime: options.until === undefined ? now : moment('--until', options.until, now),
      filters,
      ...defined({ shopIDs, excludeShopIDs, timeZone, delimiter, byteOrderMark, columns: column }),
    };
    const deps = { db: database, ids, merchants, payouts: { livemode } };
    const by = { partyId: party.id, madeBy: 'operator', now };
    const ordered = await openOrderExport(exportSources)(deps, asked, by);
    if (!ordered.ok) throw new Error(refusalText(ordered.refusal));
    const facts = { export: ordered.value.id, party: party.id, kind: of, by: userHere() };
    logInLiveMode(config, facts, 'export ordered');
    return ordered.value.id;
  });
  console.log(id);
  console.error(
    `Once it is ready, save it with "mandate export save ${id} --party ${options.party} --out <file>".`,
  );
}

/** Numbers and lists where the search takes them. */
function filtersOf(of: ExportedKind, given: readonly string[]): Record<string, unknown> {
  const known: Readonly<Record<string, { readonly type?: string }>> = exportSources[of].filters.properties;
  const filters: Record<string, unknown> = {};
  for (const text of given) {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new Error(`--filter is "${text}". Use <name>=<value>, such as paymentStatus=failed.`);
    const type = Object.hasOwn(known, name) ? known[name]?.type : undefined;
    const isNumber = type === 'integer' && /^-?\d{1,15}$/.test(value);
    const others = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (type !== 'array' && others !== undefined)
      throw new Error(`--filter ${name} takes one value. Give it once.`);
    const values = [others ?? [], value.split(',')].flat();
    filters[name] = type === 'array' ? values : isNumber ? Number(value) : value;
  }
  return filters;
}

export async function listExports(options: { readonly party: string; readonly json?: true }): Promise<void> {
  const found = await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    return exportsOf(database, options.party);
  });
  if (options.json) return printJson('export list', found.map(shownOf));
  if (found.length === 0)
    return console.log(`Party ${options.party} has no export. Order one with "mandate export order".`);
  printTable(
    ['export', 'of', 'shops', 'status', 'rows', 'made by', 'ordered', 'expires'],
    found
      .map(shownOf)
      .map(({ id, of, shopId, shopIds, status, rows, error, madeBy, createdAt, expiresAt }) => [
        id,
        of,
        shopsIn({ shopId, shopIds }).join(' '),
        error ?? status,
        String(rows),
        madeBy,
        createdAt.slice(0, 19),
        expiresAt?.slice(0, 19) ?? '',
      ]),
  );
}

function shownOf(found: Export) {
  const { id, terms, rows, bytes, madeBy, createdAt, asOf, sha256, md5, failure, expiresAt } = found;
  return {
    id,
    of: terms.of,
    status: statusOf(found),
    rows: Number(rows),
    bytes: Number(bytes),
    madeBy,
    createdAt,
    ...defined({
      shopId: terms.shopId,
      shopIds: terms.shopIds,
      asOf,
      sha256,
      md5,
      error: failure,
      expiresAt,
    }),
  };
}

export async function cancelOrdered(id: string, { party }: { readonly party: string }): Promise<void> {
  await withFoundation(async ({ database, ports: { clock }, config }) => {
    const found = await requireParty(database, party);
    const now = openMerchants(database.lookups, clock, livemodeOf(config.mode)).timeOf(found);
    const cancelled = await cancelExport(database, { partyId: party, id }, now);
    if (!cancelled.ok) throw new Error(refusalText(cancelled.refusal));
    logInLiveMode(config, { export: id, party, by: userHere() }, 'export cancelled');
  });
  console.log(`Export ${id} is cancelled.`);
}

export async function saveExport(
  id: string,
  { party, out }: { readonly party: string; readonly out: string },
): Promise<void> {
  const rows = await withFoundation(async ({ database, keyring, config }) => {
    const found = await findExport(database, party, id);
    if (!found)
      throw new Error(`Export ${id} not found. List exports with "mandate export list --party ${party}".`);
    if (found.sha256 === undefined)
      throw new Error(`Export ${id} is ${statusOf(found)}, so it has no file yet.`);
    if (await stat(out).catch(() => undefined)) throw new Error(`${out} exists. Give --out a new file.`);
    logInLiveMode(config, { export: id, party, by: userHere() }, 'export downloaded');
    await saveWhole(readExportFile({ db: database, keys: keyring }, found), found.sha256, out);
    return found.rows;
  });
  console.log(`Saved ${rows} rows to ${out}.`);
}

/** Under another name until it is whole. */
async function saveWhole(content: AsyncIterable<Buffer>, sha256: string, out: string): Promise<void> {
  const part = `${out}.part`;
  const hash = createHash('sha256');
  const file = await open(part, 'wx', 0o600);
  try {
    for await (const piece of content) {
      hash.update(piece);
      await file.writeFile(piece);
    }
    await file.sync();
    if (hash.digest('hex') !== sha256)
      throw new Error('The file is not the one that was made. Order it again.');
    await rename(part, out);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
