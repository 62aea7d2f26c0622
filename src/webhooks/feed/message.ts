// A notice as it goes over the wire: its id, its number, its bytes. All but that of a test follows from what it is about.
import { createHash, randomBytes } from 'node:crypto';
import type { Instant } from '../../clock.ts';
import {
  maxWebhookEventsPerEvent,
  positionOf,
  type WebhookEvent,
  type Topic,
} from '../../platform/events/domain/topic.ts';

/** Events of an aggregate that take their numbers from one base. */
const eventsPerChunk = 64;
export const positionsPerChunk = eventsPerChunk * maxWebhookEventsPerEvent;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The id receivers know a notice by. It follows from what it is about, so that it is the same whenever it is asked for. */
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

/** A number below 2^53, unlike any other, rising within its aggregate. */
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

/** The bytes of a test: the members every notice of its topic has. */
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
 * Drawn, so that two tests in one moment, on whichever nodes, are two for a receiver who knows notices by their numbers. Those of
 * events have all been above 2^47 since January 2026.
 */
function numberOfTest(): number {
  return randomBytes(6).readUIntBE(0, 6) % 2 ** 47;
}

/** By the number it has among all, or as text by its position in its aggregate. */
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
