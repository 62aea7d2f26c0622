// mandate import cards: a file from another provider, row by row. It prints lines and reasons, and never a value of a row.
import { readFile } from 'node:fs/promises';
import type { Foundation } from '../../app/composition/foundation.ts';
import { importingBindings } from '../../customers/port.ts';
import { importCards, type ImportReport } from '../../importing/import-cards.ts';
import { openSealedFile, privateKeyIn, type SealedFile } from '../../importing/sealed-file.ts';
import { livemodeOf } from '../../livemode.ts';
import { openMerchants } from '../../merchants/merchants.ts';
import { importingSeries } from '../../recurring/port.ts';
import type { RecurringSettings } from '../../recurring/domain/settings.ts';
import { refuseOlderPrograms } from '../../platform/database/connections/programs.ts';
import { requireParty, withFoundation } from '../foundation.ts';
import { firstSignal } from '../signals.ts';
import { printJsonObject } from '../json-members.ts';

type Options = {
  readonly party: string;
  readonly key: string;
  readonly dryRun?: true;
  readonly json?: true;
};

export async function importFile(path: string, options: Options): Promise<void> {
  // The batch in progress is written whole or not at all, and no other one begins.
  let isStopped = false;
  void firstSignal().then(() => (isStopped = true));
  const report = await withFoundation(async (foundation) => {
    const file = await openWith(path, options.key);
    try {
      await file.verify();
      return await importInto(foundation, file, { ...options, isStopped: () => isStopped });
    } finally {
      await file.close();
    }
  }).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    throw /^Stopped by/.test(text)
      ? new Error(`${text} Run it again with the same file: it continues.`)
      : error;
  });
  print(report, options);
  if (report.conflicts.length + report.refused.length > 0) process.exitCode = 1;
}

async function openWith(path: string, keyFile: string): Promise<SealedFile> {
  const pem = await readFile(keyFile, 'utf8').catch(() => undefined);
  if (pem === undefined) throw new Error(`--key "${keyFile}" cannot be read.`);
  const key = privateKeyIn(pem);
  if (!key) throw new Error(`--key "${keyFile}" has no private key of "mandate import key".`);
  return openSealedFile(path, key);
}

export async function importInto(
  { config, database: db, ports: { clock, ids }, vault: { cards } }: Foundation,
  file: SealedFile,
  { party: partyId, dryRun, isStopped = () => false }: Options & { readonly isStopped?: () => boolean },
): Promise<ImportReport> {
  if (!dryRun) await refuseOlderPrograms(db);
  const party = await requireParty(db, partyId);
  const merchants = openMerchants(db.lookups, clock, livemodeOf(config.mode));
  const series = importingSeries(db);
  const bindings = importingBindings(db);
  const known = new Map<string, Promise<RecurringSettings>>();
  const settings = (shopId: string) => {
    const found = known.get(shopId) ?? series.settings({ partyId, shopId });
    known.set(shopId, found);
    return found;
  };
  const shop = (shopId: string) => merchants.shop(partyId, shopId);
  const deps = { db, ids, cards, bindings, series, shop, settings };
  const now = merchants.timeOf(party);
  const options = { partyId, now, isDryRun: dryRun === true, isStopped };
  return importCards(deps, file.lines(), options);
}

function print(report: ImportReport, { dryRun, json }: Options): void {
  if (json) return printJsonObject('import cards', report);
  const { imported, repeated, conflicts, refused } = report;
  console.log(dryRun ? `Would import ${imported} rows.` : `Imported ${imported} rows.`);
  if (repeated > 0) console.log(`${repeated} rows were imported before and are unchanged.`);
  for (const { line, reason } of conflicts) console.log(`Line ${line} conflicts: ${reason}.`);
  for (const { line, reason } of refused) console.log(`Line ${line} is refused: ${reason}.`);
}
