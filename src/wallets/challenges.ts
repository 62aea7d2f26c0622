// Identifications of an identity: /wallet/v0/identities/{identityID}/challenges. In the sandbox the merchant identifies himself,
// any proof will do, and the identification is completed in the transaction that starts it; in live mode an operator decides
// (mandate identity).
import { Type } from 'typebox';
import { endpoint } from '../http/endpoint.ts';
import { accept, refuse } from '../refusal.ts';
import { challengeBody, ChallengeParams, ChallengeSchema } from './identities.wire.ts';
import { completed, decideChallenge, evolve, type Challenge, type IdentityFact } from './identity.ts';
import {
  endChallenge,
  findChallenges,
  findIdentity,
  storeIdentityFact,
  storeNewChallenge,
  type StoredIdentity,
} from './identity.store.ts';
import { IdentityPath } from './read-identities.ts';
import { AnyID } from './shapes.wire.ts';
import type { Database } from '../database/database.ts';
import type { Instant } from '../clock.ts';

export const startChallenge = endpoint({
  operation: 'startChallenge',
  method: 'POST',
  path: '/wallet/v0/identities/{identityID}/challenges',
  tag: 'Identities',
  summary: 'Identify the person or company behind an identity',
  description:
    '`esia` raises an anonymous identity to `partial`, `in-person` to `identified`. In the sandbox it succeeds by itself, with any ' +
    'token as the proof; in live mode an operator looks at it.',
  params: IdentityPath,
  body: ChallengeParams,
  bodyExample: { type: 'esia', proofs: [{ type: 'RUSDomesticPassport', token: 'any' }] },
  status: 202,
  answer: ChallengeSchema,
  refusals: [
    'identityNotFound',
    'challengeUnderWay',
    'noSuchChallengeType',
    'proofNotFound',
    'insufficientProof',
    'illegalChallengeType',
  ],
  handle: async ({ caller, params, body, now }, { db, ids, payouts }) => {
    const stored = await findIdentity(db, caller.partyId, params.identityID);
    if (!stored) return refuse('identityNotFound');
    const challenge: Challenge = {
      id: ids.next(),
      identityId: params.identityID,
      type: body.type,
      proofs: body.proofs,
      createdAt: now,
      status: 'pending',
    };
    const decision = decideChallenge(stored.identity, challenge);
    if (!decision.ok) return decision;
    const isStarted = await db.transaction(async (tx) => {
      if (!(await storeNewChallenge(tx, challenge))) return false;
      const started = await written(tx, stored, decision.value, now);
      if (payouts.realm !== 'test') return true;
      await endChallenge(tx, challenge, { status: 'completed' });
      await written(tx, started, completed(challenge), now);
      return true;
    });
    return isStarted ? accept(challengeBody(challenge)) : refuse('challengeUnderWay');
  },
});

/** Whoever changed the identity meanwhile has started or ended another identification. */
async function written(
  tx: Database,
  stored: StoredIdentity,
  fact: IdentityFact,
  now: Instant,
): Promise<StoredIdentity> {
  if (!(await storeIdentityFact(tx, stored, fact, now))) {
    throw new Error(`identity ${stored.identity.id} was changed by somebody else`);
  }
  return { identity: evolve(stored.identity, fact), version: stored.version + 1 };
}

export const listChallenges = endpoint({
  operation: 'listChallenges',
  method: 'GET',
  path: '/wallet/v0/identities/{identityID}/challenges',
  tag: 'Identities',
  summary: 'List the identifications of an identity, oldest first',
  params: IdentityPath,
  status: 200,
  answer: Type.Array(ChallengeSchema),
  refusals: ['identityNotFound'],
  handle: async ({ caller, params }, { db }) => {
    if (!(await findIdentity(db, caller.partyId, params.identityID))) return refuse('identityNotFound');
    return accept((await findChallenges(db, params.identityID)).map(challengeBody));
  },
});

export const getChallenge = endpoint({
  operation: 'getChallenge',
  method: 'GET',
  path: '/wallet/v0/identities/{identityID}/challenges/{challengeID}',
  tag: 'Identities',
  summary: 'Get an identification',
  params: Type.Object({ identityID: AnyID, challengeID: AnyID }),
  status: 200,
  answer: ChallengeSchema,
  refusals: ['identityNotFound', 'challengeNotFound'],
  handle: async ({ caller, params }, { db }) => {
    if (!(await findIdentity(db, caller.partyId, params.identityID))) return refuse('identityNotFound');
    const [found] = await findChallenges(db, params.identityID, { id: params.challengeID });
    return found ? accept(challengeBody(found)) : refuse('challengeNotFound');
  },
});
