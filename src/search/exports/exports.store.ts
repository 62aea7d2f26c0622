// Exports in SQL. Of the runs of one export only the last writes: each write names its run.
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import {
  anyObject,
  flag,
  instant,
  list,
  object,
  oneOf,
  optional,
  text,
} from '../../platform/database/codec.ts';
import type { Codec } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import {
  exportedKinds,
  exportFailures,
  maxKept,
  type Export,
  type ExportFailure,
  type ExportTerms,
} from './domain/export.ts';

const terms = object<ExportTerms>({
  of: oneOf(...exportedKinds),
  shopId: optional(text),
  shopIds: optional(list(text)),
  from: instant,
  to: instant,
  filters: anyObject as Codec<ExportTerms['filters']>,
  timeZone: text,
  delimiter: oneOf(',', ';'),
  hasByteOrderMark: flag,
  columns: optional(list(text)),
});

const ordered = {
  party_id: 'text',
  export_id: 'text',
  terms: stored('json', terms),
  made_by: 'text',
  created_at: 'timestamptz',
} as const;
const row = {
  ...ordered,
  run: 'int4',
  row_count: 'int8',
  byte_count: 'int8',
  as_of: 'timestamptz?',
  sha256: 'text?',
  md5: 'text?',
  failure: stored('text?', oneOf(...exportFailures)),
  expires_at: 'timestamptz?',
} as const;

/** No row if there is no place for another one, or if another request was faster to take it. */
const insertExport = statement({
  name: 'insert_export',
  parameters: { ...ordered, most: 'int4' },
  row: { export_id: 'text' },
  text: `
    insert into export (party_id, export_id, slot, terms, made_by, created_at, wake_at)
    select :party_id, :export_id, free.slot, :terms, :made_by, :created_at, :created_at
    from (
      select slot from generate_series(1, 3) as slot
      where slot not in (select taken.slot from export as taken where taken.party_id = :party_id and expires_at is null)
      order by slot limit 1
    ) as free
    where (
      select count(*) from export where party_id = :party_id and failure is distinct from 'cancelled'
    ) < :most
    on conflict do nothing returning export_id`,
});

const readExport = statement({
  name: 'read_export',
  parameters: { party_id: 'text', export_id: 'text' },
  row,
  text: `select ${columnList(row)} from export where party_id = :party_id and export_id = :export_id`,
});

const listOfParty = statement({
  name: 'list_exports',
  parameters: { party_id: 'text' },
  row,
  text: `select ${columnList(row)} from export where party_id = :party_id order by created_at desc, export_id desc`,
});

const beginRun = statement({
  name: 'begin_export_run',
  parameters: { party_id: 'text', export_id: 'text', run: 'int4', leased_until: 'timestamptz' },
  row: { run: 'int4' },
  text: `update export set run = run + 1, row_count = 0, byte_count = 0, wake_at = :leased_until
         where party_id = :party_id and export_id = :export_id and run = :run and expires_at is null returning run`,
});

const insertPiece = statement({
  name: 'insert_export_piece',
  parameters: {
    party_id: 'text',
    export_id: 'text',
    run: 'int4',
    leased_until: 'timestamptz',
    rows: 'int8',
    bytes: 'int8',
    number: 'int4',
    key_version: 'int4',
    content: 'bytea',
  },
  row: { number: 'int4' },
  text: `
    with kept as (
      update export set row_count = :rows, byte_count = :bytes, wake_at = :leased_until
      where party_id = :party_id and export_id = :export_id and run = :run and expires_at is null
      returning export_id
    )
    insert into export_piece (export_id, run, number, key_version, content)
    select export_id, :run, :number, :key_version, :content from kept returning number`,
});

const readPiece = statement({
  name: 'read_export_piece',
  parameters: { export_id: 'text', run: 'int4', number: 'int4' },
  row: { key_version: 'int4', content: 'bytea' },
  text: `select key_version, content from export_piece
         where export_id = :export_id and run = :run and number = :number`,
});

const endRun = statement({
  name: 'end_export_run',
  parameters: {
    party_id: 'text',
    export_id: 'text',
    run: 'int4',
    as_of: 'timestamptz?',
    sha256: 'text?',
    md5: 'text?',
    failure: row.failure,
    expires_at: 'timestamptz',
  },
  row: { export_id: 'text' },
  text: `update export set as_of = :as_of, sha256 = :sha256, md5 = :md5, failure = :failure, expires_at = :expires_at,
           row_count = case when (:failure)::text is null then row_count else 0 end,
           byte_count = case when (:failure)::text is null then byte_count else 0 end,
           wake_at = :expires_at, attempts = 0, stuck_reason = null
         where party_id = :party_id and export_id = :export_id and run = :run and expires_at is null
         returning export_id`,
});

/** Whatever run is at it, that one writes no more. */
const cancelRun = statement({
  name: 'cancel_export',
  parameters: { party_id: 'text', export_id: 'text', expires_at: 'timestamptz' },
  row,
  text: `update export set failure = 'cancelled', expires_at = :expires_at, row_count = 0, byte_count = 0,
           wake_at = :expires_at, attempts = 0, stuck_at = null, stuck_reason = null
         where party_id = :party_id and export_id = :export_id and expires_at is null
         returning ${columnList(row)}`,
});

const wakeExport = statement({
  name: 'reschedule_export',
  parameters: { party_id: 'text', export_id: 'text', run: 'int4', wake_at: 'timestamptz' },
  row: {},
  text: `update export set wake_at = :wake_at, attempts = 0, stuck_reason = null
         where party_id = :party_id and export_id = :export_id and run = :run`,
});

