// POST /wallet/v0/destinations makes a stored card a destination. The response is `Unauthorized`; the bank checks the card
// afterwards.
import type { PaymentResource } from '../../cards/domain/payment-resource.ts';
import { initialClaim, type JobRunner } from '../../platform/jobs/job-runner.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import type { DestinationTerms } from '../domain/destination.ts';
import { findDestinationByExternalId, storeNewDestination } from '../store/destinations.ts';
import {
  destinationBody,
  DestinationParams,
  destinationProblem,
  DestinationSchema,
} from './destination-schema.ts';
import { findIdentity } from '../../identities/store/identities.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { givenIn } from '../../identities/api/shared-schema.ts';
import { requireOwner } from '../../wallets/domain/wallet.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Ids } from '../../ids.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Cards } from '../../cards/vault.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly cards: Cards;
  readonly jobs: Pick<JobRunner<{ destination: never }>, 'run'>;
};

export const createDestination = endpoint({
  operation: 'createDestination',
  access: { scope: 'payouts:write' },
  method: 'POST',
  path: '/wallet/v0/destinations',
  tag: 'Destinations',
  summary: 'Create a destination',
  description:
    'A card that payouts go to. The bank is asked about it: poll the destination or its events until it is `Authorized`, or ' +
    'has a `failure` that says why not.',
  body: DestinationParams,
  validateBody: destinationProblem,
  bodyExample: {
    name: 'My card',
    identity: 'the ID of your identity',
    currency: 'RUB',
    resource: { type: 'BankCardDestinationResource', token: 'the token of a stored card' },
  },
  status: 201,
  response: DestinationSchema,
  location: ({ id }) => `/wallet/v0/destinations/${id}`,
  errors: [
    'invalidResourceToken',
    'partyInaccessible',
    'noSuchIdentity',
    'currencyNotSupported',
    'identityInaccessible',
    'externalIDConflict',
  ],
  handle: async ({ caller, body, now }, deps: Deps) => {
    const { db, merchants, cards, jobs, ids } = deps;
    const { token, type } = body.resource;
    const invalidToken = () => refuse('invalidResourceToken', { details: { name: type } });
    const card = await cards.findForPayout(db, caller.partyId, token);
    if (!card) return invalidToken();
    const fingerprint = fingerprintOf(body, card);
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'findFirst',
      find: (externalId) => findDestinationByExternalId(db, caller.partyId, externalId),
      respond: (destination) => accept(destinationBody(destination)),
      make: async () => {
        // Checked only for a new destination: a repeat also succeeds after the token has expired.
        if (now >= card.validUntil) return invalidToken();
        const party = await merchants.party(caller.partyId);
        const owner = await findIdentity(db, caller.partyId, body.identity);
        if (!party) return refuse('partyInaccessible');
        const decision = requireOwner(party, owner?.identity, body.currency);
        if (!decision.ok) return decision;
        const of = decision.value;
        const cardHash = await cards.numberHash(db, caller.partyId, token);
        if (!cardHash) return invalidToken();
        const terms: DestinationTerms = {
          id: ids.next(),
          partyId: party.id,
          identityId: of.identity.id,
          name: body.name.trim(),
          currency: of.currency,
          createdAt: now,
          cardToken: token,
          cardHash,
          card: card.card,
          ...givenIn(body),
        };
        const outcome = await db.transaction(async (tx) => {
          if (!(await cards.keep(tx, caller.partyId, token, ['destination', terms.id]))) return 'expired';
          const created = { type: 'destination_created', terms } as const;
          return storeNewDestination(tx, created, fingerprint, initialClaim(now));
        });
        if (outcome === 'expired') return invalidToken();
        if (!outcome) return 'externalIdTaken';
        db.afterCommit(() => jobs.run('destination', [terms.id], now));
        const { provider } = of.identity;
        const state = { status: 'checking' } as const;
        return accept(destinationBody({ ...terms, state, isBlocked: false, provider }));
      },
    });
  },
});

/** Another token of the same card makes the same request. */
function fingerprintOf(body: DestinationParams, card: PaymentResource): Buffer {
  const { name, identity, currency, metadata, externalID, resource } = body;
  const cardIdentity = card.cardMatchHash.toString('hex');
  return requestFingerprint([name, identity, currency, resource.type, cardIdentity, metadata, externalID]);
}
