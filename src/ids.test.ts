import { expect, test } from 'vitest';
import { randomIds, randomText } from './ids.ts';

test('IDs are short, alphanumeric and unique', () => {
  const ids = Array.from({ length: 10_000 }, () => randomIds.next());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{23}$/);
});

test('every character of random text is about equally likely', () => {
  const text = randomText(62_000);
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // 1000 expected of each; seven standard deviations are out of reach of chance.
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(225);
});
