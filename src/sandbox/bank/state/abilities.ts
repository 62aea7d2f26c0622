// What the simulated bank can do, and how one of the first version reads a message.
import { operationKinds, initiationAbilities } from '../../../acquiring/domain/abilities.ts';
import type { AbilitiesAnswer } from '../../../acquiring/adapters/http/capabilities.ts';

export const abilities: AbilitiesAnswer = {
  kinds: [...operationKinds],
  capture: { partial: true, several: true },
  reverse: { partial: true },
  authentication: ['hosted', 'given'],
  initiations: [...initiationAbilities],
  foreignNetworkIds: false,
  repeatable: 'always',
  refunds: 'mayFail',
  returns: true,
  updates: true,
  atOnce: 1_000,
};

const laterMembers = [
  'notAfter',
  'original',
  'final',
  'authenticated',
  'exemption',
  'demandsChallenge',
  'obligation',
  'attempt',
  'recipient',
];
const laterOfInitiation = [
  'rootNetworkIds',
  'previousNetworkIds',
  'stores',
  'usesStored',
  'amount',
  'sequence',
  'resubmission',
];

/** A bank of the first version ignores the fields that it does not know. */
export function withoutLaterFields(content: unknown): unknown {
  if (!isObject(content)) return content;
  const { initiation, kind } = content;
  const known = without(content, kind === 'reverse' ? [...laterMembers, 'amount', 'currency'] : laterMembers);
  return isObject(initiation) ? { ...known, initiation: without(initiation, laterOfInitiation) } : known;
}

function without(value: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
