// Rows of subscriptions, as nodes of this version and of older ones write them.
import { expect, test } from 'vitest';
import type { Instant } from '../../clock.ts';
import type { Announcement } from '../domain/duties/terms.ts';
import { subscriptionState, type SubscriptionState } from './codec.ts';

const announcement = (number: number, acceptedAt?: Instant): Announcement => ({
  number,
  why: 'eachCharge',
  priceMinor: 1_000n,
  leadMs: 3_600_000,
  version: number,
  by: 'email',
  ...(acceptedAt === undefined ? {} : { acceptedAt }),
});
const stored = (number: number) => ({ ...announcement(number), priceMinor: 1_000 });
const state: SubscriptionState = {
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 1_000n }],
  open: [],
  missed: [],
  charges: [],
  paidMinor: 0n,
  creditMinor: 0n,
};
const row = subscriptionState.write?.(state) as object;

test.each([[[]], [[announcement(4)]], [[announcement(4), announcement(2), announcement(3)]]])(
  'announcements are read as they were written: %#',
  (announcements) => {
    const so = announcements.length > 0 ? { ...state, announcements } : state;
    expect(subscriptionState.read(subscriptionState.write?.(so))).toEqual(so);
  },
);

test('a row of before has one announcement', () => {
  expect(subscriptionState.read({ ...row, announcement: stored(2) })).toEqual({
    ...state,
    announcements: [announcement(2)],
  });
});

test('an old node reads the latest announcement, and what it writes replaces that alone', () => {
  const announcements = [announcement(4), announcement(2)];
  const written = subscriptionState.write?.({ ...state, announcements }) as object;
  expect(written).toMatchObject({ announcement: stored(2), otherAnnouncements: [stored(4)] });
  const acceptedAt = '2027-02-28T06:00:00.000000Z' as Instant;
  const again = subscriptionState.read({ ...written, announcement: { ...stored(4), acceptedAt } });
  expect(again.announcements).toEqual([announcement(4, acceptedAt)]);
});
