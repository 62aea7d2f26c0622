// Tells what a bank says against its own proof. It changes nothing: an operator finds out what is true.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/log.ts';
import { noteOf, storeNote } from './store/notes.ts';

type Deps = { readonly db: Database; readonly log: Pick<Logger, 'error'> };

export async function noteContradiction(
  { db, log }: Deps,
  note: {
    readonly bankId: string;
    readonly key: string;
    readonly operationId: string;
    readonly what: string;
    readonly heard: object;
  },
  why: string,
  at: Instant,
): Promise<void> {
  const { bankId: bank, operationId, what } = note;
  const row = noteOf(note, { ...stored(note.heard), why }, { meaning: 'contradiction', at });
  if (await storeNote(db, row)) log.error({ bank, operationId, what, why }, 'bank contradicts itself');
}

/** JSON has no bigint. */
function stored(heard: object): object {
  return JSON.parse(
    JSON.stringify(heard, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
  ) as object;
}
