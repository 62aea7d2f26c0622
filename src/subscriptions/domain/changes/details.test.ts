// What a merchant changes of a subscription apart from its items, and what is refused.
import { describe, expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { decideCancel, decideCreate, decideWake, decideZone } from '../commands.ts';
import { monthlyPolicy } from '../dunning/dunning.ts';
import { createDue, upcoming } from '../period-rows.ts';
import { evolve, evolveAll, nextAction, type Subscription, type SubscriptionTerms } from '../subscription.ts';
import { decideChange } from './change.ts';
import { decideDetails, detailsOf, type DetailsWish } from './details.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const start = at('2027-01-15T12:00');
const later = at('2027-02-20T12:00');
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 30_000n }],
  schedule: {
    every: { count: 1, unit: 'M' },
    zone: 'Asia/Tokyo',
    chargeAt: { from: '06:00', until: '06:01' },
    anchor: 'atStart',
  },
  catchUp: 'current',
  dunning: monthlyPolicy,
  trialWithoutCard: 'pause',
  metadata: { plan: 'tea' },
};

function created(more: Partial<SubscriptionTerms> = {}): Subscription {
  const decision = decideCreate({ ...terms, ...more }, start);
  if (!decision.ok) throw new Error(decision.refusal.hint);
  const [first, ...others] = decision.value;
  if (!first) throw new Error('A subscription is created by a fact.');
  return evolveAll(evolve(undefined, first, start), others, start);
}

/** Two periods are paid. */
function running(more: Partial<SubscriptionTerms> = {}): Subscription {
  let subscription = created(more);
  for (const now of [start, later]) {
    const due = createDue(subscription, now, 'I');
    subscription = evolveAll(subscription, due, now);
    for (const { number } of subscription.open)
      subscription = evolveAll(subscription, [{ type: 'period_paid', number, by: 'charge' }], now);
  }
  return subscription;
}

function ended(): Subscription {
  const subscription = running();
  const decision = decideCancel(subscription, { when: 'now', by: 'merchant' });
  return evolveAll(subscription, decision.ok ? decision.value : [], later);
}

const decided = (subscription: Subscription, wish: DetailsWish, version = 1) =>
  decideDetails(subscription, { version, ...wish }, later);

function changed(subscription: Subscription, wish: DetailsWish, version = 1): Subscription {
  const decision = decided(subscription, wish, version);
  if (!decision.ok) throw new Error(decision.refusal.hint ?? decision.refusal.code);
  return evolveAll(subscription, decision.value, later);
}

const endsOf = (endsOn: string) => ({ schedule: { ...terms.schedule, ends: { before: endsOn } } });
const startsOf = (subscription: Subscription) => upcoming(subscription, 12).map(({ startsOn }) => startsOn);

describe('a change of details', () => {
  test('is one fact of what differs, and leaves the rest', () => {
    const decision = decided(running(), { metadata: { plan: 'tea' }, catchUp: 'none' });
    expect(decision).toEqual({ ok: true, value: [{ type: 'details_changed', catchUp: 'none' }] });
    const after = changed(running(), { catchUp: 'none' });
    expect(detailsOf(after)).toEqual({ version: 2, metadata: { plan: 'tea' }, catchUp: 'none' });
    const again = changed(after, { metadata: {} }, 2);
    expect(detailsOf(again)).toEqual({ version: 3, metadata: {}, catchUp: 'none' });
  });

  test('is nothing if nothing differs, also for a repeat with an older version', () => {
    const after = changed(running(), { catchUp: 'all' });
    for (const version of [1, 2])
      expect(decided(after, { catchUp: 'all' }, version)).toEqual({ ok: true, value: [] });
    expect(decided(running(), {})).toEqual({ ok: true, value: [] });
  });

  test('is refused if another one came before, and says what differs', () => {
    const after = changed(running(), { catchUp: 'all', metadata: { plan: 'coffee' } });
    const refused = decided(after, { catchUp: 'none', metadata: { plan: 'water' }, endsOn: '2027-06-01' });
    expect(refused).toMatchObject({
      refusal: {
        code: 'subscriptionDetailsChanged',
        details: { detailsVersion: '2', differs: 'metadata, catchUp, endsOn' },
      },
    });
  });

  test('applies to what falls due later', () => {
    const after = changed(running(), { catchUp: 'all' });
    const late = at('2027-06-01T12:00');
    const outcomes = (subscription: Subscription) =>
      createDue(subscription, late, 'I').map(({ period }) => period.outcome);
    expect(outcomes(running())).toEqual(['missed', 'missed', 'open']);
    expect(outcomes(after)).toEqual(['open']);
  });

  test('leaves the merchant their metadata after the end, and nothing else', () => {
    expect(detailsOf(changed(ended(), { metadata: { of: 'old' } })).metadata).toEqual({ of: 'old' });
    for (const wish of [{ catchUp: 'all' as const }, { endsOn: '2027-06-01' }])
      expect(decided(ended(), wish)).toMatchObject({ refusal: { code: 'invalidSubscriptionStatus' } });
  });
});

