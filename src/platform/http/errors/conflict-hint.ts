// What a hint says about an external ID that another request has used: which members differ, or why a repeat does not count.
import { isDeepStrictEqual } from 'node:util';
import { parseInstant } from '../../../clock.ts';

/** What the request sends of the members that decide, and the object as it is read. */
export type Compared = {
  readonly sent: Readonly<Record<string, unknown>>;
  readonly kept: Readonly<Record<string, unknown>>;
  /** Why the same request would not get the object either. */
  readonly status?: 'deleted';
};

export function conflictHint(id: string | undefined, compared?: Compared): string {
  const owner = id === undefined ? 'another object' : `\`${id}\``;
  const why = compared?.status === undefined ? `created with ${difference(compared)}` : `${compared.status}`;
  return `The externalID belongs to ${owner}, ${why}. Send a new externalID for a new object.`;
}

function difference({ sent, kept }: Compared = { sent: {}, kept: {} }): string {
  const names = Object.keys(sent).filter(
    (name) => sent[name] !== undefined && !areSame(sent[name], kept[name]),
  );
  return names.length === 0 ? 'other content' : `another ${names.map((name) => `\`${name}\``).join(' and ')}`;
}

/** An instant can be written in several ways. */
function areSame(sent: unknown, kept: unknown): boolean {
  if (typeof sent === 'string' && typeof kept === 'string' && sent !== kept) {
    const instant = parseInstant(sent);
    return instant !== undefined && instant === parseInstant(kept);
  }
  return isDeepStrictEqual(sent, kept);
}
