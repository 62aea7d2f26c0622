// What banks reported on their own, in SQL: each note once.
import type { Instant } from '../../../clock.ts';
import { anyObject, list, oneOf, text } from '../../../platform/database/codec.ts';
import type { Database } from '../../../platform/database/database.ts';
import { columnList, statement, stored, type Values } from '../../../platform/database/statement.ts';

export const noteMeanings = ['nothing', 'waits', 'applied', 'contradiction'] as const;
export type NoteMeaning = (typeof noteMeanings)[number];

const row = {
  bank_id: 'text',
  note_key: 'text',
  operation_id: 'text',
  what: 'text',
  heard: stored('json', anyObject),
  meaning: stored('text', oneOf(...noteMeanings)),
  noted_at: 'timestamptz',
} as const;
export type NoteRow = Values<typeof row>;
export type NoteKey = Pick<NoteRow, 'bank_id' | 'note_key'>;

const insertNote = statement({
  name: 'insert_exchange_note',
  parameters: row,
  row: { note_key: 'text' },
  text: `insert into exchange_note (${columnList(row)})
         values (:bank_id, :note_key, :operation_id, :what, :heard, :meaning, :noted_at)
         on conflict do nothing returning note_key`,
});

/** One row for each operation, so a second node waits for the first, and then sees that it is too soon. */
const claimCallbackOf = statement({
  name: 'claim_callback',
  parameters: {
    bank_id: 'text',
    note_key: 'text',
    operation_id: 'text',
    now: 'timestamptz',
    before: 'timestamptz',
  },
  row: { note_key: 'text' },
  text: `insert into exchange_note (bank_id, note_key, operation_id, what, heard, meaning, noted_at)
         values (:bank_id, :note_key, :operation_id, 'callback', '{}', 'nothing', :now)
         on conflict (bank_id, note_key) do update set noted_at = excluded.noted_at
         where exchange_note.noted_at <= :before returning note_key`,
});

const changeNote = statement({
  name: 'change_exchange_note',
  parameters: { bank_id: 'text', note_key: 'text', meaning: row.meaning, heard: row.heard },
  row: {},
  text: `update exchange_note set meaning = :meaning, heard = :heard
         where bank_id = :bank_id and note_key = :note_key and meaning = 'waits'`,
});

const lockNote = statement({
  name: 'lock_exchange_note',
  parameters: { bank_id: 'text', note_key: 'text' },
  row: { note_key: 'text' },
  text: `select note_key from exchange_note
         where bank_id = :bank_id and note_key = :note_key and meaning = 'waits' for update`,
});

const moveUpdatesCursor = statement({
  name: 'move_updates_cursor',
  parameters: { bank_id: 'text', to: 'int8' },
  row: {},
  text: 'update bank set updates_cursor = greatest(updates_cursor, :to) where bank_id = :bank_id',
});

const readContradictions = statement({
  name: 'read_contradictions',
  parameters: { bank_id: 'text?', limit: 'int4' },
  row,
  text: `select ${columnList(row)} from exchange_note
         where meaning in ('waits', 'contradiction') and meaning = 'contradiction'
           and (:bank_id is null or bank_id = :bank_id)
         order by noted_at desc, note_key limit :limit`,
});

const readWaitingNotes = statement({
  name: 'read_waiting_notes',
  parameters: { bank_id: 'text?', after: 'timestamptz?', after_key: 'text', limit: 'int4' },
  row,
  text: `select ${columnList(row)} from exchange_note
         where meaning in ('waits', 'contradiction') and meaning = 'waits'
           and (:bank_id is null or bank_id = :bank_id)
           and (:after is null or (noted_at, note_key) > (:after, :after_key))
         order by noted_at, note_key limit :limit`,
});

/** Of a few operations; an operator asks. */
const readNotesAbout = statement({
  name: 'read_exchange_notes_about',
  parameters: { operation_ids: stored('json', list(text)) },
  row,
  text: `select ${columnList(row)} from exchange_note
         where operation_id in (select json_array_elements_text(:operation_ids)) order by noted_at, note_key`,
});

const countOpenNotes = statement({
  name: 'count_open_notes',
  parameters: {},
  row: { contradictions: 'int8', waiting: 'int8', oldest: 'timestamptz?' },
  text: `select count(*) filter (where meaning = 'contradiction') as contradictions,
           count(*) filter (where meaning = 'waits') as waiting,
           min(noted_at) filter (where meaning = 'waits') as oldest
         from exchange_note where meaning in ('waits', 'contradiction')`,
});

/** False if the note is known. */
export async function storeNote(db: Database, note: NoteRow): Promise<boolean> {
  return (await db.run(insertNote, note)).length > 0;
}

/** False if the bank has called about the operation since `before`. */
export async function claimCallback(
  db: Database,
  { operationId, bankId }: { readonly operationId: string; readonly bankId: string },
  now: Instant,
  before: Instant,
): Promise<boolean> {
  const call = { bank_id: bankId, note_key: `callback ${operationId}`, operation_id: operationId };
  return (await db.run(claimCallbackOf, { ...call, now, before })).length > 0;
}

/** False if it waits no longer: another node has taken it. */
export async function lockWaitingNote(db: Database, { bank_id, note_key }: NoteKey): Promise<boolean> {
  return (await db.run(lockNote, { bank_id, note_key })).length > 0;
}

/** Of a note that waits. */
export async function storeMeaning(
  db: Database,
  { bank_id, note_key }: NoteKey,
  meaning: NoteMeaning,
  heard: object,
): Promise<void> {
  await db.run(changeNote, { bank_id, note_key, meaning, heard });
}

export async function storeUpdatesCursor(db: Database, bankId: string, to: number): Promise<void> {
  await db.run(moveUpdatesCursor, { bank_id: bankId, to: BigInt(to) });
}

const waitingAtOnce = 100;

/** All of a bank, or of every bank, the oldest first. */
export async function* waitingNotes(db: Database, bankId?: string): AsyncGenerator<NoteRow> {
  let last: NoteRow | undefined;
  do {
    const from = { after: last?.noted_at ?? null, after_key: last?.note_key ?? '' };
    const rows = await db.run(readWaitingNotes, { bank_id: bankId ?? null, ...from, limit: waitingAtOnce });
    yield* rows;
    last = rows.length < waitingAtOnce ? undefined : rows.at(-1);
  } while (last);
}

/** The newest first. */
export function contradictions(
  db: Database,
  { bankId, limit }: { readonly bankId?: string; readonly limit: number },
): Promise<NoteRow[]> {
  return db.run(readContradictions, { bank_id: bankId ?? null, limit });
}

/** The oldest first. */
export async function notesAbout(db: Database, operationIds: readonly string[]): Promise<NoteRow[]> {
  return db.run(readNotesAbout, { operation_ids: operationIds });
}

/** `oldest` is the time of the note that waits longest. */
export async function openNotes(db: Database) {
  const [row] = await db.run(countOpenNotes, {});
  return {
    contradictions: Number(row?.contradictions ?? 0n),
    waiting: Number(row?.waiting ?? 0n),
    oldest: row?.oldest ?? undefined,
  };
}

export function noteOf(
  note: {
    readonly bankId: string;
    readonly key: string;
    readonly operationId: string;
    readonly what: string;
  },
  heard: object,
  { meaning, at }: { readonly meaning: NoteMeaning; readonly at: Instant },
): NoteRow {
  const { bankId, key, operationId, what } = note;
  return {
    bank_id: bankId,
    note_key: key,
    operation_id: operationId,
    what,
    heard,
    meaning,
    noted_at: at,
  };
}
