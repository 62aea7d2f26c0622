// The scalars and small shapes that every room's wire shares. A schema with a title becomes a component of that name in
// the OpenAPI document.
import { Type } from 'typebox';
import { parseInstant, type Instant } from '../../clock.ts';
import { largestAmountMinor } from '../../money.ts';

export const EntityID = Type.String({ minLength: 1, maxLength: 40 });
export const ExternalID = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'Your own name for it. The same request sent again with the same name makes nothing new.',
});
export const Amount = Type.Integer({
  minimum: 1,
  maximum: Number(largestAmountMinor),
  description: 'In minor units of the currency: kopecks, cents.',
});
export const CurrencyCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217, upper case.' });
export const DateTime = Type.String({
  format: 'date-time',
  description: 'RFC 3339. Answers are always in UTC.',
});
export const Metadata = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'Yours: kept and given back, fractions as doubles. At most 4 KiB as JSON.',
  },
);
export const Reason = Type.Object({ reason: Type.String({ maxLength: 1_000 }) }, { title: 'Reason' });
export const AccessToken = Type.Object(
  { payload: Type.String({ description: 'Send it as `Authorization: Bearer <payload>`.' }) },
  { title: 'AccessToken' },
);

export const EventPage = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'At most 1000 are given at once.' }),
  eventID: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The last id you have; only later events are given.' }),
  ),
});

const maxMetadataBytes = 4_096;

/** Lengths a schema cannot say. */
export function metadataProblem(metadata: unknown): string | undefined {
  if (Buffer.byteLength(JSON.stringify(metadata)) <= maxMetadataBytes) return undefined;
  return `Request parameter: metadata, error type: wrong_length, description: must be at most ${maxMetadataBytes} bytes as JSON`;
}

/** A date-time the schema has checked. */
export function instantOf(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error('the schema let a date-time pass that cannot be read');
  return instant;
}
