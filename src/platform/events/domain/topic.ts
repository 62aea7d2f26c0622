// What a room tells merchants about its aggregates, for whoever sends it: an event of the log becomes notices, each with the
// state right after the fact it is about. Everything here follows from the log alone, so the same log gives the same
// notices whenever and wherever it is asked.
import type { Instant } from '../../../clock.ts';

export type LoggedEvent<Fact> = {
  readonly sequence: number;
  readonly createdAt: Instant;
  readonly facts: readonly Fact[];
};

/** One thing a merchant is told. An event may have several; they are told in order. */
export type WebhookEvent = {
  readonly sequence: number;
  /** Among the notices of that event, from 0. */
  readonly place: number;
  /** The name it is subscribed by. */
  readonly registeredType: string;
  /** The name it bears itself; usually the same. */
  readonly eventType: string;
  readonly happenedAt: Instant;
  /** What stands beside the envelope: the objects, as they are right after the fact. */
  readonly members: Readonly<Record<string, unknown>>;
};

/** Who may subscribe to an aggregate's notices: a shop, or an identity, perhaps with one wallet of it. */
export type Owner = { readonly id: string; readonly part?: string };

export type Topic = {
  /** As it is subscribed. */
  readonly name:
    'InvoicesTopic' | 'CustomersTopic' | 'RecurringTopic' | 'WithdrawalsTopic' | 'DestinationsTopic';
  /** As it stands in the notices. */
  readonly payloadTopic: string;
  /** What the log calls the aggregate. */
  readonly aggregate: string;
  readonly eventTypes: readonly string[];
  /** A number of its own for each notice; or as text the sequence of its event, or its position in the aggregate. */
  readonly eventId: 'number' | 'sequence' | 'position';
  /** The names the notices of an event are subscribed by, in order, from its facts alone. */
  readonly typesOf: (facts: readonly unknown[]) => readonly string[];
  /** From the facts of the first event. */
  readonly ownersOf: (firstFacts: readonly unknown[]) => readonly Owner[];
  /** All notices of a log that is given from its beginning, in order. */
  readonly webhookEventsOf: (log: readonly LoggedEvent<unknown>[]) => readonly WebhookEvent[];
};

export const maxWebhookEventsPerEvent = 8;

/** Orders the notices of one aggregate. */
export function positionOf({ sequence, place }: { sequence: number; place: number }): number {
  if (place >= maxWebhookEventsPerEvent)
    throw new Error(`an event has more than ${maxWebhookEventsPerEvent} notices`);
  return sequence * maxWebhookEventsPerEvent + place;
}

export function placeOf(position: number): { sequence: number; place: number } {
  return {
    sequence: Math.floor(position / maxWebhookEventsPerEvent),
    place: position % maxWebhookEventsPerEvent,
  };
}

/** Members without a value are left out: null, nothing, empty text, an empty list. */
export function filled(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** A merchant's own values are told as they were given; only where there are none nothing is. */
export function hasMembers(metadata: unknown): boolean {
  return typeof metadata === 'object' && metadata !== null && Object.keys(metadata).length > 0;
}
