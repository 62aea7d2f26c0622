// Whose turn it is when there are more who want to send than places.
import { expect, test } from 'vitest';
import { openHands, type DeliverySlots } from './delivery-slots.ts';

function fill(hands: DeliverySlots<string>, webhooks: readonly string[], each: number): void {
  for (const id of webhooks) for (let item = 0; item < each; item++) hands.put(id, id);
}

/** Who got a place, until there are no more. */
function take(hands: DeliverySlots<string>): string[] {
  const taken: string[] = [];
  for (let next = hands.next(); next; next = hands.next()) taken.push(next.item);
  return taken;
}

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${prefix}${number}`);
const countOf = (taken: readonly string[], id: string) => taken.filter((one) => one === id).length;

test('a webhook alone has ten places, taken in order', () => {
  const hands = openHands<number>();
  for (let item = 0; item < 15; item++) hands.put('a', item);
  const items: (number | undefined)[] = [];
  for (let turn = 0; turn < 10; turn++) items.push(hands.next()?.item);
  expect(items).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(hands.next()).toBeUndefined();
  hands.free('a', 'delivered');
  expect(hands.next()?.item).toBe(10);
});

test('one that has failed ten times in a row has two, until it answers', () => {
  const hands = openHands<string>();
  fill(hands, ['a'], 100);
  expect(take(hands)).toHaveLength(10);
  for (let time = 0; time < 9; time++) hands.free('a', 'failed');
  expect(take(hands)).toHaveLength(9);
  for (let time = 0; time < 10; time++) hands.free('a', 'failed');
  expect(take(hands)).toHaveLength(2);
  hands.free('a', 'notSent');
  expect(take(hands)).toHaveLength(1);
  hands.free('a', 'delivered');
  expect(take(hands)).toHaveLength(9);
});

test('what one gives back goes to those who have less, when there are many', () => {
  const hands = openHands<string>();
  const first = named('a', 100);
  fill(hands, first, 30);
  expect(take(hands)).toHaveLength(1_000);
  const late = named('b', 150);
  fill(hands, late, 30);
  // Those with nothing under way have places kept for them.
  const kept = take(hands);
  expect(new Set(kept)).toEqual(new Set(late));
  expect(kept).toHaveLength(150);
  // From now on the share is four: whoever has more waits until he has less.
  for (const id of first) for (let time = 0; time < 6; time++) hands.free(id, 'delivered');
  const after = take(hands);
  expect(first.some((id) => after.includes(id))).toBe(false);
  for (const id of late) expect(countOf(after, id)).toBe(3);
});

test('with more webhooks than places each waits for its turn, and has it', () => {
  const hands = openHands<string>();
  const all = named('a', 3_000);
  fill(hands, all, 2);
  const served = new Set<string>();
  for (let round = 0; round < 3; round++) {
    const taken = take(hands);
    expect(taken.length).toBeLessThanOrEqual(1_200);
    for (const id of taken) served.add(id);
    for (const id of taken) hands.free(id, 'delivered');
  }
  expect(served.size).toBe(3_000);
});

test('when all places are taken, one more is wanted of those alone who have nothing', () => {
  const hands = openHands<string>();
  fill(hands, named('a', 100), 15);
  take(hands);
  const { limit, limitEach, held } = hands.wanted();
  expect({ limit, limitEach }).toEqual({ limit: 200, limitEach: 1 });
  expect(held).toHaveLength(100);
  expect(held.every(({ free }) => free === 0)).toBe(true);
});

test('what is given up is what was waiting', () => {
  const hands = openHands<string>();
  fill(hands, ['a', 'b'], 12);
  take(hands);
  expect(hands.giveUp()).toEqual(['a', 'a', 'b', 'b']);
  expect(hands.next()).toBeUndefined();
});
