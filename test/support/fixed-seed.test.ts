import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chosenSeed } from './service/chosen-seed.ts';

test('properties draw the same values on each run', () => {
  const seed = chosenSeed('SEED');
  expect(fc.readConfigureGlobal().seed).toBe(seed);
  const drawn = (more: fc.Parameters<number>) => fc.sample(fc.integer(), { numRuns: 5, ...more });
  expect(drawn({})).toEqual(drawn({ seed }));
  expect(fc.check(fc.property(fc.integer(), () => true)).seed).toBe(seed);
});
