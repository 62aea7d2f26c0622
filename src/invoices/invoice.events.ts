// The log of an invoice, read by whoever polls it. What happened to its payments is in the same log, so the facts are
// handed out as they are stored.
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import type { LoggedEvent } from '../events/log.ts';

/** No row: no such invoice. A row without a sequence: the invoice has no event after the one asked for. */
const readInvoiceEvents = statement({
  name: 'read_invoice_events',
  parameters: { invoice_id: 'text', party_id: 'text', after: 'int8', most: 'int4' },
  row: { sequence: 'int4?', created_at: 'timestamptz?', facts: 'json?' },
  text: `select event.sequence, event.created_at, event.facts
         from invoice left join lateral (
           select sequence, created_at, facts from event
           where aggregate_id = invoice_id and sequence > :after
           order by sequence limit :most
         ) as event on true
         where invoice_id = :invoice_id and party_id = :party_id
         order by event.sequence`,
});

/** The events after a cursor, oldest first; undefined when there is no such invoice of that party. */
export async function readEvents(
  db: Database,
  name: { partyId: string; invoiceId: string },
  after: number,
  most: number,
): Promise<LoggedEvent<unknown>[] | undefined> {
  const rows = await db.run(readInvoiceEvents, {
    invoice_id: name.invoiceId,
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
