// What follows a decline of each class: the retries, the end, and whether the next period is charged.
import { expect, test } from 'vitest';
import { declineClasses } from '../../../acquiring/domain/decline-class.ts';
import { laterBy, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { Life, type Bank } from '../../../../test/models/subscriptions/lived.ts';
import type { ChargeEnding } from '../charge-outcome.ts';
import { usualPolicy } from './dunning.ts';
import { statusOf, type SubscriptionTerms } from '../subscription.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const start = at('2027-02-04T12:00');
const every = { count: 1, unit: 'M' } as const;
const dunning = usualPolicy(every, 'pause');
if (!dunning) throw new Error('A month has a usual policy.');
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 3_000n }],
  schedule: { every, zone: 'UTC', chargeAt: { from: '06:00', until: '10:00' }, anchor: 'atStart' },
  catchUp: 'current',
  dunning,
  trialWithoutCard: 'end',
};
const dayMs = 86_400_000;

const lived = (bank: Bank, end = at('2027-03-03T12:00')) => new Life(terms, bank).until(start).until(end);
const daysOf = ({ charges }: Life) => charges.map((charge) => charge.at.slice(5, 10));

/** The first charge is on 4 February, and the tries are over on 2 March. */
const table: readonly [string, ChargeEnding & { outcome: 'failed' }, string[], string][] = [
  // Planned are 5, 7, 10, 14, 20 and 27 February, and paydays are near.
  [
    'funds',
    { outcome: 'failed', declineClass: 'funds' },
    ['02-05', '02-10', '02-15', '02-20', '02-28'],
    'paused',
  ],
  ['vague', { outcome: 'failed', declineClass: 'vague' }, ['02-05', '02-07', '02-10'], 'paused'],
  ['issuer', { outcome: 'failed', declineClass: 'issuer' }, ['02-12'], 'paused'],
  ['newCard', { outcome: 'failed', declineClass: 'newCard' }, [], 'paused'],
  ['payerPresent', { outcome: 'failed', declineClass: 'payerPresent' }, [], 'paused'],
  ['stopped', { outcome: 'failed', declineClass: 'stopped' }, [], 'paused'],
];

test.each(table)('%s', (declineClass, ending, tries, status) => {
  const life = lived((_, __, now) =>
    declineClass === 'issuer' ? { ...ending, retryAfter: laterBy(now, 7 * dayMs) } : ending,
  );
  expect([daysOf(life), statusOf(life.subscription)]).toEqual([['02-04', ...tries], status]);
});

test('technical is tried on the next day, and the payer is not given up for what a bank could not do', () => {
  const away: ChargeEnding = { outcome: 'failed', declineClass: 'technical' };
  const life = lived((charge) => (charge <= 3 ? away : { outcome: 'captured' }));
  expect(daysOf(life)).toEqual(['02-04', '02-05', '02-06', '02-07']);
  // The payday that a bank missed is not lost: the schedule continues after it.
  const later = lived((charge) => {
    if (charge === 3) return away;
    return charge < 5 ? { outcome: 'failed', declineClass: 'funds' } : { outcome: 'captured' };
  });
  expect(daysOf(later)).toEqual(['02-04', '02-05', '02-10', '02-11', '02-15']);
});

test('configuration is tried once a day, is no try of the payer, and ends nothing', () => {
  const life = lived(() => ({ outcome: 'failed', declineClass: 'configuration' }), at('2027-04-20T12:00'));
  expect(life.charges.length).toBeGreaterThan(70);
  const [open] = life.subscription.open;
  expect([open?.retries, open?.firstFailedAt, open?.givesUpAt]).toEqual([0, undefined, undefined]);
  expect(statusOf(life.subscription)).toBe('pastDue');
});

test('a stop of one charge ends this period alone', () => {
  const stop: ChargeEnding = { outcome: 'failed', declineClass: 'stopped', stop: 'charge' };
  const life = lived((charge) => (charge === 1 ? stop : { outcome: 'captured' }), at('2027-03-05T00:00'));
  expect(life.outcomes()).toEqual(['1 unpaid', '2 paid']);
});

test('a stop on the third try leaves the window, and makes no charge in it', () => {
  const life = lived(
    (charge) => ({ outcome: 'failed', declineClass: charge < 3 ? 'funds' : 'stopped' }),
    at('2027-03-01T00:00'),
  );
  expect(daysOf(life)).toEqual(['02-04', '02-05', '02-10']);
  const [open] = life.subscription.open;
  expect(open).toMatchObject({ declineClass: 'stopped', firstFailedAt: start });
  expect([open?.nextTryAt, open?.givesUpAt]).toEqual([undefined, laterBy(start, 26 * dayMs)]);
});

test('a bank that is away all night makes no payer past due', () => {
  const life = lived((charge) => ({ outcome: charge <= 12 ? 'unsent' : 'captured' }), at('2027-02-05T12:00'));
  expect(life.charges).toHaveLength(13);
  expect(life.facts.some(({ type }) => type === 'charge_failed')).toBe(false);
  expect([life.outcomes(), statusOf(life.subscription)]).toEqual([['1 paid'], 'active']);
});

test('every class has a row', () => {
  const others = ['technical', 'configuration'];
  expect([...table.map(([name]) => name), ...others].toSorted()).toEqual([...declineClasses].toSorted());
});
