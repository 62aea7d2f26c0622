// Schemas of customers in the API.
import { Type, type Static } from 'typebox';
import { AccessToken, EntityID, ExternalID, Metadata } from '../../platform/http/schemas.ts';
import { ContactInfo } from '../../payments/api/schema.ts';
import type { CustomerState, CustomerTerms } from '../domain/customer.ts';
import { defined } from '../../defined.ts';

export const CustomerParams = Type.Object(
  {
    shopID: EntityID,
    partyID: Type.Optional(EntityID),
    externalID: Type.Optional(ExternalID),
    contactInfo: ContactInfo,
    metadata: Type.Optional(Metadata),
  },
  { title: 'CustomerParams' },
);
export type CustomerParams = Static<typeof CustomerParams>;

export const CustomerSchema = Type.Object(
  {
    id: EntityID,
    shopID: EntityID,
    externalID: Type.Optional(ExternalID),
    contactInfo: ContactInfo,
    metadata: Metadata,
    status: Type.Enum(['unready', 'ready'], {
      description: '`ready` while a card is bound, so that the customer can be charged.',
    }),
  },
  { title: 'Customer' },
);

export const CustomerAndToken = Type.Object(
  { customer: CustomerSchema, customerAccessToken: AccessToken },
  { title: 'CustomerAndToken' },
);

/** Access of reads that the payer may also make, with the customer's token. */
export const payerMayRead = {
  scope: 'customers:read',
  tokens: ['customer'],
  entity: 'customerID',
  maskedAs: 'customerNotFound',
} as const;

export const CustomerPath = Type.Object({ customerID: EntityID });

/** An example request that works unchanged in the sandbox. */
export const customerExample = {
  shopID: 'TEST',
  contactInfo: { email: 'user@example.com', phoneNumber: '88002000600' },
  metadata: {},
} satisfies CustomerParams;

export function customerBody(
  customer: CustomerTerms & { readonly state: CustomerState },
): Static<typeof CustomerSchema> {
  return {
    id: customer.id,
    shopID: customer.shopId,
    contactInfo: customer.contactInfo,
    metadata: customer.metadata,
    status: customer.state.name === 'ready' ? 'ready' : 'unready',
    ...defined({ externalID: customer.externalId }),
  };
}
