// Small schemas that identities, wallets and payouts share.
import { Type, type Static } from 'typebox';
import { CurrencyCode } from '../../platform/http/schemas.ts';
import type { Money } from '../../money.ts';
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

export const Asset = Type.Object(
  { amount: Type.Integer({ description: 'In minor units.' }), currency: CurrencyCode },
  { title: 'Asset' },
);
export const AssetParams = Type.Object(
  {
    amount: Type.Integer({ minimum: 0, description: 'In minor units: kopecks, cents.' }),
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
