// POST /wallet/v0/identities creates an identity, the first step towards a payout.
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { identityBody, identityExample, IdentityParams, IdentitySchema } from './schema.ts';
import { decideCreate, evolve } from '../domain/identity.ts';
import type { Provider } from '../domain/provider.ts';
import { findIdentityByExternalId, storeNewIdentity } from '../store/identities.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { givenIn, shapeProblem } from './shared-schema.ts';
import { senderProblem } from '../domain/sender.ts';
import { defined } from '../../defined.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Ids } from '../../ids.ts';

type Deps = { db: Database; merchants: Merchants; payouts: { providers: readonly Provider[] }; ids: Ids };

export const createIdentity = endpoint({
  operation: 'createIdentity',
  access: { scope: 'identities:write' },
  method: 'POST',
  path: '/wallet/v0/identities',
  tag: 'Identities',
  summary: 'Create an identity',
  description:
    'The person or company in whose name wallets and destinations are kept, `anonymous` at first. Its level sets how much ' +
    'can be paid out.',
  body: IdentityParams,
  validateBody: (body) => shapeProblem(body) ?? senderProblem(body.sender ?? {}),
  bodyExample: identityExample,
  status: 201,
  response: IdentitySchema,
  isOwnParty: ({ caller, body }) => body.partyID === undefined || body.partyID === caller.partyId,
  location: ({ id }) => `/wallet/v0/identities/${id}`,
  errors: ['partyInaccessible', 'noSuchProvider', 'noSuchIdentityClass', 'externalIDConflict'],
  handle: async ({ caller, body, now }, { db, merchants, payouts, ids }: Deps) => {
    const { class: ofClass = 'person' } = body;
    const fingerprint = requestFingerprint([
      body.name,
      body.provider,
      ofClass,
      body.metadata,
      body.externalID,
      // Only if given: a fingerprint from before has none.
      ...(body.sender ? [body.sender] : []),
    ]);
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findIdentityByExternalId(db, caller.partyId, externalId),
      respond: (identity) => accept(identityBody(identity)),
      make: async () => {
        const party = await merchants.party(caller.partyId);
        if (!party) return refuse('partyInaccessible');
        const terms = {
          id: ids.next(),
          name: body.name.trim(),
          provider: body.provider,
          class: ofClass,
          ...givenIn(body),
          ...defined({ sender: body.sender }),
        };
        const decision = decideCreate(party, payouts.providers, terms, now);
        if (!decision.ok) return decision;
        const isStored = await storeNewIdentity(db, decision.value, fingerprint);
        return isStored ? accept(identityBody(evolve(undefined, decision.value))) : 'externalIdTaken';
      },
    });
  },
});
