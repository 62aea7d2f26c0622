// The logs of withdrawals and destinations, read by whoever polls them.
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import type { LoggedEvent } from '../events/log.ts';

/** No row: nothing of that name of that party. A row without a sequence: no event after the one asked for. */
const readEventsOf = (table: 'withdrawal' | 'destination') =>
  statement({
    name: `read_${table}_events`,
    parameters: { id: 'text', party_id: 'text', after: 'int8', most: 'int4' },
    row: { sequence: 'int4?', created_at: 'timestamptz?', facts: 'json?' },
    text: `select event.sequence, event.created_at, event.facts
           from ${table} left join lateral (
             select sequence, created_at, facts from event
             where aggregate_id = ${table}_id and sequence > :after
             order by sequence limit :most
           ) as event on true
           where ${table}_id = :id and party_id = :party_id
           order by event.sequence`,
  });

const statements = { withdrawal: readEventsOf('withdrawal'), destination: readEventsOf('destination') };

/** The events after a cursor, oldest first; undefined when there is nothing of that name of that party. */
export async function readEvents(
  db: Database,
  of: 'withdrawal' | 'destination',
  name: { partyId: string; id: string },
  page: { after: number; most: number },
): Promise<LoggedEvent<unknown>[] | undefined> {
  const rows = await db.run(statements[of], {
    id: name.id,
    party_id: name.partyId,
    after: BigInt(page.after),
    most: page.most,
  });
  if (rows.length === 0) return undefined;
  return rows.flatMap(({ sequence, created_at, facts }) =>
    sequence === null || created_at === null
      ? []
      : [{ sequence, createdAt: created_at, facts: facts as unknown[] }],
  );
}
