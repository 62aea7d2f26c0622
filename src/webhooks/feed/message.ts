// The ID, number and bytes of a webhook event. All but those of a test follow from the event log.
import { createHash, randomBytes } from 'node:crypto';
import type { Instant } from '../../clock.ts';
import {
  maxWebhookEventsPerEvent,
  positionOf,
  type WebhookEvent,
  type Topic,
} from '../../platform/events/domain/topic.ts';

/** How many events of an aggregate take their numbers from one base. */
const eventsPerChunk = 64;
export const positionsPerChunk = eventsPerChunk * maxWebhookEventsPerEvent;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The `webhook-id`. It follows from aggregate and position, so that it is always the same. */
export function messageIdOf(aggregateId: string, position: number): string {
  const hash = createHash('sha256').update(`${aggregateId} ${position}`).digest();
  let number = BigInt(`0x${hash.subarray(0, 18).toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < 24; digit++) {
    text += alphabet[Number(number % 62n)];
    number /= 62n;
  }
  return `evt_${text}`;
}

export function chunkOf(sequence: number): number {
  return Math.floor(sequence / eventsPerChunk);
}

/** A unique number below 2^53 that increases within its aggregate. */
function eventNumber(base: bigint, position: number): number {
  return Number(base) * positionsPerChunk + (position % positionsPerChunk);
}

export function bodyOf(topic: Topic, event: WebhookEvent, base: bigint): string {
  return JSON.stringify({
    eventID: eventIdOf(topic, event, base),
    occuredAt: event.happenedAt,
    topic: topic.payloadTopic,
    eventType: event.eventType,
    ...event.members,
  });
}

/** The bytes of a test: the members every webhook event of the topic has. */
export function testBodyOf({ eventId, payloadTopic }: Topic, occuredAt: Instant): string {
  const number = numberOfTest();
  return JSON.stringify({
    eventID: eventId === 'number' ? number : String(number),
    occuredAt,
    topic: payloadTopic,
    eventType: 'WebhookTest',
  });
}

/**
 * Random, so that a receiver that deduplicates by number sees each test. Numbers of events have been above 2^47 since
 * January 2026.
 */
function numberOfTest(): number {
  return randomBytes(6).readUIntBE(0, 6) % 2 ** 47;
}

/** A number unique among all events, or the position in the aggregate as text. */
export function eventIdOf(
  { eventId }: Pick<Topic, 'eventId'>,
  event: Pick<WebhookEvent, 'sequence' | 'index'>,
  base: bigint,
): number | string {
  switch (eventId) {
    case 'number':
      return eventNumber(base, positionOf(event));
    case 'sequence':
      return String(event.sequence);
    case 'position':
      return String(positionOf(event));
  }
}
