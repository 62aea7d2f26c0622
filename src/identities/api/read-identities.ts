// Reads identities: one by ID, or the list.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { identityBody, IdentitySchema } from './schema.ts';
import { findIdentity, listIdentities as readList } from '../store/identities.ts';
import { listed, OptionalPageQuery, pageSchema } from '../../platform/lists/pages.ts';
import { AnyID } from './shared-schema.ts';
import type { Database } from '../../platform/database/database.ts';

export const IdentityPath = Type.Object({ identityID: AnyID });

export const getIdentity = endpoint({
  operation: 'getIdentity',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/identities/{identityID}',
  tag: 'Identities',
  summary: 'Get an identity',
  params: IdentityPath,
  status: 200,
  response: IdentitySchema,
  errors: ['identityNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const stored = await findIdentity(db, caller.partyId, params.identityID);
    return stored ? accept(identityBody(stored.identity)) : refuse('identityNotFound');
  },
});

export const listIdentities = endpoint({
  operation: 'listIdentities',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/identities',
  tag: 'Identities',
  summary: 'List your identities, newest first',
  query: Type.Object({
    ...OptionalPageQuery,
    providerID: Type.Optional(AnyID),
    class: Type.Optional(AnyID),
    level: Type.Optional(AnyID),
  }),
  status: 200,
  response: pageSchema('IdentityPage', IdentitySchema),
  errors: ['invalidContinuationToken'],
  handle: ({ caller, query }, { db }: { db: Database }) => {
    const filter = {
      party_id: caller.partyId,
      provider: query.providerID ?? null,
      class: query.class ?? null,
      level: query.level ?? null,
    };
    return listed(query, (page) => readList(db, { ...filter, ...page }), identityBody);
  },
});
