// The reads of destinations: by id, by the merchant's own name, and the list.
import { Type } from 'typebox';
import { endpoint } from '../http/endpoint.ts';
import { CurrencyCode } from '../http/schemas.ts';
import { accept, refuse } from '../refusal.ts';
import {
  findDestination as readOne,
  findDestinationNamed,
  listDestinations as readList,
} from './destination.store.ts';
import { destinationBody, DestinationPath, DestinationSchema } from './destinations.wire.ts';
import { ContinuationToken, Limit, pageBody, pageOf } from './page.ts';
import { AnyID, Named } from './shapes.wire.ts';

export const getDestination = endpoint({
  operation: 'getDestination',
  method: 'GET',
  path: '/wallet/v0/destinations/{destinationID}',
  tag: 'Destinations',
  summary: 'Get a destination',
  params: DestinationPath,
  status: 200,
  answer: DestinationSchema,
  refusals: ['destinationNotFound'],
  handle: async ({ caller, params }, { db }) => {
    const stored = await readOne(db, caller.partyId, params.destinationID);
    return stored ? accept(destinationBody(stored.destination)) : refuse('destinationNotFound');
  },
});

export const findDestination = endpoint({
  operation: 'findDestination',
  method: 'GET',
  path: '/wallet/v0/external-ids/destinations/{externalID}',
  tag: 'Destinations',
  summary: 'Find a destination by its externalID',
  params: Type.Object({ externalID: Named }),
  status: 200,
  answer: DestinationSchema,
  refusals: ['destinationNotFound'],
  handle: async ({ caller, params }, { db }) => {
    const found = await findDestinationNamed(db, caller.partyId, params.externalID);
    return found ? accept(destinationBody(found.value)) : refuse('destinationNotFound');
  },
});

export const listDestinations = endpoint({
  operation: 'listDestinations',
  method: 'GET',
  path: '/wallet/v0/destinations',
  tag: 'Destinations',
  summary: 'List your destinations, newest first',
  query: Type.Object({
    limit: Limit,
    continuationToken: Type.Optional(ContinuationToken),
    identityID: Type.Optional(AnyID),
    currencyID: Type.Optional(CurrencyCode),
  }),
  status: 200,
  answer: Type.Object(
    { result: Type.Array(DestinationSchema), continuationToken: Type.Optional(Type.String()) },
    { title: 'DestinationPage' },
  ),
  refusals: ['invalidContinuationToken'],
  handle: async ({ caller, query }, { db }) => {
    const page = pageOf(query);
    if (!page.ok) return page;
    const filter = {
      partyId: caller.partyId,
      ...(query.identityID === undefined ? {} : { identityId: query.identityID }),
      ...(query.currencyID === undefined ? {} : { currency: query.currencyID }),
    };
    return accept(pageBody(query, await readList(db, filter, page.value), destinationBody));
  },
});
