import { beforeEach, expect, test } from 'vitest';
import { openPace, type Limits, type Pace } from './pace.ts';

let nowMs: number;
let limits: Limits;
let pace: Pace;
let timers: { readonly dueMs: number; readonly run: () => void }[];

beforeEach(() => {
  nowMs = 1_000_000_000_000;
  limits = {};
  timers = [];
  pace = openPace({
    nowMs: () => nowMs,
    limits: () => limits,
    later(ms, run) {
      const timer = { dueMs: nowMs + ms, run };
      timers.push(timer);
      return () => void (timers = timers.filter((other) => other !== timer));
    },
  });
});

/** Runs what becomes due, in order. */
async function pass(ms: number): Promise<void> {
  const untilMs = nowMs + ms;
  for (;;) {
    const [next] = timers.filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs);
    if (!next) break;
    timers = timers.filter((other) => other !== next);
    nowMs = Math.max(nowMs, next.dueMs);
    next.run();
    await settled();
  }
  nowMs = untilMs;
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

type Entered = { leave: () => void };

/** What came in, or was turned away, in order. */
let happened: string[];
beforeEach(() => void (happened = []));

type Wanted = Partial<Parameters<Pace['enter']>[0]>;

async function enter(name: string, wanted: Wanted = {}): Promise<Entered> {
  const entered: Entered = { leave: () => {} };
  const entering = async () => {
    const answer = await pace.enter({ goesFirst: false, ...wanted });
    if (answer !== 'turned away') entered.leave = answer;
    happened.push(`${name} ${answer === 'turned away' ? answer : 'in'}`);
  };
  void entering();
  await settled();
  return entered;
}

test('a bank that declares no limits is sent everything at once', async () => {
  for (const name of ['a', 'b', 'c']) await enter(name);
  expect(happened).toEqual(['a in', 'b in', 'c in']);
  expect(pace.waiting()).toBe(0);
});

test('of what waits for an answer there are never more than declared', async () => {
  limits = { atOnce: 2 };
  const [first, second] = [await enter('a'), await enter('b')];
  await enter('c');
  await enter('d');
  expect(happened).toEqual(['a in', 'b in']);
  expect(pace.waiting()).toBe(2);
  first.leave();
  first.leave();
  await settled();
  expect(happened).toEqual(['a in', 'b in', 'c in']);
  second.leave();
  await settled();
  expect(happened).toEqual(['a in', 'b in', 'c in', 'd in']);
});

test('within any second there are never more than declared', async () => {
  limits = { perSecond: 2 };
  const startedMs: number[] = [];
  const entering = async () => {
    if ((await pace.enter({ goesFirst: false })) !== 'turned away') startedMs.push(nowMs);
  };
  for (let count = 0; count < 7; count++) void entering();
  await settled();
  await pass(9_000);
  expect(startedMs).toHaveLength(7);
  const closest = startedMs.slice(2).map((started, place) => started - (startedMs[place] ?? 0));
  expect(Math.min(...closest)).toBeGreaterThan(1_000);
  expect(timers).toEqual([]);
});

test('a clock that is set back lets in what waits', async () => {
  limits = { perSecond: 1 };
  await enter('a');
  nowMs -= 3_600_000;
  await enter('b');
  expect(happened).toEqual(['a in', 'b in']);
});

test('what finishes an operation goes before what begins one', async () => {
  limits = { atOnce: 1 };
  const first = await enter('charge');
  await enter('another charge');
  const reversal = await enter('reversal', { goesFirst: true });
  first.leave();
  await settled();
  reversal.leave();
  await settled();
  expect(happened).toEqual(['charge in', 'reversal in', 'another charge in']);
});

test('what has waited for ten seconds, or until its time is over, is turned away and nothing else', async () => {
  limits = { atOnce: 1 };
  const first = await enter('a');
  await enter('b');
  await enter('c', { untilMs: nowMs + 3_000 });
  await enter('d', { untilMs: nowMs });
  expect(happened).toEqual(['a in', 'd turned away']);
  await pass(2_999);
  expect(happened).toHaveLength(2);
  await pass(1);
  expect(happened.at(-1)).toBe('c turned away');
  await enter('e');
  await pass(7_000);
  expect(happened.at(-1)).toBe('b turned away');
  first.leave();
  await settled();
  expect(happened.at(-1)).toBe('e in');
  expect(timers).toEqual([]);
});

test.each([
  ['is forbidden', () => false],
  ['cannot be allowed', () => Promise.reject(new Error('no database'))],
])('what %s after it has waited is turned away, and gives its place to the next', async (_, isAllowed) => {
  limits = { atOnce: 1 };
  const first = await enter('a');
  await enter('b', { mayStill: isAllowed });
  await enter('c');
  first.leave();
  await settled();
  await settled();
  expect(happened).toEqual(['a in', 'b turned away', 'c in']);
});

test('a thousand wait, and no more', async () => {
  limits = { atOnce: 1 };
  for (let count = 0; count <= 1_000; count++) await enter('x');
  expect(pace.waiting()).toBe(1_000);
  await enter('one more');
  expect(happened).toEqual(['x in', 'one more turned away']);
  // What gives money back has a place of its own.
  await enter('reversal', { goesFirst: true });
  expect(pace.waiting()).toBe(1_001);
});

test('what waits when the link stops is turned away', async () => {
  limits = { perSecond: 1 };
  await enter('a');
  await enter('b');
  await enter('c', { goesFirst: true });
  pace.stop();
  await settled();
  expect(happened).toEqual(['a in', 'c turned away', 'b turned away']);
  expect(timers).toEqual([]);
  await enter('d');
  expect(happened.at(-1)).toBe('d turned away');
  expect(timers).toEqual([]);
});

test('a limit that the bank takes back or lowers counts for what follows', async () => {
  limits = { atOnce: 1 };
  const first = await enter('a');
  await enter('b');
  await enter('c');
  limits = {};
  first.leave();
  await settled();
  expect(happened).toEqual(['a in', 'b in', 'c in']);
  limits = { atOnce: 1 };
  await enter('d');
  expect(happened).toHaveLength(3);
});
