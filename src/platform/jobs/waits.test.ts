import { expect, test } from 'vitest';
import { openWaits, type JobRow } from './waits.ts';

const row: JobRow = ['payment', ['invoice', 'payment']];
const never = () => new Promise<void>(() => {});

function reads(overAfter: number) {
  const pauses: number[] = [];
  let times = 0;
  const waits = openWaits({ pause: async (ms) => void pauses.push(ms), nowMs: () => 0 });
  const found = waits.readUntil(
    row,
    async () => ++times,
    (count) => count > overAfter,
    { forMs: 5_000 },
  );
  return { found, pauses };
}

/** Its clock stands still, and no pause ends. */
function endless() {
  const waits = openWaits({ pause: never, nowMs: () => 0 });
  const seen = { reads: 0, value: 'pending' };
  let isRead = () => {};
  const nextRead = () => new Promise<void>((resolve) => (isRead = resolve));
  const read = async () => {
    seen.reads += 1;
    isRead();
    return seen.value;
  };
  const start = (ended?: AbortSignal) =>
    waits.readUntil(row, read, (value) => value === 'known', {
      forMs: 5_000,
      ...(ended ? { ended } : {}),
    });
  return { waits, seen, start, nextRead };
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

test('a job that ran wakes those who wait for its row, and no other', async () => {
  const { waits, seen, start, nextRead } = endless();
  const first = nextRead();
  const found = start();
  await first;
  waits.wake('payment', ['invoice', 'another']);
  waits.wake('binding', ['invoice', 'payment']);
  seen.value = 'known';
  waits.wake(...row);
  expect([await found, seen.reads]).toEqual(['known', 2]);
});

test('a write during a read is not missed', async () => {
  const { waits, seen, start } = endless();
  const found = start();
  // The first read has taken its value, and has not returned it yet.
  seen.value = 'known';
  waits.wake(...row);
  expect([await found, seen.reads]).toEqual(['known', 2]);
});

test('waking again and again does not extend the time', async () => {
  let nowMs = 0;
  const waits = openWaits({ pause: never, nowMs: () => nowMs });
  const times: number[] = [];
  const read = async () => {
    times.push((nowMs += 1_000));
    waits.wake(...row);
  };
  await waits.readUntil(row, read, () => false, { forMs: 5_000 });
  expect(times).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
});

test.each(['the node stops', 'the caller is gone'])('when %s, it reads once more and ends', async (why) => {
  const { waits, seen, start, nextRead } = endless();
  const gone = new AbortController();
  const first = nextRead();
  const found = start(gone.signal);
  await first;
  if (why === 'the node stops') waits.stop();
  else gone.abort();
  expect([await found, seen.reads]).toEqual(['pending', 2]);
});

test('nothing waits on a node that stops', async () => {
  const { waits, seen, start } = endless();
  waits.stop();
  expect([await start(), seen.reads]).toEqual(['pending', 1]);
});
