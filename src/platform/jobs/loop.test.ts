// What a loop waits for, and what makes it poll.
import { beforeEach, expect, test } from 'vitest';
import { openLoop, type Loop } from './loop.ts';

let loop: Loop;
let polls: number;
let endPoll: () => void;
let failures: unknown[];
beforeEach(() => {
  polls = 0;
  failures = [];
  const poll = async () => {
    polls += 1;
    await new Promise<void>((resolve) => (endPoll = resolve));
  };
  loop = openLoop(poll, (error) => failures.push(error));
});

test('work is waited for without the polls that begin meanwhile', async () => {
  const steps: string[] = [];
  await loop.including(async () => {
    loop.wake();
    loop.attend(Promise.resolve().then(() => steps.push('work')));
    await Promise.resolve();
  });
  expect([polls, steps]).toEqual([1, ['work']]);
  const idle = loop.whenIdle().then(() => steps.push('idle'));
  await Promise.resolve();
  expect(steps).toEqual(['work']);
  endPoll();
  await idle;
  expect(steps).toEqual(['work', 'idle']);
});

test.each([
  ['demand', 2],
  ['a tick', 1],
] as const)('%s during a poll leads to %i polls', async (what, expected) => {
  loop.wake();
  if (what === 'demand') loop.wake();
  else loop.wakeIfStill();
  endPoll();
  const idle = loop.whenIdle();
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  endPoll();
  await idle;
  expect(polls).toBe(expected);
});

test('a failure of work is reported, and does not keep the loop from its end', async () => {
  loop.attend(Promise.reject(new Error('planted')));
  await loop.stop();
  expect(failures).toEqual([new Error('planted')]);
});
