// The log: what happened to each aggregate, in order, without gaps, never changed. A row is one atomic group of facts and
// its sequence is the version of the aggregate it led to. Polling endpoints and webhooks read the same rows.

import { list, type Codec } from '../database/codec.ts';
import { stored } from '../database/statement.ts';

/**
 * In the `set` of a statement that changes an aggregate. The clock of another node may have been ahead, and an event must not be
 * earlier than the one before it. The row is locked when this is worked out, so concurrent writers cannot break it.
 * Uses :happened_at.
 */
export function changedAt(table: string): string {
  return `changed_at = greatest(${table}.changed_at, :happened_at)`;
}

/**
 * The part of a statement that appends one event for the row in the common table expression `changed`, which must carry
 * the id, party_id, the new version and changed_at. It belongs into the statement that changes the aggregate, so that no state
 * is ever written without its fact nor a fact without its state. Uses the parameter :facts.
 */
export function appendEvent(
  aggregate: string,
  idColumn: string,
  { from = 'changed', facts = ':facts' }: { readonly from?: string; readonly facts?: string } = {},
): string {
  return `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
          select ${idColumn}, version, '${aggregate}', party_id, changed_at, ${facts} from ${from}`;
}

/** The same of several events at once, each a list of facts; the last led to the new version. Uses :events. */
export function appendEvents(aggregate: string, idColumn: string): string {
  return `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
          select ${idColumn}, version - json_array_length(:events) + entry.ordinal::int, '${aggregate}', party_id,
            changed_at, entry.facts
          from changed, json_array_elements(:events) with ordinality as entry (facts, ordinal)`;
}

/** Of a statement that makes an aggregate, which has changed when it was created. */
export function createdWith<Fact>(fact: Codec<Fact>) {
  return { facts: stored('json', list(fact)) };
}

/** Of a statement that changes one. */
export function changedWith<Fact>(fact: Codec<Fact>) {
  return { happened_at: 'timestamptz', ...createdWith(fact) } as const;
}

/** Of one that appends several events. */
export function eventsOf<Fact>(fact: Codec<Fact>) {
  return { events: stored('json', list(list(fact))) };
}

/** Pages of the polling endpoints; a larger limit is lowered to this. */
export const maxEvents = 1_000;
