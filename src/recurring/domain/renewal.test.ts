import { expect, test } from 'vitest';
import { laterBy, type Instant } from '../../clock.ts';
import { mayRenew } from './renewal.ts';
import type { Series } from './series.ts';

const now = '2026-01-19T10:00:00.000000Z' as Instant;
const active = { state: { name: 'active' } } as Series;
const revoked = { state: { name: 'withdrawn', at: now, by: 'payer' } } as Series;
const until = (ms: number) => ({ card: { endsAt: laterBy(now, ms) } });

test('new terms are for a series that is active or stopped, with a card that has not expired', () => {
  const stopped = { state: { name: 'stopped', scope: 'series' } } as Series;
  const cardStopped = { state: { name: 'stopped', scope: 'cardInShop' } } as Series;
  expect(mayRenew({ ...active, ...until(1) } as Series, now).ok).toBe(true);
  expect(mayRenew({ ...stopped, ...until(1) } as Series, now).ok).toBe(true);
  expect(mayRenew({ ...cardStopped, ...until(1) } as Series, now)).toMatchObject({
    refusal: { code: 'recurrentStopped' },
  });
  expect(mayRenew({ ...revoked, ...until(1) } as Series, now)).toMatchObject({
    refusal: { code: 'recurrentConsentRevoked' },
  });
  expect(mayRenew({ ...active, ...until(0) } as Series, now)).toMatchObject({
    refusal: { code: 'recurrentCardExpired' },
  });
});
