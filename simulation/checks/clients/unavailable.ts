// A request answered 503 has written nothing under its marks: its Idempotency-Key, whose response is stored together with the work,
// and its external ID. A refused one has left its external ID free.
import type { Problem } from '../check.ts';
import type { CheckWorld } from '../world.ts';

/** What every request that carried it so far has written nothing under. The rows that a statement returns prove nothing. */
export type Unwritten = { readonly key: string } | { readonly partyId: string; readonly externalId: string };

export type Marks = {
  /** A request with these marks is sent. Until it is answered so that it wrote nothing, it may have written. */
  sent(marks: readonly Unwritten[]): void;
  answered(marks: readonly Unwritten[], status: number): void;
  unwritten(): readonly Unwritten[];
};

export function openMarks(): Marks {
  /** By mark, the requests that may have written. */
  const doubts = new Map<string, number>();
  const add = (marks: readonly Unwritten[], by: 1 | -1) => {
    for (const mark of marks) {
      const name = JSON.stringify(mark);
      doubts.set(name, (doubts.get(name) ?? 0) + by);
    }
  };
  return {
    sent: (marks) => add(marks, 1),
    answered(marks, status) {
      if (status === 503) add(marks, -1);
      // The response to a refused request is stored under its key.
      if (status >= 400 && status < 500)
        add(
          marks.filter((mark) => 'externalId' in mark),
          -1,
        );
    },
    unwritten: () =>
      [...doubts].flatMap(([name, doubt]) => (doubt === 0 ? [JSON.parse(name) as Unwritten] : [])),
  };
}

/** PostgreSQL stores no zero character and no half of a surrogate pair, nor can it be asked about them. */
function isStorable(mark: Unwritten): boolean {
  return Object.values(mark).every((text) => text.isWellFormed() && !text.includes('\0'));
}

const readWritten = `
  select 'key ' || idempotency_key as mark, 'its response is stored' as what from idempotency_key
  where status is not null and idempotency_key in (select mark ->> 'key' from json_array_elements($1) as mark)
  union all
  select 'external ID ' || external_id, operation || ' made ' || entity_id from external_id
  where (party_id, external_id) in (select mark ->> 'partyId', mark ->> 'externalId' from json_array_elements($1) as mark)`;

export async function writtenAnyway(
  query: CheckWorld['query'],
  unwritten: readonly Unwritten[],
): Promise<Problem[]> {
  const marks = unwritten.filter(isStorable);
  if (marks.length === 0) return [];
  const rows = await query(readWritten, [JSON.stringify(marks)]);
  return rows.map(({ mark, what }) => [
    String(mark),
    `every request was refused or answered 503, and ${String(what)}`,
  ]);
}
