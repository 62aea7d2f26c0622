// How long links to the console and their sessions last, and whose pages a session shows.
import { laterBy, type Instant } from '../../clock.ts';

/** A party sees its own pages. An operator sees those of each party, one at a time, and begins with the party named. */
export type Viewer =
  | { readonly kind: 'party'; readonly partyId: string }
  | { readonly kind: 'operator'; readonly partyId?: string };

const minuteMs = 60_000;
const linkMs = 10 * minuteMs;
export const idleMs = 15 * minuteMs;
export const longestMs = 12 * 60 * minuteMs;
/** A session in use is written so often, so it may count as idle that much early. */
const writtenMs = minuteMs;
/** Ended sessions stay on the list of who was given a link. */
const keptMs = 30 * 24 * 60 * minuteMs;

/** What is older than these no longer counts. */
export function limitsAt(now: Instant) {
  return {
    linkedAfter: laterBy(now, -linkMs),
    seenAfter: laterBy(now, -idleMs),
    seenBefore: laterBy(now, -writtenMs),
    openedAfter: laterBy(now, -longestMs),
    createdAfter: laterBy(now, -keptMs),
  };
}

export type SessionStatus = 'unused' | 'open' | 'expired' | 'ended';

export function statusOf(
  times: {
    readonly createdAt: Instant;
    readonly openedAt: Instant | null;
    readonly seenAt: Instant | null;
    readonly endedAt: Instant | null;
  },
  now: Instant,
): SessionStatus {
  const { createdAt, openedAt, seenAt, endedAt } = times;
  const limits = limitsAt(now);
  if (endedAt !== null) return 'ended';
  if (openedAt === null || seenAt === null) return createdAt > limits.linkedAfter ? 'unused' : 'expired';
  return seenAt > limits.seenAfter && openedAt > limits.openedAfter ? 'open' : 'expired';
}

/** The party whose pages a request is about. Only an operator's request can name one. */
export function partyShown(viewer: Viewer, named: string | undefined): string | undefined {
  return viewer.kind === 'party' ? viewer.partyId : (named ?? viewer.partyId);
}
