// Identities as JSON: the facts in their log, and the proofs of an identification.
import {
  anything,
  instant,
  list,
  object,
  oneOf,
  optional,
  text,
  variants,
  type Codec,
} from '../../platform/database/codec.ts';
import type { IdentityFact, IdentityTerms, Proof } from '../domain/identity.ts';
import type { Sender } from '../domain/sender.ts';
import { levels } from '../domain/provider.ts';

export const level = oneOf(...levels);
export const proofs: Codec<readonly Proof[]> = list(object<Proof>({ type: text, token: text }));

export const sender: Codec<Sender> = object({
  name: optional(text),
  firstName: optional(text),
  lastName: optional(text),
  address: optional(text),
  city: optional(text),
  country: optional(text),
  birthDate: optional(text),
  nationality: optional(text),
  occupation: optional(text),
  account: optional(text),
});

/** Without the sender: personal data is in no event. */
const terms: Codec<Omit<IdentityTerms, 'sender'>> = object({
  id: text,
  partyId: text,
  name: text,
  provider: text,
  class: text,
  createdAt: instant,
  metadata: optional(anything),
  externalId: optional(text),
});

export const identityFact: Codec<IdentityFact> = variants<IdentityFact, 'type'>('type', {
  identity_created: { terms },
  challenge_started: { challengeId: text, challengeType: text },
  challenge_completed: { challengeId: text, level },
  challenge_failed: { challengeId: text, reason: text },
  identity_level_set: { level, reason: text },
  identity_blocked: {},
  identity_unblocked: {},
});
