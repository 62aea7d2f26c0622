// POST /v2/processing/customers creates a customer, which the shop can charge later without the payer present.
import type { Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import { accept, refuse } from '../../refusal.ts';
import { decideCreate, newCustomer, type Customer } from '../domain/customer.ts';
import { findCustomerByExternalId, storeNewCustomer } from '../store/customers.ts';
import { CustomerAndToken, customerBody, customerExample, CustomerParams } from './schema.ts';
import { defined } from '../../defined.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';

type Deps = { db: Database; ids: Ids; merchants: Merchants; tokens: AccessTokens };

export const createCustomer = endpoint({
  operation: 'createCustomer',
  access: { scope: 'customers:write' },
  method: 'POST',
  path: '/v2/processing/customers',
  tag: 'Customers',
  summary: 'Create a customer',
  description:
    'A payer you can charge without the payer present, once a card is bound. Give the access token, valid for three days, ' +
    'to a browser to bind one.',
  body: CustomerParams,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  bodyExample: customerExample,
  status: 201,
  response: CustomerAndToken,
  errors: ['invalidPartyID', ...tradingRefusals, 'externalIDConflict'],
  handle: async ({ caller, body, sentBody, now }, deps: Deps) => {
    const { db, merchants } = deps;
    const party = await merchants.party(caller.partyId);
    if (!party) return refuse('invalidPartyID');
    const shop = await merchants.shop(party.id, body.shopID);
    const fingerprint = fingerprintOf(sentBody);
    const command = {
      id: deps.ids.next(),
      shopId: body.shopID,
      contactInfo: body.contactInfo,
      metadata: body.metadata ?? {},
      ...defined({ partyId: body.partyID, externalId: body.externalID }),
    };
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'makeFirst',
      find: (externalId) => findCustomerByExternalId(db, party.id, externalId),
      respond: async (customer) => {
        // A deleted customer keeps its external ID and does not come back under it.
        if (customer.state.name === 'deleted') return 'otherRequest';
        const trading = await merchants.trading(customer);
        return trading.ok ? accept(bodyOf(customer, deps)) : trading;
      },
      compared: (customer) => ({
        sent: { shopID: body.shopID, contactInfo: body.contactInfo },
        kept: customerBody(customer),
        ...(customer.state.name === 'deleted' ? { status: 'deleted' } : {}),
      }),
      make: async () => {
        const decision = decideCreate(party, shop, command, now);
        if (!decision.ok) return decision;
        const isStored = await storeNewCustomer(db, decision.value, fingerprint);
        return isStored ? accept(bodyOf(newCustomer(decision.value), deps)) : 'externalIdTaken';
      },
    });
  },
});

function bodyOf(customer: Customer, { tokens }: { tokens: AccessTokens }): Static<typeof CustomerAndToken> {
  const payload = tokens.issue({ kind: 'customer', entityId: customer.id, partyId: customer.partyId });
  return { customer: customerBody(customer), customerAccessToken: { payload } };
}

/**
 * Two requests are the same if shop and contactInfo are the same, in whatever order its members are. Undeclared members of contactInfo
 * count, because they do in the fingerprints stored before.
 */
function fingerprintOf(sentBody: unknown): Buffer {
  const { shopID, contactInfo } = sentBody as CustomerParams;
  const contact = Object.entries(contactInfo).sort(([one], [other]) => (one < other ? -1 : 1));
  return requestFingerprint([shopID, contact]);
}
