// Reads the log of one aggregate for polling clients. What is inside an aggregate (the payments of an invoice, the bindings of a
// customer) writes into the same log.
import type { Instant } from '../../clock.ts';
import { listOfKnown, type VariantsCodec } from '../database/codec.ts';
import type { Database } from '../database/database.ts';
import { statement, stored } from '../database/statement.ts';
import type { LoggedEvent } from './domain/topic.ts';
import { maxEvents } from './log.ts';

type Name = { readonly partyId: string; readonly id: string };
/** The events after a cursor, oldest first; undefined if the party has no such aggregate. */
type ReadLog<Fact> = (
  db: Database,
  name: Name,
  page: { readonly after: number; readonly limit: number },
) => Promise<LoggedEvent<Fact>[] | undefined>;

/** For the aggregates in this table, as far as the condition `visible` allows. */
export function logReader<Fact>(table: string, fact: VariantsCodec<Fact>, visible = 'true'): ReadLog<Fact> {
  /** No row means no such aggregate. A row without a sequence means no event after the cursor. */
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
 * One page of the events that `show` makes visible; undefined if the log does not exist. Internal events take IDs without being
 * shown, so it reads on until the page is full or nothing is left.
 */
export async function readVisible<Fact, Body extends { readonly changes: readonly unknown[] }>(
  read: (page: { after: number; limit: number }) => ReturnType<ReadLog<Fact>>,
  query: {
    readonly eventID?: number;
    readonly limit: number;
    /** `show` needs the events before the page too. */
    readonly from?: 'start';
  },
  show: (event: LoggedEvent<Fact>) => Body,
): Promise<Body[] | undefined> {
  const limit = Math.min(query.limit, maxEvents);
  const atOnce = query.from === 'start' ? maxEvents : limit;
  const visible: Body[] = [];
  for (let after = query.eventID ?? 0; ;) {
    const events = await read({ after, limit: atOnce });
    if (!events) return undefined;
    visible.push(...events.map(show).filter(({ changes }) => changes.length > 0));
    const last = events.at(-1);
    if (!last || events.length < atOnce || visible.length >= limit) return visible.slice(0, limit);
    after = last.sequence;
  }
}

/** A fact, with the time and the number of its event. */
export type NumberedFact<Fact> = {
  readonly at: Instant;
  readonly sequence: number;
  readonly fact: Fact;
};

/** The facts of a whole log that are asked for, oldest first. */
export async function readFacts<Fact, Asked extends Fact>(
  read: (page: { after: number; limit: number }) => ReturnType<ReadLog<Fact>>,
  isAsked: (fact: Fact) => fact is Asked,
): Promise<NumberedFact<Asked>[]> {
  const facts: NumberedFact<Asked>[] = [];
  for (let after = 0; ;) {
    const events = (await read({ after, limit: maxEvents })) ?? [];
    for (const { createdAt: at, sequence, facts: written } of events)
      facts.push(...written.filter(isAsked).map((fact) => ({ at, sequence, fact })));
    const last = events.at(-1);
    if (!last || events.length < maxEvents) return facts;
    after = last.sequence;
  }
}
