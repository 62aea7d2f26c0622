// POST /v2/processing/customers: a payer the shop wants to charge later, without him.
import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { isStopped } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { decideCreate, newCustomer, type Customer } from '../domain/customer.ts';
import { findCustomerNamed, storeNewCustomer } from '../store/customers.ts';
import { CustomerAndToken, customerBody, customerExample, CustomerParams } from './schema.ts';
import { defined } from '../../defined.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly tokens: AccessTokens;
};

export const createCustomer = endpoint({
  operation: 'createCustomer',
  access: { scope: 'customers:write' },
  method: 'POST',
  path: '/v2/processing/customers',
  tag: 'Customers',
  summary: 'Create a customer',
  description:
    'A customer is a payer who has agreed to be charged without being there. He is `unready` until a card is bound to ' +
    'him. The answer carries an access token for him, good for three days, which may be given to a browser: it binds cards.',
  body: CustomerParams,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  bodyExample: customerExample,
  status: 201,
  response: CustomerAndToken,
  errors: [
    'invalidPartyID',
    'invalidShopID',
    'invalidPartyStatus',
    'invalidShopStatus',
    'externalIDConflict',
  ],
  handle: async ({ caller, body, now }, deps: Deps) => {
    const { db, merchants } = deps;
    const party = await merchants.party(caller.partyId);
    if (!party) return refuse('invalidPartyID');
    const shop = await merchants.shop(party.id, body.shopID);
    const fingerprint = fingerprintOf(body);
    const command = {
      id: deps.ids.next(),
      shopId: body.shopID,
      contactInfo: body.contactInfo,
      metadata: body.metadata ?? {},
      ...defined({ partyId: body.partyID, externalId: body.externalID }),
    };
    const decision = decideCreate(party, shop, command, now);
    if (decision.ok && (await storeNewCustomer(db, decision.value, fingerprint))) {
      return accept(bodyOf(newCustomer(decision.value), deps));
    }
    // Only whether they may trade at all comes before the answer to a repeated request: what it asked for was done.
    const repeated = await answerToRepeat(body, fingerprint, party.id, deps);
    if (repeated && !(repeated.ok && isStopped(decision))) return repeated;
    if (!decision.ok) return decision;
    throw new Error('a customer was neither made nor found by his externalID');
  },
});

async function answerToRepeat(
  body: CustomerParams,
  fingerprint: Buffer,
  partyId: string,
  deps: Deps,
): Promise<Outcome<Static<typeof CustomerAndToken>, 'externalIDConflict'> | undefined> {
  if (body.externalID === undefined) return undefined;
  const earlier = await findCustomerNamed(deps.db, partyId, body.externalID);
  if (!earlier) return undefined;
  const { customer } = earlier;
  // The name of a customer who was deleted is not free again, and he does not come back under it.
  if (earlier.fingerprint.equals(fingerprint) && customer.state.name !== 'deleted') {
    return accept(bodyOf(customer, deps));
  }
  const details = { externalID: body.externalID, id: customer.id };
  return refuse('externalIDConflict', { details });
}

function bodyOf(customer: Customer, { tokens }: { tokens: AccessTokens }): Static<typeof CustomerAndToken> {
  const payload = tokens.issue({ kind: 'customer', entityId: customer.id, partyId: customer.partyId });
  return { customer: customerBody(customer), customerAccessToken: { payload } };
}

/** What makes two requests the same request. The order of the members of contactInfo says nothing. */
function fingerprintOf({ shopID, contactInfo }: CustomerParams): Buffer {
  const contact = Object.entries(contactInfo).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([shopID, contact]))
    .digest();
}
