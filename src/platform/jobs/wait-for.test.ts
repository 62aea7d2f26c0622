import { expect, test } from 'vitest';
import { readUntil } from './wait-for.ts';

function reads(overAfter: number) {
  const pauses: number[] = [];
  let times = 0;
  const found = readUntil(
    async () => ++times,
    (count) => count > overAfter,
    { forMs: 5_000, pause: async (ms) => void pauses.push(ms) },
  );
  return { found, pauses };
}

test('what is over is read once', async () => {
  const { found, pauses } = reads(0);
  expect([await found, pauses]).toEqual([1, []]);
});

test('reads again after growing pauses until it is over', async () => {
  const { found, pauses } = reads(4);
  expect([await found, pauses]).toEqual([5, [50, 100, 200, 400]]);
});

test('gives up when the time is over, after a last read', async () => {
  const { found, pauses } = reads(Infinity);
  expect(await found).toBe(pauses.length + 1);
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(5_000);
  expect(Math.max(...pauses)).toBe(500);
});
