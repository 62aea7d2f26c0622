// The log: what happened to each aggregate, in order, without gaps, never changed. A row is one atomic group of facts, whose sequence is
// the aggregate's version after it; polling endpoints and webhooks read the same rows.

import { list, type Codec } from '../database/codec.ts';
import { stored } from '../database/statement.ts';

/**
 * For the `set` of a statement that changes an aggregate, with the parameter :happened_at. The row is locked here, so its times never
 * decrease, even if another node's clock was ahead.
 */
export function changedAt(table: string): string {
  return `changed_at = greatest(${table}.changed_at, :happened_at)`;
}

/**
 * Appends one event for the row in `changed`, which needs the ID, party_id, the new version and changed_at; uses :facts. A
 * statement that stands whole calls the function `append_event` instead.
 */
export function appendEvent(
  aggregate: string,
  idColumn: string,
  { from = 'changed', facts = ':facts' }: { readonly from?: string; readonly facts?: string } = {},
): string {
  return `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
          select ${idColumn}, version, '${aggregate}', party_id, changed_at, ${facts} from ${from}`;
}

/** The same for several events, each a list of facts; the last one led to the new version. Uses :events. */
export function appendEvents(aggregate: string, idColumn: string): string {
  return `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
          select ${idColumn}, version - json_array_length(:events) + entry.ordinal::int, '${aggregate}', party_id,
            changed_at, entry.facts
          from changed, json_array_elements(:events) with ordinality as entry (facts, ordinal)`;
}

/** Parameters of a statement that creates an aggregate. */
export function createdWith<Fact>(fact: Codec<Fact>) {
  return { facts: stored('json', list(fact)) };
}

/** Parameters of a statement that changes an aggregate. */
export function changedWith<Fact>(fact: Codec<Fact>) {
  return { happened_at: 'timestamptz', ...createdWith(fact) } as const;
}

/** Parameters of a statement that appends several events. */
export function eventsOf<Fact>(fact: Codec<Fact>) {
  return { events: stored('json', list(list(fact))) };
}

/** The largest page of a polling endpoint; a larger limit is lowered to it. */
export const maxEvents = 1_000;
