// Remembers what a bank can do, and asks it again in the background.
import { abilitiesOfVersion1, type Abilities } from '../../domain/abilities.ts';

const freshMs = 5 * 60_000;
/** A bank that did not answer is asked again soon. */
const retryMs = 10_000;

/** It may be one that forgets, so nothing is sent again to it. */
const unheard: Abilities = { ...abilitiesOfVersion1, repeatableMs: 0 };

/**
 * `ask` gets what is known, returns undefined when the bank did not answer, and never throws. `before` is what another node has heard,
 * and counts until the bank answers.
 */
export function openKnownAbilities(
  nowMs: () => number,
  ask: (known: Abilities | undefined) => Promise<Abilities | undefined>,
  before?: Abilities,
) {
  let known: Abilities | undefined;
  let freshUntilMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function learn(): Promise<void> {
    const answer = await ask(known);
    known = answer ?? known;
    freshUntilMs = nowMs() + (answer ? freshMs : retryMs);
    asking = undefined;
  }

  function refresh(): Promise<void> | undefined {
    if (nowMs() >= freshUntilMs) asking ??= learn();
    return asking;
  }

  return {
    /** Undefined until the bank has answered a node once. */
    now(): Abilities | undefined {
      void refresh();
      return known ?? before;
    },
    /** Waits for the first answer, and for no later one. */
    async heard(): Promise<Abilities> {
      const answer = refresh();
      if (!known) await answer;
      return known ?? before ?? unheard;
    },
  };
}
