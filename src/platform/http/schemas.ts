// The scalars and small shapes that the APIs of all modules share. A schema with a title becomes an OpenAPI component of that name.
import { Type } from 'typebox';
import { parseInstant, type Instant } from '../../clock.ts';
import { largestAmountMinor } from '../../money.ts';
import type { CardNumbers } from './request/card-numbers.ts';

export const EntityID = Type.String({ minLength: 1, maxLength: 40 });
/** That of a saved card has 16 hexadecimal digits of a key, which may look like the number of a card. */
export const SeriesID = { ...EntityID, 'x-cardNumbers': 'made' satisfies CardNumbers };
export const ExternalID = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'Your own ID for it. A repeat of the request with the same ID creates nothing new.',
});
/** For a query that finds the one object with this ID, which an order number may be in any way. */
export const sought = { 'x-cardNumbers': 'sought' satisfies CardNumbers };
/** `instead`: what finds it without one. */
export const externalIDToFind = (instead: string) => ({
  ...ExternalID,
  ...sought,
  description: `The one it was created with. Without an externalID, ${instead}.`,
});
export const Amount = Type.Integer({
  minimum: 1,
  maximum: Number(largestAmountMinor),
  description: 'In minor units of the currency, such as cents.',
});
export const CurrencyCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217, upper case.' });
export const DateTime = Type.String({
  format: 'date-time',
  maxLength: 64,
  description: 'RFC 3339. Responses are always in UTC.',
});
export const Metadata = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'Your own data, stored and returned unchanged, fractions as doubles. At most 4 KiB as JSON.',
  },
);
export const Reason = Type.Object({ reason: Type.String({ maxLength: 1_000 }) }, { title: 'Reason' });
export const AccessToken = Type.Object(
  { payload: Type.String({ description: 'Send it as `Authorization: Bearer <payload>`.' }) },
  { title: 'AccessToken' },
);

export const EventPage = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'A page has at most 1000 events.' }),
  eventID: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The last event ID you have. Only later events are returned.' }),
  ),
});

const maxMetadataBytes = 4_096;

/** Checks a length that a schema cannot check. */
export function metadataProblem(metadata: unknown, name = 'metadata'): string | undefined {
  if (Buffer.byteLength(JSON.stringify(metadata)) <= maxMetadataBytes) return undefined;
  return `Request parameter: ${name}, error type: wrong_length, description: must be at most ${maxMetadataBytes} bytes as JSON`;
}

/** Reads a date-time that the schema has checked. */
export function instantOf(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error('The schema accepted a date-time that cannot be read.');
  return instant;
}
