// An identity: the person or company in whose name wallets and destinations are kept, with an identification level.
import type { Instant } from '../../clock.ts';
import type { Party } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { Sender } from './sender.ts';
import { challengeTypes, proofTypes, type Level, type Provider } from './provider.ts';

export type IdentityTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly name: string;
  readonly provider: string;
  readonly class: string;
  readonly createdAt: Instant;
  readonly metadata?: unknown;
  readonly externalId?: string;
  /** Who pays out, for card networks that ask. Personal data: it is in no event. */
  readonly sender?: Sender;
};

export type Identity = IdentityTerms & {
  readonly level: Level;
  readonly isBlocked: boolean;
  readonly effectiveChallenge?: string;
};

export type Proof = { readonly type: string; readonly token: string };
export type Identification = {
  readonly id: string;
  readonly identityId: string;
  readonly type: string;
  readonly proofs: readonly Proof[];
  readonly createdAt: Instant;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly failureReason?: string;
};

export type IdentityFact =
  | { readonly type: 'identity_created'; readonly terms: IdentityTerms }
  | { readonly type: 'challenge_started'; readonly challengeId: string; readonly challengeType: string }
  | { readonly type: 'challenge_completed'; readonly challengeId: string; readonly level: Level }
  | { readonly type: 'challenge_failed'; readonly challengeId: string; readonly reason: string }
  | { readonly type: 'identity_level_set'; readonly level: Level; readonly reason: string }
  | { readonly type: 'identity_blocked' }
  | { readonly type: 'identity_unblocked' };

export function evolve(identity: Identity | undefined, fact: IdentityFact): Identity {
  if (fact.type === 'identity_created') {
    if (identity) throw new Error(`identity ${identity.id} already exists`);
    return { ...fact.terms, level: 'anonymous', isBlocked: false };
  }
  if (!identity) throw new Error(`${fact.type} without an identity`);
  switch (fact.type) {
    case 'challenge_started':
    case 'challenge_failed':
      return identity;
    case 'challenge_completed':
      return { ...identity, level: fact.level, effectiveChallenge: fact.challengeId };
    case 'identity_level_set':
      return { ...identity, level: fact.level };
    case 'identity_blocked':
      return { ...identity, isBlocked: true };
    case 'identity_unblocked':
      return { ...identity, isBlocked: false };
  }
}

export function requireActive(party: Party): Outcome<Party, 'partyInaccessible'> {
  return party.isBlocked || party.isSuspended ? refuse('partyInaccessible') : accept(party);
}

export function decideCreate(
  party: Party,
  providers: readonly Provider[],
  terms: Omit<IdentityTerms, 'partyId' | 'createdAt'>,
  now: Instant,
): Outcome<
  IdentityFact & { type: 'identity_created' },
  'partyInaccessible' | 'noSuchProvider' | 'noSuchIdentityClass'
> {
  const provider = providers.find(({ id }) => id === terms.provider);
  if (!provider) return refuse('noSuchProvider');
  if (!provider.classes.some(({ id }) => id === terms.class)) return refuse('noSuchIdentityClass');
  const active = requireActive(party);
  if (!active.ok) return active;
  return accept({ type: 'identity_created', terms: { ...terms, partyId: party.id, createdAt: now } });
}

export function decideChallenge(
  identity: Identity,
  challenge: Pick<Identification, 'id' | 'type' | 'proofs'>,
): Outcome<
  IdentityFact & { type: 'challenge_started' },
  'noSuchChallengeType' | 'proofNotFound' | 'insufficientProof' | 'illegalChallengeType'
> {
  const type = challengeTypes[challenge.type];
  if (!type || !Object.hasOwn(challengeTypes, challenge.type)) return refuse('noSuchChallengeType');
  if (challenge.proofs.some((proof) => !proofTypes.some((known) => known === proof.type))) {
    return refuse('proofNotFound');
  }
  if (!type.needs.every((needed) => challenge.proofs.some((proof) => proof.type === needed))) {
    return refuse('insufficientProof');
  }
  if (!type.from.includes(identity.level)) return refuse('illegalChallengeType');
  return accept({ type: 'challenge_started', challengeId: challenge.id, challengeType: challenge.type });
}

export function completed(challenge: Pick<Identification, 'id' | 'type'>): IdentityFact {
  const type = challengeTypes[challenge.type];
  if (!type) throw new Error(`identification type ${challenge.type} no longer exists`);
  return { type: 'challenge_completed', challengeId: challenge.id, level: type.to };
}
