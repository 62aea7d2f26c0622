import { expect, test } from 'vitest';
import { byCount, byTime } from './rounds.ts';

/** Each pause acknowledges `perPause` operations, and a kill takes `killMs`. */
function stage({ perPause = 0, killMs = 1_000 }) {
  const happened: string[] = [];
  let acknowledged = 0;
  let nowMs = 0;
  return {
    happened,
    round: {
      kill: async (turn: number) => {
        happened.push(`kill ${turn}`);
        nowMs += killMs;
      },
      disturb: async (turn: number) => void happened.push(`disturb ${turn}`),
    },
    trade: {
      acknowledged: () => acknowledged,
      pause: async () => void (acknowledged += perPause),
    },
    clock: { now: () => nowMs, pause: async (ms: number) => void (nowMs += ms) },
  };
}

test('rounds by count end after the kills and the operations, however slow they are', async () => {
  for (const perPause of [0.1, 1, 10]) {
    const { round, trade, happened } = stage({ perPause });
    expect(await byCount(round, { kills: 6, operations: 120 }, trade)).toEqual({ kills: 6 });
    expect(trade.acknowledged()).toBeGreaterThan(119.9);
    expect(happened).toEqual([0, 1, 2, 3, 4, 5].flatMap((turn) => [`kill ${turn}`, `disturb ${turn}`]));
  }
});

test('rounds by count kill on if the operations are not reached', async () => {
  const { round, trade } = stage({ perPause: 1 / 32 });
  expect(await byCount(round, { kills: 6, operations: 120 }, trade)).toEqual({ kills: 7 });
});

test('rounds by count end with a problem after twice the kills', async () => {
  const { round, trade } = stage({ perPause: 0 });
  expect(await byCount(round, { kills: 3, operations: 10 }, trade)).toEqual({
    kills: 6,
    problem: 'only 0 of 10 operations were acknowledged in 6 kills',
  });
});

test('rounds by time spread the kills over the time', async () => {
  const { round, clock, happened } = stage({ killMs: 1_000 });
  expect(await byTime(round, { kills: 3, ms: 30_000 }, clock)).toEqual({ kills: 3 });
  expect(clock.now()).toBe(30_000);
  expect(happened).toHaveLength(6);
});

test('rounds by time leave other disturbances out if kills take too long, and say how many kills fitted', async () => {
  const { round, clock, happened } = stage({ killMs: 20_000 });
  expect(await byTime(round, { kills: 6, ms: 60_000 }, clock)).toEqual({
    kills: 3,
    problem: 'only 3 of 6 kills fitted',
  });
  expect(happened).toEqual(['kill 0', 'kill 1', 'kill 2']);
});
