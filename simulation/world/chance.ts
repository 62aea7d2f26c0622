// Chance from one seed. Each use has its own stream, so that leaving one kind of fault out does not change the others.
import { seededRandom } from '../../src/sandbox/bank/random.ts';

export type Chance = {
  /** Evenly from 0 to 1, 1 excluded. */
  next(): number;
  isTrue(probability: number): boolean;
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number;
  oneOf<T>(things: readonly T[]): T;
  /** One of them, with a probability by its weight. */
  weighted<T extends { readonly weight: number }>(things: readonly T[]): T | undefined;
};

export function chanceOf(seed: number, use: string): Chance {
  let mixed = seed | 0;
  for (const character of use)
    mixed = Math.imul(mixed ^ character.charCodeAt(0), 0x01000193) ^ (mixed >>> 13);
  const next = seededRandom(mixed);
  return {
    next,
    isTrue: (probability) => next() < probability,
    below: (count) => Math.floor(next() * count),
    oneOf<T>(things: readonly T[]): T {
      return things[Math.floor(next() * things.length)] as T;
    },
    weighted(things) {
      const all = things.reduce((sum, { weight }) => sum + weight, 0);
      let left = next() * all;
      for (const thing of things) {
        left -= thing.weight;
        if (left < 0) return thing;
      }
      return undefined;
    },
  };
}
