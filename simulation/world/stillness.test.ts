import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fromOutside, stillness, toItsEnd } from './stillness.ts';

const quiet = () => setImmediate();

test('a world that waits for what nothing can end fails, and says what waits', async () => {
  const never = new Promise<void>(() => undefined);
  await expect(toItsEnd('node 1, which asks commit,', never, quiet)).rejects.toThrow(
    'the world stands still: node 1, which asks commit, waits for what nothing can end',
  );
});

test('a world waits for the answer of another process', async () => {
  let answer = (): void => undefined;
  const running = fromOutside(new Promise<void>((resolve) => (answer = resolve)));
  const ended = toItsEnd('node 1', running, quiet).then(() => 'ended');
  let isStill = false;
  const still = stillness(quiet).then(() => (isStill = true));
  for (let turn = 0; turn < 10; turn++) await quiet();
  expect(isStill).toBe(false);
  answer();
  expect(await ended).toBe('ended');
  expect(await still).toBe(true);
});

test('an error of what runs is passed on', async () => {
  const failing = async () => {
    await quiet();
    throw new Error('connection lost');
  };
  await expect(toItsEnd('node 1', fromOutside(failing()), quiet)).rejects.toThrow('connection lost');
});
