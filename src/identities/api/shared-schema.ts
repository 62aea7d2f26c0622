// Small schemas that identities, wallets and payouts share.
import { Type, type Static } from 'typebox';
import { CurrencyCode } from '../../platform/http/schemas.ts';
import { PageQuery } from '../../platform/lists/pages.ts';
import type { Money } from '../../money.ts';
import { senderLengths } from '../domain/sender.ts';
import { defined } from '../../defined.ts';

/** An ID in a path or a body. */
export const AnyID = Type.String({ minLength: 1, maxLength: 40 });

/** Longer than in the payments API. */
export const PayoutExternalID = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Your own ID for the object. Repeating the request with the same ID creates nothing new.',
});
export const EntityName = Type.String({
  pattern: '^[^\\x00-\\x1f\\x7f]{1,100}$',
  description: 'For people: 1 to 100 characters.',
});
export const FreeMetadata = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'Your own data, stored and returned. Fractions are doubles. At most 16 KiB as JSON.',
  },
);

const field = (most: number, description?: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 2 * most, ...defined({ description }) }));
const CountryCode = Type.Optional(
  Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 3166-1 alpha-3, such as `RUS`.' }),
);
/** A Cyrillic character may need several Latin ones, so the lengths are checked after transliteration. */
export const SenderParams = Type.Object(
  {
    name: field(senderLengths.name, 'Of a company. At most 30 Latin characters.'),
    firstName: field(senderLengths.firstName, 'Of a person, with `lastName`. At most 30 Latin characters.'),
    lastName: field(senderLengths.lastName),
    address: field(senderLengths.address, 'Street and house. At most 35 Latin characters.'),
    city: field(senderLengths.city, 'At most 25 Latin characters.'),
    country: CountryCode,
    birthDate: Type.Optional(Type.String({ format: 'date' })),
    nationality: CountryCode,
    occupation: field(senderLengths.occupation),
    account: field(senderLengths.account, 'The account that the money comes from.'),
  },
  {
    title: 'PayoutSender',
    description:
      'Who pays out, for banks and card networks that ask. It is sent in Latin characters, and is in no event and no webhook.',
  },
);

export const Asset = Type.Object(
  { amount: Type.Integer({ description: 'In minor units.' }), currency: CurrencyCode },
  { title: 'Asset' },
);
export const AssetParams = Type.Object(
  {
    amount: Type.Integer({ minimum: 0, description: 'At least 1, in minor units: kopecks, cents.' }),
    currency: CurrencyCode,
  },
  { title: 'AssetParams' },
);

const maxMetadataBytes = 16 * 1_024;

/** Checks what a schema cannot express. */
export function shapeProblem(body: { name?: string; metadata?: unknown }): string | undefined {
  if (body.name !== undefined && body.name.trim() === '') return 'name: must not be blank';
  const isTooLong = Buffer.byteLength(JSON.stringify(body.metadata ?? {})) > maxMetadataBytes;
  return isTooLong ? `metadata: must be at most ${maxMetadataBytes} bytes as JSON` : undefined;
}

export function assetBody({ minor, currency }: Money): Static<typeof Asset> {
  return { amount: Number(minor), currency };
}

/** The metadata and the external ID, if the merchant sent them. */
export function givenBody({ metadata, externalId }: { metadata?: unknown; externalId?: string }): {
  metadata?: object;
  externalID?: string;
} {
  return {
    ...(metadata === undefined ? {} : { metadata: metadata as object }),
    ...defined({ externalID: externalId }),
  };
}

export function givenIn(body: { metadata?: unknown; externalID?: string }): {
  metadata?: unknown;
  externalId?: string;
} {
  return defined({ metadata: body.metadata, externalId: body.externalID });
}

/** The parameters of the lists of wallets and destinations. */
export const HoldingsQuery = Type.Object({
  ...PageQuery,
  identityID: Type.Optional(AnyID),
  currencyID: Type.Optional(CurrencyCode),
});
