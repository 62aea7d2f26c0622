// A pause that ends with a new anchor: what is skipped, what starts, and what is refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { decideChargeEnded } from '../charge-outcome.ts';
import { decideCancel, decideCreate, decidePause, decideWake } from '../commands.ts';
import { monthlyPolicy, usualPolicy } from '../dunning/dunning.ts';
import { emailsFor } from '../duties/emails.ts';
import { nextDuty } from '../duties/duties.ts';
import { upcoming } from '../period-rows.ts';
import {
  evolve,
  evolveAll,
  statusOf,
  type Period,
  type Subscription,
  type SubscriptionFact,
  type SubscriptionTerms,
} from '../subscription.ts';
import { decideResumeShifted } from './shift-anchor.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const start = at('2027-01-31T12:00');
const window = { from: '06:00', until: '06:01' };
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 30_000n }],
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: window, anchor: 'atStart' },
  catchUp: 'current',
  dunning: { ...monthlyPolicy, byClass: {}, tries: [3], at: window },
  trialWithoutCard: 'pause',
};

function valueOf<Value>(outcome: { ok: true; value: Value } | { ok: false }): Value {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome.value;
}
const ids = { invoiceId: 'I', paymentId: 'I.1' };
function created(more: Partial<SubscriptionTerms['schedule']> = {}): Subscription {
  const [first, ...others] = valueOf(
    decideCreate(
      {
        ...terms,
        schedule: { ...terms.schedule, ...more },
        dunning: (more.every && usualPolicy(more.every, 'unpaid')) ?? terms.dunning,
      },
      start,
    ),
  );
  if (!first) throw new Error('A subscription is created by a fact.');
  return evolveAll(evolve(undefined, first, start), others, start);
}
const woken = (subscription: Subscription, now: Instant) =>
  evolveAll(subscription, decideWake(subscription, now, ids), now);
function charged(subscription: Subscription, outcome: 'captured' | 'funds' = 'captured'): Subscription {
  const ending =
    outcome === 'captured' ? { outcome } : ({ outcome: 'failed', declineClass: 'funds' } as const);
  const facts = decideChargeEnded(subscription, { number: 1, paymentId: 'I.1' }, ending, start);
  return evolveAll(subscription, facts, start);
}
const paid = (more: Partial<SubscriptionTerms['schedule']> = {}) => charged(woken(created(more), start));
const paused = (subscription: Subscription, now: Instant) =>
  evolveAll(
    subscription,
    valueOf(decidePause(subscription, { by: 'merchant', openPeriods: 'keepTrying', invoiceId: 'I2' }, now)),
    now,
  );
const rowsIn = (facts: readonly SubscriptionFact[]): Period[] =>
  facts.flatMap((fact) => (fact.type === 'period_created' ? [fact.period] : []));
const datesOf = ({ number, startsOn, endsOn, outcome, amountMinor }: Period) =>
  `${number} ${startsOn} ${endsOn} ${outcome} ${amountMinor}`;
const inFebruary = at('2027-02-10T12:00');

// Period 1 is from 31 January to 28 February, and paid.
test.each([
  ['the pause covers a part of a period', '2027-03-12T09:00', ['2 2027-02-28 2027-03-12 skipped 0'], 3],
  [
    'it covers more than one',
    '2027-05-05T23:59',
    [
      '2 2027-02-28 2027-03-31 skipped 30000',
      '3 2027-03-31 2027-04-30 skipped 30000',
      '4 2027-04-30 2027-05-05 skipped 0',
    ],
    5,
  ],
  ['it ends on the day of a renewal', '2027-03-31T00:00', ['2 2027-02-28 2027-03-31 skipped 30000'], 3],
  ['it ends when the paid period does', '2027-02-28T12:00', [], 2],
] as const)('%s', (_, resumed, skipped, number) => {
  const now = at(resumed);
  const before = paused(paid(), inFebruary);
  const facts = valueOf(decideResumeShifted(before, now));
  expect(rowsIn(facts).map(datesOf)).toEqual(skipped);
  const after = evolveAll(before, facts, now);
  expect([statusOf(after), after.open]).toEqual(['active', []]);
  const day = resumed.slice(0, 10);
  const [next, later] = upcoming(after, 2);
  expect(next).toMatchObject({ number, startsOn: day, amountMinor: 30_000n });
  expect(later?.startsOn.slice(8)).toBe(day === '2027-03-31' ? '30' : day.slice(8));
  // The whole new period is charged once, in the usual window of today or at once.
  const charge = woken(after, laterBy(now, 86_400_000));
  expect(charge.open.map(datesOf)).toEqual([`${number} ${day} ${next?.endsOn} open 30000`]);
});

