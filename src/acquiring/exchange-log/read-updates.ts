// Reads what a bank reports about operations whose response it has returned. A note, its effect and the cursor are one transaction, so a
// crash neither loses an update nor applies it twice.
import type { Clock } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/log.ts';
import type { Bank } from '../domain/bank-port.ts';
import type { BankUpdate, UnreadableUpdate, UpdateOutcome } from '../domain/bank-updates.ts';
import { closeEnded, type CertaintyOf } from './close-ended.ts';
import { interpret } from './domain/interpret.ts';
import { findExchange } from './store/exchange-rows.ts';
import {
  lockWaitingNote,
  noteOf,
  storeMeaning,
  storeNote,
  storeUpdatesCursor,
  waitingNotes,
  type NoteKey,
  type NoteMeaning,
  type NoteRow,
} from './store/notes.ts';
import { bankUpdate } from './store/codec.ts';

export type UpdatesDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly certaintyOf: CertaintyOf;
  /** Writes what the update changes, in the transaction. */
  readonly apply: (tx: Database, update: BankUpdate) => Promise<UpdateOutcome>;
  /** Makes the job of the operation due. */
  readonly expedite: (operationId: string) => Promise<void>;
};

const maxPages = 100;

/** No update keeps the bank's others from being read. */
export async function readUpdates(
  deps: UpdatesDeps,
  bankId: string,
  bank: Pick<Bank, 'updates'>,
  after: number,
): Promise<void> {
  await applyWaiting(deps, bankId);
  let cursor = after;
  for (let page = 0; page < maxPages; page++) {
    const { updates, unreadable, last, hasMore } = await bank.updates(cursor);
    for (const one of unreadable) await keepAside(deps, bankId, one);
    for (const update of updates) await take(deps, bankId, update);
    if (last > cursor) await storeUpdatesCursor(deps.db, bankId, last);
    cursor = last;
    if (!hasMore) return;
  }
}

async function take(deps: UpdatesDeps, bankId: string, update: BankUpdate): Promise<void> {
  const { operationId, sequence, what } = update;
  const note = { bankId, key: `update ${sequence}`, operationId, what };
  const outcome = await deps.db.transaction(async (tx) => {
    const row = noteOf(note, written(update), { meaning: 'waits', at: deps.clock.now() });
    // The note comes first: another node that takes the same update waits for it, and leaves it.
    if (!(await storeNote(tx, row))) return undefined;
    const taken = await applyNoted(deps, tx, row, update);
    await storeUpdatesCursor(tx, bankId, sequence);
    return taken;
  });
  if (outcome?.outcome === 'applied' || outcome?.outcome === 'tooEarly') await deps.expedite(operationId);
}

/** For the operator. The cursor passes it only once it is noted. */
async function keepAside(
  { db, clock, log }: UpdatesDeps,
  bankId: string,
  { key, operationId = '', why }: UnreadableUpdate,
): Promise<void> {
  const note = { bankId, key: `update ${key}`, operationId, what: 'unreadable' };
  const row = noteOf(note, { why }, { meaning: 'contradiction', at: clock.now() });
  if (await storeNote(db, row)) log.error({ bank: bankId, operationId, key, why }, 'bank update unreadable');
}

/** What came too early, or could not be written. */
async function applyWaiting(deps: UpdatesDeps, bankId: string): Promise<void> {
  for await (const row of waitingNotes(deps.db, bankId))
    await applyOne(deps, row).catch((err: unknown) =>
      deps.log.warn({ err, bank: bankId, operationId: row.operation_id }, 'bank update not applied'),
    );
}

/** During an upgrade, a newer node may have written what this one cannot read. */
async function applyOne(deps: UpdatesDeps, row: NoteRow): Promise<void> {
  const update = bankUpdate.read(row.heard);
  const outcome = await deps.db.transaction(async (tx) =>
    (await lockWaitingNote(tx, row)) ? applyNoted(deps, tx, row, update) : undefined,
  );
  if (outcome?.outcome === 'applied') await deps.expedite(update.operationId);
}

/** An update that fails waits, so that those after it are not held up. */
async function applyNoted(
  deps: UpdatesDeps,
  tx: Database,
  note: NoteKey,
  update: BankUpdate,
): Promise<UpdateOutcome> {
  const outcome = await tx
    .withSavepoint((part) => outcomeOf(deps, part, update))
    .catch((err: unknown): UpdateOutcome => {
      deps.log.warn({ err, bank: note.bank_id, operationId: update.operationId }, 'bank update not applied');
      return { outcome: 'tooEarly' };
    });
  if (outcome.outcome === 'tooEarly') return outcome;
  const why = outcome.outcome === 'contradiction' ? { why: outcome.why } : {};
  await storeMeaning(tx, note, meanings[outcome.outcome], { ...written(update), ...why });
  return outcome;
}

const meanings = {
  applied: 'applied',
  nothing: 'nothing',
  contradiction: 'contradiction',
} as const satisfies Record<string, NoteMeaning>;

/** An operation of before the log has no row: its module knows what it may change. */
async function outcomeOf(
  { apply, log, clock, certaintyOf }: UpdatesDeps,
  tx: Database,
  update: BankUpdate,
): Promise<UpdateOutcome> {
  const { operationId, what } = update;
  const logged = await findExchange(tx, operationId);
  const exchange = logged && (await closeEnded({ db: tx, clock, certaintyOf }, logged));
  const meaning = exchange && interpret(exchange, { by: 'update', what });
  switch (meaning?.says) {
    case 'waits':
      return { outcome: 'tooEarly' };
    case 'contradiction': {
      const { why } = meaning;
      log.error({ operationId, what, why }, 'bank contradicts itself');
      return { outcome: 'contradiction', why };
    }
    default:
      return apply(tx, update);
  }
}

function written(update: BankUpdate): object {
  return bankUpdate.write ? (bankUpdate.write(update) as object) : update;
}
