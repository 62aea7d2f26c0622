// mandate bank confirm, resume, share, contradictions, waiting: what an operator decides about what a bank's report and updates say.
import { findExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import { contradictions, waitingNotes, type NoteRow } from '../../acquiring/exchange-log/store/notes.ts';
import {
  findWatchedBank,
  storeConfirmation,
  storeSharing,
} from '../../acquiring/exchange-log/store/watched-banks.ts';
import { releaseCharges } from '../../acquiring/store/held-charges.ts';
import { endOfReport } from '../../acquiring/exchange-log/witness.ts';
import { buildService } from '../../app/compose.ts';
import { printTable, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { reportOf } from './bank-report.ts';

export async function confirmBank(id: string, { reason }: { reason: string }): Promise<void> {
  const last = await withFoundation(async (foundation) => {
    const { database } = foundation;
    const bank = await findWatchedBank(database, id);
    if (!bank) throw noSuchBank(id);
    if (bank.stopped_at === null) throw new Error(`Bank ${id} is not stopped. Nothing was changed.`);
    const report = await reportOf(foundation, buildService(foundation).banks, { bank: id });
    try {
      const last = await endOfReport(report, Number(bank.report_cursor ?? 0n));
      await storeConfirmation(database, id, { reportCursor: last, reason });
      return last;
    } finally {
      await report.stop();
    }
  });
  console.log(`Confirmed bank ${id} up to line ${last} of its report. Every node uses it within a second.`);
}

export async function resumeBank(id: string): Promise<void> {
  const released = await withFoundation(async ({ database, ports }) => {
    if (!(await findWatchedBank(database, id))) throw noSuchBank(id);
    return database.run(releaseCharges, { bank_id: id, now: ports.clock.now() });
  });
  if (released.length === 0) throw new Error(`No charges are held at bank ${id}. Nothing was changed.`);
  console.log(
    `Bank ${id} gets charges of subscriptions again. Those that were held follow within 15 minutes.`,
  );
}

export async function shareBank(id: string, { end }: { end?: true }): Promise<void> {
  const isShared = end !== true;
  const isKnown = await withFoundation(({ database }) => storeSharing(database, id, isShared));
  if (!isKnown) throw noSuchBank(id);
  console.log(
    isShared
      ? `Bank ${id} has a shared account: its report no longer shows whether operations are lost here.`
      : `Bank ${id} is used by this installation alone: its report is checked every minute.`,
  );
}

const listed = 100;

export async function listContradictions(options: { json?: true }): Promise<void> {
  const rows = await withFoundation(({ database }) => contradictions(database, { limit: listed }));
  const found = rows.map((row) => ({
    bankId: row.bank_id,
    operationId: row.operation_id,
    what: row.what,
    heard: row.heard,
    notedAt: row.noted_at,
  }));
  if (options.json) return printJson('bank contradictions', found);
  if (found.length === 0) return console.log('No bank has contradicted itself.');
  printTable(
    ['bank', 'operation', 'said', 'at', 'why'],
    found.map((one) => [
      one.bankId,
      one.operationId,
      one.what,
      one.notedAt.slice(0, 19),
      'why' in one.heard ? String(one.heard.why) : '',
    ]),
  );
}

export async function listWaiting(options: { json?: true }): Promise<void> {
  const found = await withFoundation(async ({ database }) => {
    const rows: NoteRow[] = [];
    for await (const row of waitingNotes(database)) if (rows.push(row) === listed) break;
    const exchanges = await findExchanges(
      database,
      rows.map((row) => row.operation_id),
    );
    const states = new Map(exchanges.map(({ operationId, state }) => [operationId, state]));
    return rows.map((row) => ({
      bankId: row.bank_id,
      operationId: row.operation_id,
      what: row.what,
      notedAt: row.noted_at,
      state: states.get(row.operation_id) ?? null,
    }));
  });
  if (options.json) return printJson('bank waiting', found);
  if (found.length === 0) return console.log('No update of a bank waits.');
  printTable(
    ['bank', 'operation', 'said', 'at', 'operation is'],
    found.map((one) => [
      one.bankId,
      one.operationId,
      one.what,
      one.notedAt.slice(0, 19),
      one.state ?? 'not in the exchange log',
    ]),
  );
}

function noSuchBank(id: string): Error {
  return new Error(`Bank ${id} not found. List banks with "mandate bank list".`);
}
