// A span of a local day in which charges are made. Each subscription has a moment of its own in it, so that they do not all fall due
// at once.
import type { Instant } from '../../clock.ts';
import { instantOnDay, localDayOf } from '../../retry-rules/domain/time-zones.ts';

/** Local times such as `06:00`. */
export type DayWindow = { readonly from: string; readonly until: string };

const time = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

export function windowProblem({ from, until }: DayWindow): string | undefined {
  if (!time.test(from) || !time.test(until)) return 'must have times such as 06:00.';
  return from < until ? undefined : 'must end after it starts, on the same day.';
}

/** The second of the day at which this subscription is charged: always the same. */
export function momentIn({ from, until }: DayWindow, subscriptionId: string): number {
  return secondOf(from) + (hashOf(subscriptionId) % (secondOf(until) - secondOf(from)));
}

/** The first moment of the subscription at an instant or later. */
export function nextMoment(window: DayWindow, subscriptionId: string, from: Instant, zone: string): Instant {
  const moment = momentIn(window, subscriptionId);
  const today = localDayOf(from, zone);
  const at = instantOnDay(today, moment, zone);
  return at >= from ? at : instantOnDay(today + 1, moment, zone);
}

/** The moment of the subscription on a day. */
export function momentOnDay(window: DayWindow, subscriptionId: string, day: number, zone: string): Instant {
  return instantOnDay(day, momentIn(window, subscriptionId), zone);
}

function secondOf(text: string): number {
  return 3_600 * Number(text.slice(0, 2)) + 60 * Number(text.slice(3));
}

/** FNV-1a, of 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  return hash >>> 0;
}
