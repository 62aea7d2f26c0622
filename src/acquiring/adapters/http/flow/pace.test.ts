import { beforeEach, describe, expect, test } from 'vitest';
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
/** When those turned away may try again. */
let againInMs: number[];
beforeEach(() => {
  happened = [];
  againInMs = [];
});

type Wanted = Partial<Parameters<Pace['enter']>[0]>;

async function enter(name: string, wanted: Wanted = {}): Promise<Entered> {
  const entered: Entered = { leave: () => {} };
  const entering = async () => {
    const answer = await pace.enter({ rank: 'begins', ...wanted });
    const isIn = typeof answer === 'function';
    if (isIn) entered.leave = answer;
    else againInMs.push(answer.againInMs);
    happened.push(`${name} ${isIn ? 'in' : 'turned away'}`);
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
    if (typeof (await pace.enter({ rank: 'begins' })) === 'function') startedMs.push(nowMs);
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
  const reversal = await enter('reversal', { rank: 'finishes' });
  first.leave();
  await settled();
  reversal.leave();
  await settled();
  expect(happened).toEqual(['charge in', 'reversal in', 'another charge in']);
});

test('of what begins an operation, what a payer waits for goes first', async () => {
  limits = { atOnce: 1 };
  let { leave } = await enter('charge');
  const names = ['another charge', 'payer', 'capture'];
  const entered = [
    await enter('another charge'),
    await enter('payer', { rank: 'payerWaits' }),
    await enter('capture', { rank: 'finishes' }),
  ];
  for (const name of [...names].reverse()) {
    leave();
    await settled();
    ({ leave } = entered[names.indexOf(name)] ?? { leave });
  }
  expect(happened).toEqual(['charge in', 'capture in', 'payer in', 'another charge in']);
});

test('charges without the payer leave a quarter of what is in progress to the others', async () => {
  limits = { atOnce: 8 };
  const charges = [];
  for (let count = 0; count < 7; count++)
    charges.push(await enter(`charge ${count}`, { rank: count === 0 ? 'repeats' : 'charges' }));
  await enter('payer', { rank: 'payerWaits' });
  await enter('payout');
  expect(happened.slice(-2)).toEqual(['payer in', 'payout in']);
  expect(happened).toHaveLength(8);
  charges[0]?.leave();
  await settled();
  expect(happened.slice(8)).toEqual(['charge 6 in']);
});

test('charges without the payer leave a quarter of each second to the others, and a bank that takes one takes a charge', async () => {
  limits = { perSecond: 4 };
  for (const name of ['a', 'b', 'c', 'd']) await enter(name, { rank: 'charges' });
  await enter('payer', { rank: 'payerWaits' });
  expect(happened).toEqual(['a in', 'b in', 'c in', 'payer in']);
  await pass(1_100);
  expect(happened.slice(4)).toEqual(['d in']);
  limits = { atOnce: 1 };
  await pass(10_000);
  happened = [];
  pace = openPace({ nowMs: () => nowMs, limits: () => limits });
  await enter('only', { rank: 'charges' });
  expect(happened).toEqual(['only in']);
});

test('of charges without the payer, those that repeat a declined one go last', async () => {
  limits = { atOnce: 1 };
  const first = await enter('first', { rank: 'charges' });
  await enter('repeat', { rank: 'repeats' });
  const another = await enter('new', { rank: 'charges' });
  first.leave();
  await settled();
  another.leave();
  await settled();
  expect(happened).toEqual(['first in', 'new in', 'repeat in']);
});

describe('what is turned away', () => {
  /** No more may wait. */
  const fill = async (wanted: Wanted = {}) => {
    for (let count = 0; count < 1_000; count++) void enter('x', wanted);
    await settled();
  };

  test('comes back one after the other, at the pace of the bank', async () => {
    limits = { perSecond: 2 };
    await fill();
    await enter('x');
    await enter('x');
    for (const _ of [1, 2, 3]) await enter('late');
    expect(againInMs).toEqual([1_000, 1_550, 2_100]);
    nowMs += 60_000;
    await enter('later');
    expect(againInMs.at(-1)).toBe(1_000);
  });

  test('comes back as soon as the bank ends one, if it says only how many it takes at once', async () => {
    limits = { atOnce: 2 };
    const first = await enter('a');
    await enter('b');
    nowMs += 8_000;
    first.leave();
    await enter('c');
    await fill();
    for (const _ of [1, 2]) await enter('late');
    expect(againInMs).toEqual([1_000, 5_000]);
  });

  test('comes back while it may still be sent, and ten minutes later at the latest', async () => {
    limits = { perSecond: 1 };
    await enter('a');
    await fill();
    for (let count = 0; count < 600; count++) await enter('late');
    expect(againInMs.at(-1)).toBe(600_000);
    await enter('urgent', { untilMs: nowMs + 6_000 });
    expect(againInMs.at(-1)).toBe(3_000);
    // It waits behind none of a lower rank.
    await fill({ rank: 'payerWaits' });
    await enter('payer', { rank: 'payerWaits' });
    expect(againInMs.at(-1)).toBe(1_000);
  });

  test('comes back within seconds if its payer waits, however slow the last operation was', async () => {
    limits = { atOnce: 1 };
    const slow = await enter('a');
    nowMs += 45_000;
    slow.leave();
    await enter('b');
    await fill({ rank: 'payerWaits' });
    const payer = { rank: 'payerWaits' } as const;
    for (const _ of [1, 2, 3]) await enter('payer', { ...payer, untilMs: nowMs + 180_000 });
    await enter('late payer', { ...payer, untilMs: nowMs + 8_000 });
    expect(againInMs).toEqual([1_000, 15_000, 15_000, 4_000]);
  });

  test('waits behind none of before once the bank takes all that comes', async () => {
    limits = { atOnce: 1 };
    const slow = await enter('a');
    nowMs += 45_000;
    slow.leave();
    let { leave } = await enter('b');
    await fill();
    for (const _ of [1, 2]) await enter('late');
    expect(againInMs).toEqual([1_000, 46_000]);
    await pass(10_000);
    leave();
    ({ leave } = await enter('c'));
    await fill();
    await enter('late');
    expect(againInMs.at(-1)).toBe(1_000);
  });

  test('comes back soon once the link stops, because another node may have place', async () => {
    limits = { atOnce: 1 };
    const slow = await enter('a');
    nowMs += 45_000;
    slow.leave();
    await enter('b');
    pace.stop();
    for (const _ of [1, 2]) await enter('late');
    expect(againInMs).toEqual([1_000, 1_000]);
  });
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
  await enter('reversal', { rank: 'finishes' });
  expect(pace.waiting()).toBe(1_001);
});

test('what waits when the link stops is turned away', async () => {
  limits = { perSecond: 1 };
  await enter('a');
  await enter('b');
  await enter('c', { rank: 'finishes' });
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
