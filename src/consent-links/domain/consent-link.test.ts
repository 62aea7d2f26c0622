import { describe, expect, test } from 'vitest';
import { laterBy, type Instant } from '../../clock.ts';
import type { BindingState } from '../../customers/domain/binding.ts';
import type { Series } from '../../recurring/domain/series.ts';
import { dateProblem, statusOf, type ConsentLink } from './consent-link.ts';

const now = '2026-01-19T10:00:00.000000Z' as Instant;
const day = 24 * 3_600_000;
const link = { expiresAt: laterBy(now, 1) } as ConsentLink;
const expired = { expiresAt: now } as ConsentLink;
const cancelled = { ...link, cancelledAt: now };
const active = { state: { name: 'active' } } as Series;
const revoked = { state: { name: 'withdrawn', at: now, by: 'payer' } } as Series;
const bindingIn = (name: BindingState['name']) => ({ state: { name } as BindingState });

describe('the status of a link', () => {
  test('follows from its dates and the series while there is no attempt, or it has failed', () => {
    for (const binding of [undefined, bindingIn('failed')]) {
      expect(statusOf(link, active, binding, now)).toBe('open');
      expect(statusOf(expired, active, binding, now)).toBe('expired');
      expect(statusOf(cancelled, active, binding, now)).toBe('cancelled');
      expect(statusOf(link, revoked, binding, now)).toBe('cancelled');
    }
  });

  test.each(['authorising', 'challenged', 'reversing', 'returning', 'refunding'] as const)(
    'is authenticating while its binding is %s, also after it has expired',
    (name) => expect(statusOf(expired, active, bindingIn(name), now)).toBe('authenticating'),
  );

  test.each(['succeeded', 'withdrawn'] as const)('is done for good once its binding is %s', (name) => {
    for (const one of [link, expired, cancelled])
      expect(statusOf(one, revoked, bindingIn(name), now)).toBe('done');
  });
});

describe('new terms', () => {
  test('can be agreed to for 30 days at most, and their last day is not over', () => {
    expect(dateProblem({ expiresAt: laterBy(now, 30 * day), endsAt: laterBy(now, 1) }, now)).toBeUndefined();
    expect(dateProblem({ expiresAt: laterBy(now, 30 * day + 1) }, now)).toContain('30 days');
    expect(dateProblem({ expiresAt: now }, now)).toContain('past');
    expect(dateProblem({ expiresAt: laterBy(now, 1), endsAt: now }, now)).toContain('passed');
  });
});
