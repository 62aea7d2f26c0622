// The day of the next charge, and whether the announcement that it needs may still come too late for it.
import { describe, expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { decideCreate, decideWake } from '../commands.ts';
import { monthlyPolicy } from '../dunning/dunning.ts';
import {
  evolve,
  evolveAll,
  type Subscription,
  type SubscriptionFact,
  type SubscriptionTerms,
} from '../subscription.ts';
import { decideDuty, holdUnannounced, nextDuty } from './duties.ts';
import { nextChargeOf } from './next-charge.ts';

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
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 1_000n }],
  schedule: {
    every: { count: 1, unit: 'M' },
    zone: 'UTC',
    chargeAt: window,
    anchor: { day: 17, firstPeriod: 'free' },
    trialDays: 14,
  },
  catchUp: 'current',
  dunning: { ...monthlyPolicy, at: window },
  trialWithoutCard: 'pause',
};
const ids = { invoiceId: 'I', paymentId: 'I.1' };
const dueAt = '2027-02-17T06:00:54.000000Z';
const spread = 54_000;

const created = decideCreate(terms, start);
if (!created.ok || !created.value[0]) throw new Error('Nothing was created.');
const free = woken(
  woken(evolveAll(evolve(undefined, created.value[0], start), created.value.slice(1), start), start),
  laterBy(at('2027-02-14T06:00'), spread),
);

function woken(subscription: Subscription, now: Instant): Subscription {
  return evolveAll(subscription, decideWake(subscription, now, ids), now);
}
function announced(by: 'email' | 'none', now: Instant): Subscription {
  const duty = nextDuty(free);
  if (!duty) throw new Error('Nothing is announced.');
  return evolveAll(free, decideDuty(free, duty, now, { by, version: 1 }), now);
}
const ended = (as: 'accepted' | 'refused') =>
  ({ type: 'announcement_ended', number: 3, as }) satisfies SubscriptionFact;
/** Its charge is due, and waits for its announcement. */
function held(subscription: Subscription): Subscription {
  const facts = holdUnannounced(
    subscription,
    decideWake(subscription, dueAt as Instant, ids),
    dueAt as Instant,
    {
      by: 'email',
      version: 2,
    },
  );
  return evolveAll(subscription, facts, dueAt as Instant);
}

describe('the next charge', () => {
  const early = at('2027-02-10T00:00');
  const late = at('2027-02-15T12:00');
  const pending = announced('email', early);
  const paidToday: Subscription = { ...free, paidByPayer: { number: 1, at: at('2027-02-17T03:00') } };

  test.each<[string, Subscription, now: Instant, day: string, isAwaited: boolean]>([
    ['is on its day, if it can still be announced in time', free, early, dueAt, false],
    [
      'is a day later, if another period was paid on its day',
      paidToday,
      early,
      laterBy(dueAt as Instant, 86_400_000),
      false,
    ],
    ['comes seven days after now, if it cannot', free, late, laterBy(late, 7 * 86_400_000), true],
    ['is on its day while the mail server has time', pending, early, dueAt, false],
    ['waits for a slow mail server', pending, late, laterBy(late, 7 * 86_400_000), true],
    [
      'is on its day once that has accepted',
      evolveAll(pending, [ended('accepted')], early),
      late,
      dueAt,
      false,
    ],
    [
      'comes seven days after a late acceptance',
      evolveAll(pending, [ended('accepted')], late),
      late,
      laterBy(late, 7 * 86_400_000),
      false,
    ],
    ['waits for an address that accepts', evolveAll(pending, [ended('refused')], early), early, dueAt, true],
    ['waits for an address', announced('none', early), early, dueAt, true],
    ['is held', held(pending), dueAt as Instant, laterBy(dueAt as Instant, 7 * 86_400_000), true],
    [
      'is held until the acceptance is seven days old',
      evolveAll(held(pending), [ended('accepted')], laterBy(dueAt as Instant, 86_400_000)),
      laterBy(dueAt as Instant, 86_400_000),
      laterBy(dueAt as Instant, 8 * 86_400_000),
      false,
    ],
    [
      'of a shop that waits for no announcement is on its day',
      evolveAll(pending, [{ type: 'duties_changed', duties: { chargeUnannounced: true } }], late),
      late,
      dueAt,
      false,
    ],
  ])('%s', (_, subscription, now, day, isAwaited) => {
    expect(nextChargeOf(subscription, now)).toEqual({
      at: day,
      amountMinor: 1_000n,
      ...(isAwaited ? { waitsFor: 'announcement' } : {}),
    });
  });

  test('is that of a change which waits for its next try, and not of the next period', () => {
    const paid = woken(free, dueAt as Instant);
    const change = {
      period: 3,
      items: terms.items,
      creditMinor: 100n,
      chargeMinor: 600n,
      fromBalanceMinor: 50n,
    };
    const [invoiceId, retryAt] = ['D', at('2027-02-18T13:00')];
    const failing = (failedFor: string, more: object): SubscriptionFact[] => [
      { type: 'change_charge_started', paymentId: `${invoiceId}.1` },
      { type: 'change_charge_failed', failedFor, ...more },
    ];
    const noon = at('2027-02-18T12:00');
    const payableUntil = at('2027-02-21T12:00');
    const waiting = evolveAll(
      { ...paid, open: [] },
      [
        { type: 'change_started', change: { ...change, invoiceId, payableUntil } },
        ...failing('payerPresent', {}),
        ...failing('unsent', { isUnsent: true, retryAt }),
      ],
      noon,
    );
    expect(nextChargeOf(waiting, noon)).toEqual({ at: retryAt, amountMinor: 450n });
  });
});