const deletePieces = statement({
  name: 'delete_export_pieces',
  parameters: { export_id: 'text', before_run: 'int4' },
  row: {},
  text: 'delete from export_piece where export_id = :export_id and run < :before_run',
});

const deleteRow = statement({
  name: 'delete_export',
  parameters: { party_id: 'text', export_id: 'text' },
  row: {},
  text: 'delete from export where party_id = :party_id and export_id = :export_id',
});

function exportFromRow(found: Values<typeof row>): Export {
  const { party_id, export_id, made_by, created_at, row_count, byte_count, run } = found;
  return {
    id: export_id,
    partyId: party_id,
    terms: found.terms,
    madeBy: made_by,
    createdAt: created_at,
    run,
    rows: row_count,
    bytes: byte_count,
    ...defined({
      asOf: found.as_of ?? undefined,
      sha256: found.sha256 ?? undefined,
      md5: found.md5 ?? undefined,
      failure: found.failure ?? undefined,
      expiresAt: found.expires_at ?? undefined,
    }),
  };
}

/** As many as are made of a party at a time, so that none is refused because of others that take the same place. */
const tries = 3;

/** False if the party has as many as it may have. */
export async function storeOrder(
  db: Database,
  {
    id,
    partyId,
    terms,
    madeBy,
    createdAt,
  }: Pick<Export, 'id' | 'partyId' | 'terms' | 'madeBy' | 'createdAt'>,
): Promise<boolean> {
  const inserted = {
    party_id: partyId,
    export_id: id,
    terms,
    made_by: madeBy,
    created_at: createdAt,
    most: maxKept,
  };
  for (let attempt = 1; attempt <= tries; attempt++)
    if ((await db.run(insertExport, inserted)).length > 0) return true;
  return false;
}

export async function findExport(
  db: Pick<Database, 'run'>,
  partyId: string,
  exportId: string,
): Promise<Export | undefined> {
  const [found] = await db.run(readExport, { party_id: partyId, export_id: exportId });
  return found && exportFromRow(found);
}

export async function exportsOf(db: Database, partyId: string): Promise<Export[]> {
  return (await db.run(listOfParty, { party_id: partyId })).map(exportFromRow);
}

const keyOf = ({ partyId, id }: Pick<Export, 'partyId' | 'id'>) => ({ party_id: partyId, export_id: id });

/** The number of the new run; undefined if another one has begun meanwhile. What earlier runs wrote is deleted. */
export function storeRun(db: Database, of: Export, leasedUntil: Instant): Promise<number | undefined> {
  return db.transaction(async (tx) => {
    const [begun] = await tx.run(beginRun, { ...keyOf(of), run: of.run, leased_until: leasedUntil });
    if (begun) await tx.run(deletePieces, { export_id: of.id, before_run: begun.run });
    return begun?.run;
  });
}

export type Piece = {
  readonly number: number;
  readonly keyVersion: number;
  readonly content: Buffer;
  /** With all pieces before. */
  readonly rows: bigint;
  readonly bytes: bigint;
};

/** False if another run has begun. */
export async function storePiece(
  db: Database,
  { of, run, leasedUntil }: { readonly of: Export; readonly run: number; readonly leasedUntil: Instant },
  { number, keyVersion, content, rows, bytes }: Piece,
): Promise<boolean> {
  const stored = await db.run(insertPiece, {
    ...keyOf(of),
    run,
    leased_until: leasedUntil,
    rows,
    bytes,
    number,
    key_version: keyVersion,
    content,
  });
  return stored.length > 0;
}

export async function findPiece(
  db: Pick<Database, 'run'>,
  { id, run }: Export,
  number: number,
): Promise<Pick<Piece, 'keyVersion' | 'content'> | undefined> {
  const [piece] = await db.run(readPiece, { export_id: id, run, number });
  return piece && { keyVersion: piece.key_version, content: piece.content };
}

/** False if another run has begun. Nothing that was written is kept of one that fails. */
export function storeExportEnd(
  db: Database,
  of: Export,
  run: number,
  end: { readonly expiresAt: Instant } & (
    | { readonly asOf: Instant; readonly sha256: string; readonly md5: string }
    | { readonly failure: ExportFailure }
  ),
): Promise<boolean> {
  const ended = {
    ...keyOf(of),
    run,
    as_of: 'asOf' in end ? end.asOf : null,
    sha256: 'sha256' in end ? end.sha256 : null,
    md5: 'md5' in end ? end.md5 : null,
    failure: 'failure' in end ? end.failure : null,
    expires_at: end.expiresAt,
  };
  return db.transaction(async (tx) => {
    if ((await tx.run(endRun, ended)).length === 0) return false;
    if (ended.failure !== null) await tx.run(deletePieces, { export_id: of.id, before_run: run + 1 });
    return true;
  });
}

/** As it is then; undefined if it is over already. */
export function storeCancellation(
  db: Database,
  of: Pick<Export, 'partyId' | 'id'>,
  expiresAt: Instant,
): Promise<Export | undefined> {
  return db.transaction(async (tx) => {
    const [cancelled] = await tx.run(cancelRun, { ...keyOf(of), expires_at: expiresAt });
    if (!cancelled) return undefined;
    await tx.run(deletePieces, { export_id: of.id, before_run: cancelled.run + 1 });
    return exportFromRow(cancelled);
  });
}

/** Unless another run has begun. */
export async function rescheduleExport(db: Database, of: Export, run: number, at: Instant): Promise<void> {
  await db.run(wakeExport, { ...keyOf(of), run, wake_at: at });
}

export function deleteExport(db: Database, of: Export): Promise<void> {
  return db.transaction(async (tx) => {
    await tx.run(deletePieces, { export_id: of.id, before_run: of.run + 1 });
    await tx.run(deleteRow, keyOf(of));
  });
}
