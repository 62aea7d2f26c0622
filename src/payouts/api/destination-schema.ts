// Schemas of destinations. A request has the token of a stored card; a response has only what may be shown of the card.
import { Type, type Static } from 'typebox';
import { passesLuhn } from '../../cards/domain/card.ts';
import { CurrencyCode, DateTime } from '../../platform/http/schemas.ts';
import { publicStatus, type Destination } from '../domain/destination.ts';
import { Failure } from '../../wallets/api/failure-schema.ts';
import { nestedFailure } from '../../wallets/domain/failure-path.ts';
import {
  AnyID,
  EntityName,
  FreeMetadata,
  givenBody,
  PayoutExternalID,
  shapeProblem,
} from '../../identities/api/shared-schema.ts';

const resourceType = 'BankCardDestinationResource';

export const DestinationPath = Type.Object({ destinationID: AnyID });

export const DestinationParams = Type.Object(
  {
    name: EntityName,
    identity: AnyID,
    currency: CurrencyCode,
    resource: Type.Object(
      {
        type: Type.Enum([resourceType]),
        token: Type.String({
          minLength: 1,
          maxLength: 1_000,
          description: 'From `POST /payres/v0/bank-cards`.',
        }),
      },
      { title: 'DestinationResource' },
    ),
    metadata: Type.Optional(FreeMetadata),
    externalID: Type.Optional(PayoutExternalID),
  },
  { title: 'Destination' },
);
export type DestinationParams = Static<typeof DestinationParams>;

export const DestinationSchema = Type.Object(
  {
    id: AnyID,
    name: Type.String(),
    identity: AnyID,
    currency: CurrencyCode,
    resource: Type.Object(
      {
        type: Type.Enum([resourceType]),
        token: Type.String({
          description: 'Identifies the card of this destination. It cannot create another one.',
        }),
        bin: Type.String(),
        lastDigits: Type.String(),
        paymentSystem: Type.String(),
      },
      { title: 'DestinationResourceState' },
    ),
    status: Type.Enum(['Unauthorized', 'Authorized']),
    failure: Type.Optional(Failure),
    isBlocked: Type.Boolean({
      description:
        'Its identity is blocked, its party blocked or suspended, or two payouts to it were returned.',
    }),
    createdAt: DateTime,
    metadata: Type.Optional(FreeMetadata),
    externalID: Type.Optional(Type.String()),
  },
  { title: 'DestinationState' },
);

/** The caller's own ID is looked at as in any other request. */
export function destinationProblem({ externalID: _, ...body }: DestinationParams): string | undefined {
  if (stringsIn(body).some(holdsCardNumber)) return 'must not contain a card number';
  return shapeProblem(body);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...stringsIn(member)]);
}

/** A run of 12 to 19 digits that passes the Luhn check. */
function holdsCardNumber(text: string): boolean {
  return [...text.matchAll(/\d+/g)].some(([run]) => run.length >= 12 && run.length <= 19 && passesLuhn(run));
}

export function destinationBody(destination: Destination): Static<typeof DestinationSchema> {
  const { id, name, identityId, currency, card, state, isBlocked, createdAt } = destination;
  const { bin, lastDigits, paymentSystem } = card;
  return {
    id,
    name,
    identity: identityId,
    currency,
    resource: { type: resourceType, token: `d1.${id}`, bin, lastDigits, paymentSystem },
    status: publicStatus[state.status],
    ...(state.status === 'refused' ? { failure: nestedFailure(state.failure) } : {}),
    isBlocked,
    createdAt,
    ...givenBody(destination),
  };
}
