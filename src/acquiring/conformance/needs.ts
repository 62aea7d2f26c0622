// What a conformance check needs of a bank, by what the bank declares.
import type { Abilities } from '../domain/abilities.ts';

/** In the words for people. `declared`: the bank describes itself at all. */
const needs = {
  declared: ['a list of its abilities', (_abilities: Abilities, isDeclared: boolean) => isDeclared],
  capture: ['kind capture', ({ kinds }: Abilities) => kinds.includes('capture')],
  partialCapture: ['capture.partial', ({ capture }: Abilities) => capture.partial],
  severalCaptures: ['capture.several', ({ capture }: Abilities) => capture.several],
  reverse: ['kind reverse', ({ kinds }: Abilities) => kinds.includes('reverse')],
  partialReversal: ['reverse.partial', ({ reverse }: Abilities) => reverse.partial],
  refund: ['kind refund', ({ kinds }: Abilities) => kinds.includes('refund')],
  payout: ['kind payout', ({ kinds }: Abilities) => kinds.includes('payout')],
  verify: ['kind verify', ({ kinds }: Abilities) => kinds.includes('verify')],
  hosted: ['authentication hosted', ({ authentication }: Abilities) => authentication.includes('hosted')],
  given: ['authentication given', ({ authentication }: Abilities) => authentication.includes('given')],
  recurring: ['initiation recurring', ({ initiations }: Abilities) => initiations.includes('recurring')],
  unscheduled: [
    'initiation unscheduled',
    ({ initiations }: Abilities) => initiations.includes('unscheduled'),
  ],
  instalment: ['initiation instalment', ({ initiations }: Abilities) => initiations.includes('instalment')],
  returns: ['returns', ({ takesReturns }: Abilities) => takesReturns],
  updates: ['updates', ({ hasUpdates }: Abilities) => hasUpdates],
  limits: ['perSecond or atOnce', ({ perSecond, atOnce }: Abilities) => (perSecond ?? atOnce) !== undefined],
} as const;
export type Need = keyof typeof needs;

/** The first need that the bank declares it does not meet. */
export function unmetNeed(
  wanted: readonly Need[] = [],
  abilities: Abilities,
  isDeclared: boolean,
): string | undefined {
  const unmet = wanted.find((need) => !needs[need][1](abilities, isDeclared));
  return unmet && needs[unmet][0];
}
