// What a module reports to merchants about its aggregates: an event of the log becomes webhook events, each with the state right
// after its fact. They follow from the log alone, so that the same log always gives the same webhook events.
import type { Instant } from '../../../clock.ts';

export type LoggedEvent<Fact> = {
  readonly sequence: number;
  readonly createdAt: Instant;
  readonly facts: readonly Fact[];
};

/** One thing a merchant is sent. An event may have several; they are sent in order. */
export type WebhookEvent = {
  readonly sequence: number;
  /** Among the webhook events of that event, from 0. */
  readonly index: number;
  /** The name it is subscribed by. */
  readonly registeredType: string;
  /** The name it bears itself; usually the same. */
  readonly eventType: string;
  readonly happenedAt: Instant;
  /** What stands beside the envelope: the objects, as they are right after the fact. */
  readonly members: Readonly<Record<string, unknown>>;
};

/** Who may subscribe to an aggregate's webhook events: a shop, or an identity, perhaps with one wallet of it. */
export type Owner = { readonly id: string; readonly part?: string };

export type Topic = {
  /** As it is subscribed. */
  readonly name:
    'InvoicesTopic' | 'CustomersTopic' | 'RecurringTopic' | 'WithdrawalsTopic' | 'DestinationsTopic';
  /** As it stands in what is sent. */
  readonly payloadTopic: string;
  /** What the log calls the aggregate. */
  readonly aggregate: string;
  readonly eventTypes: readonly string[];
  /** A number of its own for each webhook event; or as text the sequence of its event, or its position in the aggregate. */
  readonly eventId: 'number' | 'sequence' | 'position';
  /** The names the webhook events of an event are subscribed by, in order, from its facts alone. */
  readonly typesOf: (facts: readonly unknown[]) => readonly string[];
  /** From the facts of the first event. */
  readonly ownersOf: (firstFacts: readonly unknown[]) => readonly Owner[];
  /** All webhook events of a log that is given from its beginning, in order. */
  readonly webhookEventsOf: (log: readonly LoggedEvent<unknown>[]) => readonly WebhookEvent[];
};

export const maxWebhookEventsPerEvent = 8;

/** Orders the webhook events of one aggregate. */
export function positionOf({ sequence, index }: { sequence: number; index: number }): number {
  if (index >= maxWebhookEventsPerEvent)
    throw new Error(`an event has more than ${maxWebhookEventsPerEvent} webhook events`);
  return sequence * maxWebhookEventsPerEvent + index;
}

export function eventAt(position: number): { sequence: number; index: number } {
  return {
    sequence: Math.floor(position / maxWebhookEventsPerEvent),
    index: position % maxWebhookEventsPerEvent,
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