test('it is refused after a trial until a charge has followed it, so that its end is announced', () => {
  const tried = created({ trialDays: 14 });
  const onTrial = woken(tried, start);
  const now = at('2027-02-14T12:00');
  expect(decideResumeShifted(paused(onTrial, at('2027-02-03T12:00')), now)).toMatchObject({
    refusal: {
      code: 'invalidRequest',
      hint: 'No full period has been paid yet. Resume without `shiftAnchor`.',
    },
  });
});

test('the payer is written to, with the date of the next charge', () => {
  const before = paused(paid(), inFebruary);
  const now = at('2027-03-12T04:00');
  const [email, ...others] = emailsFor(before, valueOf(decideResumeShifted(before, now)), now);
  expect(others).toEqual([]);
  expect(email).toMatchObject({ kind: 'newDates', priceMinor: 30_000n });
  expect(email?.chargeAt?.slice(0, 13)).toBe('2027-03-12T06');
});

test.each([
  ['held for its announcement', {}, '2027-03-13T04'],
  ['made without one', { chargeUnannounced: true as const }, '2027-03-12T06'],
])('and that date is kept by a charge that is %s', (_, more, expected) => {
  const duties = { type: 'duties_changed', duties: { announceEachHours: 24, ...more } } as const;
  const before = evolveAll(paused(paid(), inFebruary), [duties], inFebruary);
  const now = at('2027-03-12T04:00');
  const [email] = emailsFor(before, valueOf(decideResumeShifted(before, now)), now);
  expect(email?.chargeAt?.slice(0, 13)).toBe(expected);
});

test('a new price is announced, although it is the first charge from the new anchor on', () => {
  const items = [{ product: 'Tea', quantity: 1n, priceMinor: 40_000n }];
  const before = evolveAll(paused(paid(), inFebruary), [{ type: 'items_scheduled', items }], inFebruary);
  const now = at('2027-03-12T04:00');
  const after = evolveAll(before, valueOf(decideResumeShifted(before, now)), now);
  expect(nextDuty(after)).toBeDefined();
});

describe('it is refused', () => {
  const codeOf = (subscription: Subscription, now: Instant) => {
    const outcome = decideResumeShifted(subscription, now);
    return outcome.ok ? 'accepted' : outcome.refusal.code;
  };
  const march = at('2027-03-12T09:00');
  test.each<[string, () => Subscription, Instant, string]>([
    ['without a pause', () => paid(), march, 'invalidSubscriptionStatus'],
    ['before the start', () => created(), march, 'invalidSubscriptionStatus'],
    ['while a paid period runs', () => paused(paid(), inFebruary), at('2027-02-27T23:59'), 'invalidRequest'],
    [
      'while a period is unpaid',
      () => paused(charged(woken(created(), start), 'funds'), start),
      march,
      'subscriptionPastDue',
    ],
    [
      'if the number of charges is agreed',
      () => paused(paid({ ends: { periods: 6 } }), inFebruary),
      march,
      'invalidRequest',
    ],
    [
      'if the end is scheduled',
      () => {
        const before = paused(paid(), inFebruary);
        return evolveAll(before, valueOf(decideCancel(before, { when: 'periodEnd', by: 'merchant' })), march);
      },
      march,
      'invalidSubscriptionStatus',
    ],
  ])('%s', (_, subscription, now, code) => expect(codeOf(subscription(), now)).toBe(code));
});

test('whatever the zone and the days, numbers continue, and there is neither a hole nor an overlap', () => {
  const zone = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Vladivostok',
    'Pacific/Apia',
  );
  const every = fc.constantFrom(
    { count: 1, unit: 'M' } as const,
    { count: 3, unit: 'D' } as const,
    { count: 1, unit: 'Y' } as const,
    { count: 2, unit: 'W' } as const,
  );
  fc.assert(
    fc.property(zone, every, fc.integer({ min: 1, max: 60 * 24 * 500 }), (drawn, length, minutes) => {
      const begun = paid({ zone: drawn, every: length });
      const before = paused(begun, laterBy(start, 1_000));
      const now = laterBy(start, minutes * 60_000);
      const outcome = decideResumeShifted(before, now);
      if (!outcome.ok) {
        expect(now < (before.latest?.endsAt ?? now)).toBe(true);
        return;
      }
      const after = woken(evolveAll(before, outcome.value, now), laterBy(now, 86_400_000));
      const rows = [...rowsIn(outcome.value), ...after.open];
      let last = before.latest;
      for (const row of rows) {
        expect([row.number, row.startsOn, row.startsAt]).toEqual([
          (last?.number ?? 0) + 1,
          last?.endsOn,
          last?.endsAt,
        ]);
        expect(row.endsOn > row.startsOn && row.endsAt > row.startsAt).toBe(true);
        last = row;
      }
      expect(after.open.map(({ amountMinor }) => amountMinor)).toEqual([30_000n]);
    }),
    { numRuns: 300, seed: 57 },
  );
});
