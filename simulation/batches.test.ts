import { expect, test } from 'vitest';
import { batchesOf, type Batch } from './batches.ts';

const seedsIn = (batches: readonly Batch[]) =>
  batches.flatMap(({ seed, worlds }) => Array.from({ length: worlds }, (_, place) => seed + place));

test('every seed of a given number of worlds is in one batch', () => {
  for (const worlds of [1, 7, 8, 9, 14, 40, 41])
    for (const processes of [1, 2, 3, 64]) {
      const batches = [...batchesOf({ firstSeed: 5, worlds, processes })];
      expect(seedsIn(batches)).toEqual(Array.from({ length: worlds }, (_, place) => 5 + place));
    }
});

test('two processes get the same number of few worlds', () => {
  expect([...batchesOf({ firstSeed: 1, worlds: 14, processes: 2 })]).toEqual([
    { seed: 1, worlds: 7 },
    { seed: 8, worlds: 7 },
  ]);
});

test('batches have no end and stay small if no number is given', () => {
  const batches = batchesOf({ firstSeed: 100, worlds: undefined, processes: 2 });
  const first = Array.from({ length: 50 }, () => batches.next().value as Batch);
  expect(seedsIn(first)).toEqual(Array.from({ length: 400 }, (_, place) => 100 + place));
  expect(Math.max(...first.map(({ worlds }) => worlds))).toBe(8);
});
