// Reads destinations: one by ID or external ID, or the list.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import {
  findDestination as readOne,
  findDestinationByExternalId,
  listDestinations as readList,
} from '../store/destinations.ts';
import { destinationBody, DestinationPath, DestinationSchema } from './destination-schema.ts';
import { HoldingsQuery, PayoutExternalID } from '../../identities/api/shared-schema.ts';
import { listed, pageSchema } from '../../platform/lists/pages.ts';
import type { Database } from '../../platform/database/database.ts';

export const getDestination = endpoint({
  operation: 'getDestination',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/destinations/{destinationID}',
  tag: 'Destinations',
  summary: 'Get a destination',
  params: DestinationPath,
  status: 200,
  response: DestinationSchema,
  errors: ['destinationNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const stored = await readOne(db, caller.partyId, params.destinationID);
    return stored ? accept(destinationBody(stored.destination)) : refuse('destinationNotFound');
  },
});

export const findDestination = endpoint({
  operation: 'findDestination',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/external-ids/destinations/{externalID}',
  tag: 'Destinations',
  summary: 'Find a destination by externalID',
  params: Type.Object({ externalID: PayoutExternalID }),
  status: 200,
  response: DestinationSchema,
  errors: ['destinationNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const found = await findDestinationByExternalId(db, caller.partyId, params.externalID);
    return found ? accept(destinationBody(found.value)) : refuse('destinationNotFound');
  },
});

export const listDestinations = endpoint({
  operation: 'listDestinations',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/destinations',
  tag: 'Destinations',
  summary: 'List your destinations, newest first',
  query: HoldingsQuery,
  status: 200,
  response: pageSchema('DestinationPage', DestinationSchema),
  errors: ['invalidContinuationToken'],
  handle: ({ caller, query }, { db }: { db: Database }) => {
    const filter = {
      party_id: caller.partyId,
      identity_id: query.identityID ?? null,
      currency: query.currencyID ?? null,
    };
    return listed(query, (page) => readList(db, { ...filter, ...page }), destinationBody);
  },
});
