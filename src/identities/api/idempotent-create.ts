// A create that a merchant gave a name to (externalID) makes one thing, however often and however simultaneously it comes.
// A repeat with the same parameters gets that thing as it is now, one with others a conflict; both before any rule of the
// business, and a refused request leaves the name free.
import { createHash } from 'node:crypto';
import { accept, refuse, type Outcome } from '../../refusal.ts';

export type Named<Value> = { readonly value: Value; readonly fingerprint: Buffer };

export type IdempotentCreate<Value, Code extends string> = {
  readonly externalId: string | undefined;
  readonly fingerprint: Buffer;
  readonly find: (externalId: string) => Promise<Named<Value & { readonly id: string }> | undefined>;
  /** `nameTaken` when somebody else was quicker. */
  readonly make: () => Promise<Outcome<Value, Code> | 'nameTaken'>;
};

export async function createIdempotently<Value, Code extends string>(
  create: IdempotentCreate<Value, Code>,
): Promise<Outcome<Value, Code | 'externalIDConflict'>> {
  const { externalId } = create;
  const earlier = externalId === undefined ? undefined : await create.find(externalId);
  if (earlier) return answerToRepeat(create, earlier);
  const made = await create.make();
  if (made !== 'nameTaken' && (made.ok || externalId === undefined)) return made;
  // Somebody else may have made it meanwhile, and used up what it takes: then this is a repeat, whatever stood in its way.
  const quicker = externalId === undefined ? undefined : await create.find(externalId);
  if (quicker) return answerToRepeat(create, quicker);
  if (made === 'nameTaken') throw new Error('something was neither made nor found by its externalID');
  return made;
}

function answerToRepeat<Value, Code extends string>(
  { externalId, fingerprint }: IdempotentCreate<Value, Code>,
  earlier: Named<Value & { readonly id: string }>,
): Outcome<Value, 'externalIDConflict'> {
  if (earlier.fingerprint.equals(fingerprint)) return accept(earlier.value);
  return refuse('externalIDConflict', { details: { externalID: externalId ?? '', id: earlier.value.id } });
}

/** Of all parameters of a request; the order of members means nothing. */
export function fingerprintOf(parameters: readonly unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parameters, inOrder)).digest();
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