describe('an end by date', () => {
  test('leaves the periods that start before it, and ends with the last of them', () => {
    const open = running();
    expect(startsOf(open).slice(0, 3)).toEqual(['2027-03-15', '2027-04-15', '2027-05-15']);
    const after = changed(open, { endsOn: '2027-04-16' });
    expect(startsOf(after)).toEqual(['2027-03-15', '2027-04-15']);
    const last = changed(open, { endsOn: '2027-02-22' });
    expect(startsOf(last)).toEqual([]);
    expect(nextAction(last)).toMatchObject({ does: 'end', at: last.latest?.endsAt, reason: 'finished' });
    const over = decideWake(last, at('2027-03-15T12:00'), { invoiceId: 'I', paymentId: 'I.1' });
    expect(over).toEqual([{ type: 'subscription_ended', reason: 'finished' }]);
  });

  test('can be put off again while nothing was agreed', () => {
    const soon = changed(running(), { endsOn: '2027-02-22' });
    expect(startsOf(changed(soon, { endsOn: '2027-04-15' }, 2))).toEqual(['2027-03-15']);
  });

  test.each<[string, Partial<SubscriptionTerms>, string, RegExp]>([
    // In Tokyo it is the 20th.
    ['today', {}, '2027-02-20', /after today/],
    ['in the past', {}, '2027-01-31', /after today/],
    ['too far away', {}, '2037-03-01', /3,660 days/],
    ['a false date', {}, '2027-02-30', /must be a date/],
    ['later than agreed', endsOf('2027-06-01'), '2027-06-02', /agreed to an end on 2027-06-01/],
    [
      'where a number is agreed',
      { schedule: { ...terms.schedule, ends: { periods: 6 } } },
      '2027-06-01',
      /`periods` is agreed/,
    ],
  ])('is refused: %s', (_, more, endsOn, hint) => {
    expect(decided(running(more), { endsOn })).toMatchObject({
      refusal: { code: 'invalidRequest', hint: expect.stringMatching(hint) },
    });
  });

  test('is refused before the payer has started it', () => {
    const incomplete = created({ startsWith: 'firstPayment', firstInvoice: { id: 'F', amountMinor: 1n } });
    expect(decided(incomplete, { endsOn: '2027-06-01' })).toMatchObject({
      refusal: { code: 'invalidSubscriptionStatus' },
    });
  });

  test('is refused if an imported one would end before its first period', () => {
    const imported = created({ firstPeriod: { number: 3, startsOn: '2027-03-15' } });
    expect(nextAction(imported)).toMatchObject({ does: 'createPeriod' });
    expect(decided(imported, { endsOn: '2027-03-15' })).toMatchObject({
      refusal: { code: 'invalidRequest', hint: '`endsOn` leaves no period that is charged.' },
    });
    expect(startsOf(changed(imported, { endsOn: '2027-03-16' }))).toEqual(['2027-03-15']);
  });

  test('is not put off once the last period is over, while an unpaid one delays the end', () => {
    const soon = changed(running(), { endsOn: '2027-03-16' });
    const due = at('2027-03-15T12:00');
    const open = evolveAll(soon, createDue(soon, due, 'I'), due);
    const putOff = (now: Instant) => decideDetails(open, { version: 2, endsOn: '2027-12-01' }, now);
    // In Tokyo it is the 15th.
    expect(putOff(at('2027-04-14T14:59')).ok).toBe(true);
    expect(putOff(at('2027-04-14T15:00'))).toMatchObject({
      refusal: {
        code: 'invalidSubscriptionStatus',
        hint: `The last period is over since ${at('2027-04-14T15:00')}.`,
      },
    });
  });

  test('is refused while a new period waits for its payment, which may start on that day', () => {
    const now = at('2027-02-20T20:00');
    const wanted = { when: 'anchorNow', credit: 'none' } as const;
    const asked = decideChange(running(), wanted, 'C', now);
    const waiting = evolveAll(running(), asked.ok ? asked.value : [], now);
    const moved = decideZone(waiting, 'America/Los_Angeles');
    const west = evolveAll(waiting, moved.ok ? moved.value : [], now);
    expect(west.change?.newPeriod?.startsOn).toBe('2027-02-21');
    const wish = { version: 1, endsOn: '2027-02-21' };
    expect(decideDetails(west, wish, now)).toMatchObject({
      refusal: { code: 'subscriptionChangePending' },
    });
    expect(decideDetails(west, { version: 1, catchUp: 'all' }, now).ok).toBe(true);
  });

  test.each([
    ['2027-01-15', /after today/],
    ['2027-01-20', /no period that is charged/],
    ['2038-01-20', /3,660 days/],
  ])('%s is refused at the creation, with a trial until the 22nd', (endsOn, hint) => {
    const schedule = { ...endsOf(endsOn).schedule, trialDays: 7 };
    expect(decideCreate({ ...terms, schedule }, start)).toMatchObject({
      refusal: { code: 'invalidRequest', hint: expect.stringMatching(hint) },
    });
  });
});
