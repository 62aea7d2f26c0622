// How delivery slots are shared when more webhooks want to send than there are slots.
import { expect, test } from 'vitest';
import { openDeliverySlots, type DeliverySlots } from './delivery-slots.ts';

function fill(slots: DeliverySlots<string>, webhooks: readonly string[], each: number): void {
  for (const id of webhooks) for (let item = 0; item < each; item++) slots.enqueue(id, id);
}

/** The webhooks that got a slot, until none is free. */
function take(slots: DeliverySlots<string>): string[] {
  const taken: string[] = [];
  for (let next = slots.next(); next; next = slots.next()) taken.push(next.item);
  return taken;
}

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${prefix}${number}`);
const countOf = (taken: readonly string[], id: string) => taken.filter((one) => one === id).length;

test('a single webhook has 10 slots, used in order', () => {
  const slots = openDeliverySlots<number>();
  for (let item = 0; item < 15; item++) slots.enqueue('a', item);
  const items: (number | undefined)[] = [];
  for (let turn = 0; turn < 10; turn++) items.push(slots.next()?.item);
  expect(items).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(slots.next()).toBeUndefined();
  slots.free('a', 'delivered');
  expect(slots.next()?.item).toBe(10);
});

test('a webhook with 10 failures in a row has 2 slots, until a delivery succeeds', () => {
  const slots = openDeliverySlots<string>();
  fill(slots, ['a'], 100);
  expect(take(slots)).toHaveLength(10);
  for (let time = 0; time < 9; time++) slots.free('a', 'failed');
  expect(take(slots)).toHaveLength(9);
  for (let time = 0; time < 10; time++) slots.free('a', 'failed');
  expect(take(slots)).toHaveLength(2);
  slots.free('a', 'notSent');
  expect(take(slots)).toHaveLength(1);
  slots.free('a', 'delivered');
  expect(take(slots)).toHaveLength(9);
});

test('a freed slot goes to webhooks with fewer slots', () => {
  const slots = openDeliverySlots<string>();
  const first = named('a', 100);
  fill(slots, first, 30);
  expect(take(slots)).toHaveLength(1_000);
  const late = named('b', 150);
  fill(slots, late, 30);
  // Some slots are reserved for webhooks with nothing in progress.
  const kept = take(slots);
  expect(new Set(kept)).toEqual(new Set(late));
  expect(kept).toHaveLength(150);
  // From now on the share is 4, so a webhook with more waits until it has fewer.
  for (const id of first) for (let time = 0; time < 6; time++) slots.free(id, 'delivered');
  const after = take(slots);
  expect(first.some((id) => after.includes(id))).toBe(false);
  for (const id of late) expect(countOf(after, id)).toBe(3);
});

test('every webhook gets its turn when webhooks outnumber slots', () => {
  const slots = openDeliverySlots<string>();
  const all = named('a', 3_000);
  fill(slots, all, 2);
  const served = new Set<string>();
  for (let round = 0; round < 3; round++) {
    const taken = take(slots);
    expect(taken.length).toBeLessThanOrEqual(1_200);
    for (const id of taken) served.add(id);
    for (const id of taken) slots.free(id, 'delivered');
  }
  expect(served.size).toBe(3_000);
});

test('with all shared slots in use, only webhooks with nothing in progress are claimed', () => {
  const slots = openDeliverySlots<string>();
  fill(slots, named('a', 100), 15);
  take(slots);
  const { limit, limitEach, busy } = slots.demand();
  expect({ limit, limitEach }).toEqual({ limit: 200, limitEach: 1 });
  expect(busy).toHaveLength(100);
  expect(busy.every(({ free }) => free === 0)).toBe(true);
});

test('draining returns the waiting items', () => {
  const slots = openDeliverySlots<string>();
  fill(slots, ['a', 'b'], 12);
  take(slots);
  expect(slots.drain()).toEqual(['a', 'a', 'b', 'b']);
  expect(slots.next()).toBeUndefined();
});
