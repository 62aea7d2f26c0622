// The status of a link and its session, and whose pages a request is about.
import { expect, test } from 'vitest';
import { instantAt } from '../../clock.ts';
import { partyShown, statusOf, type SessionStatus } from './session.ts';

const minuteMs = 60_000;
const at = (minutes: number) => instantAt(Date.UTC(2026, 0, 19) + minutes * minuteMs);

test.each<[string, number | null, number | null, number | null, number, SessionStatus]>([
  ['a new link', null, null, null, 9, 'unused'],
  ['an old link', null, null, null, 10, 'expired'],
  ['a link that was ended', null, null, 1, 2, 'ended'],
  ['a session in use', 5, 60, null, 74, 'open'],
  ['an idle session', 5, 60, null, 75, 'expired'],
  ['a session of twelve hours', 5, 724, null, 725, 'expired'],
  ['a session just younger', 5, 724, null, 724, 'open'],
  ['a session that was ended', 5, 6, 7, 8, 'ended'],
])('%s', (_, opened, seen, ended, now, status) => {
  const maybe = (minutes: number | null) => (minutes === null ? null : at(minutes));
  const times = { createdAt: at(0), openedAt: maybe(opened), seenAt: maybe(seen), endedAt: maybe(ended) };
  expect(statusOf(times, at(now))).toBe(status);
});

test('only an operator can name the party', () => {
  expect(partyShown({ kind: 'party', partyId: 'A' }, 'B')).toBe('A');
  expect(partyShown({ kind: 'operator', partyId: 'A' }, 'B')).toBe('B');
  expect(partyShown({ kind: 'operator', partyId: 'A' }, undefined)).toBe('A');
  expect(partyShown({ kind: 'operator' }, undefined)).toBeUndefined();
});
