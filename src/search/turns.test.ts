import { expect, test } from 'vitest';
import { openTurns } from './turns.ts';

/** Searches that a test ends. */
function searches(atOnce: number) {
  const turns = openTurns(atOnce);
  const running = new Map<string, (what: 'found' | 'failed') => void>();
  const ask = (name: string) =>
    turns.run(name.slice(0, 1), async () => {
      const what = await new Promise((resolve) => running.set(name, resolve));
      running.delete(name);
      if (what === 'failed') throw new Error('failed');
      return name;
    });
  return { ask, running, names: () => [...running.keys()] };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a party has one search at a time, and the others follow in their order', async () => {
  const { ask, running, names } = searches(3);
  const asked = ['a1', 'a2', 'b1', 'a3'].map(ask);
  await settled();
  expect(names()).toEqual(['a1', 'b1']);
  running.get('a1')?.('found');
  expect(await asked[0]).toBe('a1');
  await settled();
  expect(names()).toEqual(['b1', 'a2']);
  running.get('a2')?.('found');
  await asked[1];
  await settled();
  expect(names()).toEqual(['b1', 'a3']);
});

test('no more run than may, and a party that waits longest is next, also after a failure', async () => {
  const { ask, running, names } = searches(2);
  const asked = ['a1', 'b1', 'a2', 'c1', 'd1'].map(ask);
  await settled();
  expect(names()).toEqual(['a1', 'b1']);
  running.get('b1')?.('failed');
  await expect(asked[1]).rejects.toThrow('failed');
  await settled();
  expect(names()).toEqual(['a1', 'c1']);
  running.get('a1')?.('found');
  await settled();
  expect(names()).toEqual(['c1', 'a2']);
});

test('a ninth that would wait is refused, and those of other parties are not', async () => {
  const { ask, running, names } = searches(2);
  const asked = Array.from({ length: 9 }, (_, n) => ask(`a${n}`));
  expect(await ask('a9')).toBe('busy');
  void ask('b1');
  await settled();
  expect(names()).toEqual(['a0', 'b1']);
  running.get('a0')?.('found');
  await asked[0];
  void ask('a10');
  await settled();
  expect(names()).toEqual(['b1', 'a1']);
});
