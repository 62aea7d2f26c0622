// Identifications of an identity. In the sandbox they are completed with any proof, in the transaction that starts them; in
// live mode an operator decides (mandate identity).
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept, refuse } from '../../refusal.ts';
import { challengeBody, ChallengeParams, ChallengeSchema } from './schema.ts';
import { completed, decideChallenge, type Identification } from '../domain/identity.ts';
import { findChallenges, findIdentity, storeIdentityFacts, storeNewChallenge } from '../store/identities.ts';
import { IdentityPath } from './read-identities.ts';
import { AnyID } from './shared-schema.ts';
import { retryOnConflict, type Database } from '../../platform/database/database.ts';
import type { Ids } from '../../ids.ts';

type Deps = { db: Database; ids: Ids; payouts: { livemode: boolean } };

export const startChallenge = endpoint({
  operation: 'startChallenge',
  access: { scope: 'identities:write' },
  method: 'POST',
  path: '/wallet/v0/identities/{identityID}/challenges',
  tag: 'Identities',
  summary: 'Identify the person or company behind an identity',
  description:
    '`esia` raises an anonymous identity to `partial`, `in-person` raises it to `identified`. In the sandbox any token is ' +
    'proof. In live mode an operator decides.',
  params: IdentityPath,
  body: ChallengeParams,
  bodyExample: { type: 'esia', proofs: [{ type: 'RUSDomesticPassport', token: 'any' }] },
  status: 202,
  response: ChallengeSchema,
  errors: [
    'identityNotFound',
    'challengeUnderWay',
    'noSuchChallengeType',
    'proofNotFound',
    'insufficientProof',
    'illegalChallengeType',
  ],
  handle: ({ caller, params, body, now }, { db, ids, payouts }: Deps) =>
    retryOnConflict(`identity ${params.identityID}`, async () => {
      const stored = await findIdentity(db, caller.partyId, params.identityID);
      if (!stored) return refuse('identityNotFound');
      const challenge: Identification = {
        id: ids.next(),
        identityId: params.identityID,
        type: body.type,
        proofs: body.proofs,
        createdAt: now,
        status: 'pending',
      };
      const decision = decideChallenge(stored.identity, challenge);
      if (!decision.ok) return decision;
      // Read after the identity: starting another identification changes the identity, and then the write below conflicts.
      const underWay = await findChallenges(db, params.identityID, { status: 'pending' });
      if (underWay.length > 0) return refuse('challengeUnderWay');
      const isCompleted = !payouts.livemode;
      const facts = isCompleted ? [decision.value, completed(challenge)] : [decision.value];
      const isStarted = await db.transaction(async (tx) => {
        if (!(await storeIdentityFacts(tx, stored, facts, now))) return false;
        await storeNewChallenge(tx, isCompleted ? { ...challenge, status: 'completed' } : challenge);
        return true;
      });
      return isStarted ? accept(challengeBody(challenge)) : 'versionConflict';
    }),
});

export const listChallenges = endpoint({
  operation: 'listChallenges',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/identities/{identityID}/challenges',
  tag: 'Identities',
  summary: 'List the identifications of an identity, oldest first',
  params: IdentityPath,
  status: 200,
  response: Type.Array(ChallengeSchema),
  errors: ['identityNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    if (!(await findIdentity(db, caller.partyId, params.identityID))) return refuse('identityNotFound');
    return accept((await findChallenges(db, params.identityID)).map(challengeBody));
  },
});

export const getChallenge = endpoint({
  operation: 'getChallenge',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/identities/{identityID}/challenges/{challengeID}',
  tag: 'Identities',
  summary: 'Get an identification',
  params: Type.Object({ identityID: AnyID, challengeID: AnyID }),
  status: 200,
  response: ChallengeSchema,
  errors: ['identityNotFound', 'challengeNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    if (!(await findIdentity(db, caller.partyId, params.identityID))) return refuse('identityNotFound');
    const [found] = await findChallenges(db, params.identityID, { id: params.challengeID });
    return found ? accept(challengeBody(found)) : refuse('challengeNotFound');
  },
});
