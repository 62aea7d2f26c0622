import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Instant } from '../clock.ts';
import { slotOfCharges } from './worker.ts';

const now = '2026-01-19T10:00:00.000000Z' as Instant;
/** Its bank never answers. */
const endless = () => new Promise<void>(() => {});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether the slot is free, each time after so long. */
async function isFreeAfter(asked: Promise<void>, ...waitsMs: readonly number[]): Promise<boolean[]> {
  let isFree = false;
  void asked.then(() => (isFree = true));
  const found: boolean[] = [];
  for (const ms of waitsMs) {
    await vi.advanceTimersByTimeAsync(ms);
    found.push(isFree);
  }
  return found;
}

test('a slot is taken until the bank was asked, and for five seconds if that is slow', async () => {
  const quick = slotOfCharges(() => Promise.resolve(), { movesClock: false });
  quick.run('payment', ['I', '1'], now);
  expect(await isFreeAfter(quick.asked(), 0)).toEqual([true]);
  const slow = slotOfCharges(endless, { movesClock: false });
  slow.run('payment', ['I', '1'], now);
  expect(await isFreeAfter(slow.asked(), 4_999, 1)).toEqual([false, true]);
});

test('a job that moves a test clock takes no slot for its charge, or the leases of later ones would end', async () => {
  const slot = slotOfCharges(endless, { movesClock: true });
  slot.run('payment', ['I', '1'], now);
  expect(await isFreeAfter(slot.asked(), 0)).toEqual([true]);
});
