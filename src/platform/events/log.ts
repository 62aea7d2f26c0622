// The log: what happened to each aggregate, in order, without gaps, never changed. A row is one atomic group of facts and
// its sequence is the version of the aggregate it led to. Polling endpoints and webhooks read the same rows.

/**
 * The part of a statement that appends one event for the row in the common table expression `changed`, which must carry
 * the id, party_id and the new version. It belongs into the statement that changes the aggregate, so that no state is
 * ever written without its fact nor a fact without its state. Uses the parameters :happened_at and :facts.
 */
export function appendEvent(aggregate: string, idColumn: string): string {
  return `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
          select ${idColumn}, version, '${aggregate}', party_id, :happened_at, :facts from changed`;
}

/** The same of several events at once, each a list of facts; the last led to the new version. Uses :happened_at and :events. */
export function appendEvents(aggregate: string, idColumn: string): string {
  return `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
          select ${idColumn}, version - json_array_length(:events) + entry.place::int, '${aggregate}', party_id,
            :happened_at, entry.facts
          from changed, json_array_elements(:events) with ordinality as entry (facts, place)`;
}
export const appendEventsParameters = { happened_at: 'timestamptz', events: 'json' } as const;

export const appendParameters = { happened_at: 'timestamptz', facts: 'json' } as const;

/** Pages of the polling endpoints; a larger limit is lowered to this. */
export const maxEvents = 1_000;
