// The log of a customer, read by whoever polls it. What happened to his bindings is in the same log, so the facts are handed
// out as they are stored.
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import type { LoggedEvent } from '../events/log.ts';

/** No row: no such customer. A row without a sequence: he has no event after the one asked for. */
const readCustomerEvents = statement({
  name: 'read_customer_events',
  parameters: { customer_id: 'text', party_id: 'text', after: 'int8', most: 'int4' },
  row: { sequence: 'int4?', created_at: 'timestamptz?', facts: 'json?' },
  text: `select event.sequence, event.created_at, event.facts
         from customer left join lateral (
           select sequence, created_at, facts from event
           where aggregate_id = customer_id and sequence > :after
           order by sequence limit :most
         ) as event on true
         where customer_id = :customer_id and party_id = :party_id and status <> 'deleted'
         order by event.sequence`,
});

/** The events after a cursor, oldest first; undefined when there is no such customer of that party. */
export async function readEvents(
  db: Database,
  name: { partyId: string; customerId: string },
  after: number,
  most: number,
): Promise<LoggedEvent<unknown>[] | undefined> {
  const rows = await db.run(readCustomerEvents, {
    customer_id: name.customerId,
    party_id: name.partyId,
    after: BigInt(after),
    most,
  });
  if (rows.length === 0) return undefined;
  return rows.flatMap(({ sequence, created_at, facts }) =>
    sequence === null || created_at === null
      ? []
      : [{ sequence, createdAt: created_at, facts: facts as unknown[] }],
  );
}
