// A create with a merchant's own ID (externalID) creates one object, however many requests arrive together. A repeat gets the object as
// it is now, and another request a conflict; a refused request leaves the ID free.
import { createHash } from 'node:crypto';
import { defined } from '../../defined.ts';
import { refuse, type Outcome, type Refusal } from '../../refusal.ts';
import { isExternalIdTaken, isVersionConflict } from '../database/database.ts';
import type { FoundByExternalId } from '../database/external-id.ts';
import { conflictHint, type Compared } from './errors/conflict-hint.ts';

type AnyOutcome = Outcome<unknown, string>;
type CreateConflict = 'versionConflict' | 'externalIdTaken';
type ExternalIdConflict = { readonly ok: false; readonly refusal: Refusal<'externalIDConflict'> };

type Repeatable<Value extends { readonly id?: string }, Repeated extends AnyOutcome | 'otherRequest'> = {
  readonly externalId: string | undefined;
  readonly fingerprint: Buffer;
  /** What was created before. Without an ID, the conflict does not name it. */
  readonly find: (externalId: string) => Promise<FoundByExternalId<Value> | undefined>;
  /** The result of a repeat of the same request. It may be refused, or count as another request. */
  readonly respond: (earlier: Value) => Repeated | Promise<Repeated>;
  /** What the hint about another request may name. */
  readonly compared?: (earlier: Value) => Compared;
};

export type IdempotentCreate<
  Value extends { readonly id?: string },
  Repeated extends AnyOutcome | 'otherRequest',
  Made extends AnyOutcome | CreateConflict,
> = Repeatable<Value, Repeated> & {
  /** Making first saves a round trip. `make` must then write nothing if the external ID is taken. */
  readonly order: 'findFirst' | 'makeFirst';
  /** Called again when another request changed what it depends on, or used the external ID first. */
  readonly make: (attempt: number) => Promise<Made>;
  readonly maxTries?: number;
};

const usualTries = 10;

export async function createIdempotently<
  Value extends { readonly id?: string },
  Repeated extends AnyOutcome | 'otherRequest',
  Made extends AnyOutcome | CreateConflict,
>(
  create: IdempotentCreate<Value, Repeated, Made>,
): Promise<Exclude<Made, CreateConflict> | Exclude<Repeated, 'otherRequest'> | ExternalIdConflict> {
  const { order, make, maxTries = usualTries } = create;
  const earlier = order === 'findFirst' ? await respondToRepeat(create) : undefined;
  if (earlier) return earlier;
  for (let attempt = 0; attempt < maxTries; attempt++) {
    const made = await make(attempt).catch(conflictOf);
    if (isOutcome(made) && made.ok) return made;
    // Another request may have created the same object in the meantime: then this is a repeat.
    const repeated = await respondToRepeat(create);
    if (repeated) return repeated;
    if (isOutcome(made)) return made;
  }
  throw new Error(`An object was neither created nor found by its external ID in ${maxTries} tries.`);
}

/** Undefined when nothing was created under the external ID. */
async function respondToRepeat<
  Value extends { readonly id?: string },
  Repeated extends AnyOutcome | 'otherRequest',
>(
  repeatable: Repeatable<Value, Repeated>,
): Promise<Exclude<Repeated, 'otherRequest'> | ExternalIdConflict | undefined> {
  const { externalId, fingerprint, find, respond, compared } = repeatable;
  const earlier = externalId === undefined ? undefined : await find(externalId);
  if (!earlier) return undefined;
  const isSame = earlier.fingerprint.equals(fingerprint);
  const response = isSame ? await respond(earlier.value) : 'otherRequest';
  if (response !== 'otherRequest') return response as Exclude<Repeated, 'otherRequest'>;
  const { id } = earlier.value;
  return refuse('externalIDConflict', {
    details: defined({ externalID: externalId, id }),
    hint: conflictHint(id, compared?.(earlier.value)),
  });
}

function isOutcome<Made extends AnyOutcome | CreateConflict>(
  made: Made,
): made is Exclude<Made, CreateConflict> {
  return typeof made !== 'string';
}

function conflictOf(error: unknown): CreateConflict {
  if (isExternalIdTaken(error)) return 'externalIdTaken';
  if (isVersionConflict(error)) return 'versionConflict';
  throw error;
}

/** A hash of all parameters that distinguish a request; the order of members does not matter. It is stored permanently. */
export function requestFingerprint(parts: readonly unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts, inOrder)).digest();
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
