// Schemas of identities and identifications.
import { Type, type Static } from 'typebox';
import { DateTime } from '../../platform/http/schemas.ts';
import type { Identification, Identity } from '../domain/identity.ts';
import {
  AnyID,
  EntityName,
  FreeMetadata,
  givenBody,
  PayoutExternalID,
  SenderParams,
} from './shared-schema.ts';
import { defined } from '../../defined.ts';

export const IdentityParams = Type.Object(
  {
    name: EntityName,
    provider: Type.String({ minLength: 1, maxLength: 40, description: '`test` in the sandbox.' }),
    class: Type.Optional(
      Type.String({ minLength: 1, maxLength: 40, default: 'person', description: '`person` or `company`.' }),
    ),
    partyID: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        description: 'The party of the API key. No other is accepted.',
      }),
    ),
    sender: Type.Optional(SenderParams),
    metadata: Type.Optional(FreeMetadata),
    externalID: Type.Optional(PayoutExternalID),
  },
  { title: 'Identity' },
);
export type IdentityParams = Static<typeof IdentityParams>;

export const IdentitySchema = Type.Object(
  {
    id: AnyID,
    name: Type.String(),
    provider: Type.String(),
    class: Type.String(),
    level: Type.String({ description: '`anonymous`, `partial` or `identified`.' }),
    isBlocked: Type.Boolean({ description: 'Set by the operator.' }),
    createdAt: DateTime,
    effectiveChallenge: Type.Optional(
      Type.String({ description: 'The ID of the identification that gave the identity its level.' }),
    ),
    sender: Type.Optional(SenderParams),
    metadata: Type.Optional(FreeMetadata),
    externalID: Type.Optional(Type.String()),
  },
  { title: 'IdentityState' },
);

export const identityExample = {
  name: 'Keyn Fawkes',
  provider: 'test',
  class: 'person',
} satisfies IdentityParams;

export function identityBody(identity: Identity): Static<typeof IdentitySchema> {
  const { id, name, provider, level, isBlocked, createdAt, effectiveChallenge, sender } = identity;
  return {
    id,
    name,
    provider,
    class: identity.class,
    level,
    isBlocked,
    createdAt,
    ...defined({ effectiveChallenge, sender }),
    ...givenBody(identity),
  };
}

const Proof = Type.Object(
  {
    type: Type.String({ minLength: 1, maxLength: 100 }),
    token: Type.String({ minLength: 1, maxLength: 1_000, description: 'In the sandbox, any value.' }),
  },
  { title: 'IdentityProof' },
);

export const ChallengeParams = Type.Object(
  {
    type: Type.String({ minLength: 1, maxLength: 40, description: '`esia` or `in-person`.' }),
    proofs: Type.Array(Proof, { maxItems: 20 }),
  },
  { title: 'IdentityChallenge' },
);

export const ChallengeSchema = Type.Object(
  {
    id: AnyID,
    createdAt: DateTime,
    type: Type.String(),
    proofs: Type.Array(Proof),
    status: Type.Enum(['Pending', 'Completed', 'Failed']),
    failureReason: Type.Optional(Type.String()),
  },
  { title: 'IdentityChallengeState' },
);

const statuses = { pending: 'Pending', completed: 'Completed', failed: 'Failed' } as const;

export function challengeBody(challenge: Identification): Static<typeof ChallengeSchema> {
  const { id, createdAt, type, proofs, status, failureReason } = challenge;
  return {
    id,
    createdAt,
    type,
    proofs: [...proofs],
    status: statuses[status],
    ...defined({ failureReason }),
  };
}
