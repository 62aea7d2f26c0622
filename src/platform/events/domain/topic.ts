// How a module reports on its aggregates to merchants: log events become webhook events, each with the state right after its fact.
// They follow from the log alone, so the same log always gives the same webhook events.
import type { Instant } from '../../../clock.ts';

export type LoggedEvent<Fact> = {
  readonly sequence: number;
  readonly createdAt: Instant;
  readonly facts: readonly Fact[];
};

/** One message to a merchant. A log event may have several, which are sent in order. */
export type WebhookEvent = {
  readonly sequence: number;
  /** Its number among the webhook events of that log event, from 0. */
  readonly index: number;
  /** The type that webhooks register for. */
  readonly registeredType: string;
  /** The type in its payload, usually the same. */
  readonly eventType: string;
  readonly happenedAt: Instant;
  /** The payload without its envelope: the objects right after the fact. */
  readonly members: Readonly<Record<string, unknown>>;
};

/** What a webhook registers with: a shop, or an identity, possibly limited to one of its wallets. */
export type Owner = { readonly id: string; readonly part?: string };

export type Topic = {
  /** Its name in a registration. */
  readonly name:
    | 'InvoicesTopic'
    | 'CustomersTopic'
    | 'RecurringTopic'
    | 'WithdrawalsTopic'
    | 'DestinationsTopic';
  /** Its name in a payload. */
  readonly payloadTopic: string;
  /** The log's name for the aggregate. */
  readonly aggregate: string;
  readonly eventTypes: readonly string[];
  /** A number per webhook event; or, as text, the sequence of its log event, or its position in the aggregate. */
  readonly eventId: 'number' | 'sequence' | 'position';
  /** The registered types of an event's webhook events, in order, from its facts alone. */
  readonly typesOf: (facts: readonly unknown[]) => readonly string[];
  /** From the facts of the first event. */
  readonly ownersOf: (firstFacts: readonly unknown[]) => readonly Owner[];
  /** All webhook events of a complete log, in order. */
  readonly webhookEventsOf: (log: readonly LoggedEvent<unknown>[]) => readonly WebhookEvent[];
};

export const maxWebhookEventsPerEvent = 8;

/** Orders the webhook events of one aggregate. */
export function positionOf({ sequence, index }: { sequence: number; index: number }): number {
  if (index >= maxWebhookEventsPerEvent)
    throw new Error(`A log event has more than ${maxWebhookEventsPerEvent} webhook events.`);
  return sequence * maxWebhookEventsPerEvent + index;
}

export function eventAt(position: number): { sequence: number; index: number } {
  return {
    sequence: Math.floor(position / maxWebhookEventsPerEvent),
    index: position % maxWebhookEventsPerEvent,
  };
}

/** Leaves out members without a value: null, undefined, empty text, an empty list. */
export function filled(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** A merchant's own values are sent as they were given. The member is left out only if there are none. */
export function hasMembers(metadata: unknown): boolean {
  return typeof metadata === 'object' && metadata !== null && Object.keys(metadata).length > 0;
}
