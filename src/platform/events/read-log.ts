// The log of one aggregate, read by whoever polls it. What is inside an aggregate (the payments of an invoice, the bindings
// of a customer) writes into the same log.
import { listOfKnown, type VariantsCodec } from '../database/codec.ts';
import type { Database } from '../database/database.ts';
import { statement, stored } from '../database/statement.ts';
import type { LoggedEvent } from './domain/topic.ts';
import { maxEvents } from './log.ts';

type Name = { readonly partyId: string; readonly id: string };
/** The events after a cursor, oldest first; undefined when there is nothing of that name of that party. */
type ReadLog<Fact> = (
  db: Database,
  name: Name,
  page: { readonly after: number; readonly limit: number },
) => Promise<LoggedEvent<Fact>[] | undefined>;

/** Of the aggregates that are rows of this table, as far as `visible` says of the row. */
export function logReader<Fact>(table: string, fact: VariantsCodec<Fact>, visible = 'true'): ReadLog<Fact> {
  /** No row: no such aggregate. A row without a sequence: it has no event after the one asked for. */
  const readEvents = statement({
    name: `read_${table}_events`,
    parameters: { id: 'text', party_id: 'text', after: 'int8', limit: 'int4' },
    row: { sequence: 'int4?', created_at: 'timestamptz?', facts: stored('json?', listOfKnown(fact)) },
    text: `select event.sequence, event.created_at, event.facts
           from ${table} left join lateral (
             select sequence, created_at, facts from event
             where aggregate_id = ${table}_id and sequence > :after
             order by sequence limit :limit
           ) as event on true
           where ${table}_id = :id and party_id = :party_id and ${visible}
           order by event.sequence`,
  });
  return async (db, { id, partyId }, { after, limit }) => {
    const rows = await db.run(readEvents, { id, party_id: partyId, after: BigInt(after), limit });
    if (rows.length === 0) return undefined;
    return rows.flatMap(({ sequence, created_at, facts }) =>
      sequence === null || created_at === null || facts === null
        ? []
        : [{ sequence, createdAt: created_at, facts }],
    );
  };
}

/**
 * One page of a log as `show` makes its events visible; undefined where there is no such log. Internal steps take ids
 * without being seen, so it reads on until the page is full or nothing is left.
 */
export async function readVisible<Fact, Body extends { readonly changes: readonly unknown[] }>(
  read: (page: { after: number; limit: number }) => ReturnType<ReadLog<Fact>>,
  query: { readonly eventID?: number; readonly limit: number },
  show: (event: LoggedEvent<Fact>) => Body,
): Promise<Body[] | undefined> {
  const limit = Math.min(query.limit, maxEvents);
  const visible: Body[] = [];
  for (let after = query.eventID ?? 0; ;) {
    const events = await read({ after, limit });
    if (!events) return undefined;
    visible.push(...events.map(show).filter(({ changes }) => changes.length > 0));
    const last = events.at(-1);
    if (!last || events.length < limit || visible.length >= limit) return visible.slice(0, limit);
    after = last.sequence;
  }
}
