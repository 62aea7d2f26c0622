// Lives of a subscription, each as its rows, its charges and its state.
import { describe, expect, test } from 'vitest';
import { laterBy, type Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import type { Outcome } from '../../refusal.ts';
import { Life, type Bank } from '../../../test/models/subscriptions/lived.ts';
import {
  decideChange,
  decideChangeChargeEnded,
  decideChangeEnded,
  decideChangeFromNextPeriod,
  decideChangeNow,
  decideTakeBackChange,
  dueOf,
  previewChange,
} from './changes/change.ts';
import { decideChargeEnded, type ChargeEnding } from './charge-outcome.ts';
import { wakeTimeOf } from './wake-time.ts';
import {
  decideCancel,
  decideCharge,
  decideChargeMissed,
  decideClose,
  decideConsentEnded,
  decideCreate,
  decideFirstPaymentCaptured,
  decideForgive,
  decideOverdue,
  decidePaid,
  decidePause,
  decideResume,
  decideTry,
  decideUncancel,
  decideWake,
  decideZone,
} from './commands.ts';
import { emailsFor } from './duties/emails.ts';
import { monthlyPolicy, type DunningPolicy } from './dunning/dunning.ts';
import { decideMove } from './dunning/policies.ts';
import { decideNewCard } from './dunning/try-again.ts';
import { upcoming } from './period-rows.ts';
import {
  evolve,
  nextAction,
  statusOf,
  subscriptionLifecycle,
  type Item,
  type SubscriptionFact,
  type SubscriptionTerms,
} from './subscription.ts';

const at = (text: string) => `${text}:00.000000Z` as Instant;
const day = 86_400_000;
const start = at('2027-01-31T12:00');
const item = (priceMinor: bigint) => ({ product: 'Tea', quantity: 1n, priceMinor });
const tea = item(1_000n);
/** At six in the morning, in UTC. */
const window = { from: '06:00', until: '06:01' };
const policy: DunningPolicy = { ...monthlyPolicy, byClass: {}, emailDays: [], tries: [1, 3], at: window };
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [tea],
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: window, anchor: 'atStart' },
  catchUp: 'current',
  dunning: policy,
  trialWithoutCard: 'pause',
};

const termsWith = (more: Partial<SubscriptionTerms>) => ({ ...terms, ...more });
const scheduled = (more: Partial<SubscriptionTerms['schedule']>) =>
  termsWith({ schedule: { ...terms.schedule, ...more } });
const declined = (declineClass: 'funds' | 'newCard' | 'configuration' = 'funds'): ChargeEnding => ({
  outcome: 'failed',
  declineClass,
});
const captured: ChargeEnding = { outcome: 'captured' };
/** The charges that fail, by their count. */
const failing =
  (...charges: number[]): Bank =>
  (charge) =>
    charges.includes(charge) ? declined() : captured;
const alwaysFailing: Bank = () => declined();

function accepted<T>(outcome: Outcome<T, string>): T {
  if (!outcome.ok) throw new Error(outcome.refusal.code);
  return outcome.value;
}
const codeOf = (outcome: Outcome<unknown, string>) => (outcome.ok ? 'accepted' : outcome.refusal.code);
const datesOf = (life: Life) => life.charges.map((charge) => charge.at.slice(0, 16));

describe('a year', () => {
  test('is twelve periods, each charged once at its local time', () => {
    const life = new Life(terms).until(at('2028-01-30T23:00'));
    expect(life.outcomes()).toHaveLength(12);
    expect(datesOf(life).slice(0, 4)).toEqual([
      '2027-01-31T12:00',
      '2027-02-28T06:00',
      '2027-03-31T06:00',
      '2027-04-30T06:00',
    ]);
    expect(new Set(life.charges.map(({ number }) => number)).size).toBe(12);
    expect(statusOf(life.subscription)).toBe('active');
    expect(life.subscription.paidThrough).toBe(at('2028-01-31T00:00'));
    expect(life.wakes).toBe(12);
  });

  test('can be seen ahead', () => {
    const { subscription } = new Life(terms).until(start);
    const dates = upcoming(subscription, 3).map(({ number, startsOn, amountMinor }) => [
      number,
      startsOn,
      amountMinor,
    ]);
    expect(dates).toEqual([
      [2, '2027-02-28', 1_000n],
      [3, '2027-03-31', 1_000n],
      [4, '2027-04-30', 1_000n],
    ]);
  });

  test('ends after a count of instalments, the last of which takes the rest', () => {
    const items = [{ ...item(333n), lastPriceMinor: 334n }];
    const life = new Life({ ...scheduled({ ends: { periods: 3 } }), items }).until(at('2027-04-29T23:59'));
    expect([...life.rows.values()].map(({ amountMinor }) => amountMinor)).toEqual([333n, 333n, 334n]);
    expect(statusOf(life.subscription)).toBe('active');
    life.until(at('2028-04-30T00:00'));
    expect([life.subscription.phase, life.subscription.endedFor]).toEqual(['ended', 'finished']);
    expect(upcoming(life.subscription, 3)).toEqual([]);
  });
});

describe('the start', () => {
  const withPayment = termsWith({ startsWith: 'firstPayment' });
  const paid = { invoiceId: 'I', amountMinor: 1_000n };

  test('with a first payment waits for it, and counts from its day', () => {
    const life = new Life(withPayment).until(at('2027-02-01T11:59'));
    expect(statusOf(life.subscription)).toBe('incomplete');
    life.take(
      accepted(decideFirstPaymentCaptured(life.subscription, paid, at('2027-02-01T11:00'))),
      at('2027-02-01T11:00'),
    );
    expect(life.rows.get(1)).toMatchObject({ startsOn: '2027-02-01', outcome: 'paid', invoiceId: 'I' });
    life.until(at('2027-03-01T06:01'));
    expect(datesOf(life)).toEqual(['2027-03-01T06:00']);
  });

  test.each([
    ['at its anchor', scheduled({ ends: { before: '2027-02-01' } }).schedule],
    [
      'in a short first period',
      scheduled({ anchor: { day: 1, firstPeriod: 'full' }, ends: { before: '2027-02-01' } }).schedule,
    ],
  ])(
    'with a first payment after the last day for a start keeps the day of the creation: %s',
    (_, schedule) => {
      const life = new Life({ ...withPayment, schedule });
      const now = at('2027-02-01T11:00');
      life.take(accepted(decideFirstPaymentCaptured(life.subscription, paid, now)), now);
      expect(life.rows.get(1)).toMatchObject({ startsOn: '2027-01-31', outcome: 'paid', invoiceId: 'I' });
      expect(life.until(at('2027-12-01T00:00')).subscription.endedFor).toBe('finished');
    },
  );

  test('ends after 24 hours without it, and is never revived', () => {
    const life = new Life(withPayment).until(at('2027-02-01T12:00'));
    expect(life.subscription.endedFor).toBe('firstPaymentMissing');
    expect(codeOf(decideFirstPaymentCaptured(life.subscription, paid, at('2027-02-01T12:00')))).toBe(
      'invalidSubscriptionStatus',
    );
  });

  test('with a trial charges nothing before its end', () => {
    const life = new Life(scheduled({ trialDays: 14 })).until(at('2027-02-13T23:00'));
    expect([statusOf(life.subscription), life.outcomes(), life.charges]).toEqual([
      'trialing',
      ['1 paid'],
      [],
    ]);
    life.until(at('2027-02-14T06:01'));
    expect([statusOf(life.subscription), datesOf(life)]).toEqual(['active', ['2027-02-14T06:00']]);
  });

  const trial = scheduled({ trialDays: 14 });
  test.each([
    ['pause', 'paused'],
    ['end', 'ended'],
    ['unpaid', 'unpaid'],
  ] as const)('without a card at the end of the trial follows its own policy: %s', (policyOfTrial, phase) => {
    const noCard: Bank = () => ({ outcome: 'refused', code: 'customerNotReady' });
    const life = new Life({ ...trial, trialWithoutCard: policyOfTrial }, noCard);
    life.until(at('2027-03-01T00:00'));
    expect([life.subscription.phase, life.outcomes()]).toEqual([phase, ['1 paid', '2 unpaid']]);
  });

  test.each(['recurrentCardExpired', 'recurrentStopped'] as const)(
    'with a card that can no longer be charged at the end of the trial waits for another one: %s',
    (code) => {
      const bank: Bank = (charge) => (charge === 1 ? { outcome: 'refused', code } : captured);
      const life = new Life({ ...trial, trialWithoutCard: 'end' }, bank).until(at('2027-02-20T00:00'));
      expect([statusOf(life.subscription), life.outcomes()]).toEqual(['pastDue', ['1 paid', '2 open']]);
      life.take(decideNewCard(life.subscription, 'another', life.now), at('2027-02-20T00:00'));
      life.until(at('2027-02-21T00:00'));
      expect([statusOf(life.subscription), life.outcomes()]).toEqual(['active', ['1 paid', '2 paid']]);
    },
  );

  const unusable = ['customerNotReady', 'recurrentCardExpired', 'recurrentStopped'] as const;
  test.each(unusable)(
    'is over for the first charge: without a usable card, later ones are pastDue: %s',
    (code) => {
      const bank: Bank = (charge) => (charge === 1 ? captured : { outcome: 'refused', code });
      const life = new Life({ ...trial, trialWithoutCard: 'end' }, bank).until(at('2027-03-20T00:00'));
      expect([statusOf(life.subscription), life.outcomes()]).toEqual([
        'pastDue',
        ['1 paid', '2 paid', '3 open'],
      ]);
    },
  );

  test.each([
    ['free', 0n, 'paid'],
    ['full', 1_000n, 'paid'],
    ['proRata', 32n, 'paid'],
  ] as const)('of a short first period that is %s', (firstPeriod, amountMinor, outcome) => {
    const life = new Life(scheduled({ anchor: { day: 1, firstPeriod } })).until(start);
    expect(life.rows.get(1)).toMatchObject({ kind: 'first', amountMinor, outcome });
    expect(life.charges).toHaveLength(firstPeriod === 'free' ? 0 : 1);
  });

  test('of an import keeps numbers and dates, and creates nothing before', () => {
    const life = new Life(termsWith({ firstPeriod: { number: 8, startsOn: '2027-02-10' } })).until(
      at('2027-03-11T00:00'),
    );
    expect([life.outcomes(), datesOf(life)]).toEqual([
      ['8 paid', '9 paid'],
      ['2027-02-10T06:00', '2027-03-10T06:00'],
    ]);
  });

  test.each<[string, Partial<SubscriptionTerms>, string]>([
    ['no items', { items: [] }, 'invalidRequest'],
    ['nothing to pay', { items: [item(0n)] }, 'invalidRequest'],
    ['a negative price', { items: [item(-1n), tea] }, 'invalidRequest'],
    ['too much', { items: [item(1_000_000_000_000n)] }, 'invalidRequest'],
    ['a negative last price', { items: [{ ...tea, lastPriceMinor: -1n }] }, 'invalidRequest'],
    [
      'a last price that is too much',
      { items: [{ ...tea, lastPriceMinor: 1_000_000_000_000n }] },
      'invalidRequest',
    ],
    [
      'an import without a card',
      { startsWith: 'firstPayment', firstPeriod: { number: 2, startsOn: '2027-02-01' } },
      'invalidRequest',
    ],
    ['an import of period 0', { firstPeriod: { number: 0, startsOn: '2027-02-01' } }, 'invalidRequest'],
    ['an import on no day', { firstPeriod: { number: 2, startsOn: '2027-02-30' } }, 'invalidRequest'],
    ['a zone on no map', { schedule: { ...terms.schedule, zone: 'Mars' } }, 'invalidRequest'],
    [
      'an end before the start',
      { schedule: { ...terms.schedule, ends: { before: '2027-01-31' } } },
      'invalidRequest',
    ],
    ['a quick policy', { dunning: { ...policy, tries: [1, 1] } }, 'invalidDunningPolicy'],
  ])('with %s is refused', (_, more, code) => {
    expect(codeOf(decideCreate(termsWith(more), start))).toBe(code);
  });
});

describe('a failure', () => {
  test('is retried by the policy, and healed', () => {
    const life = new Life(terms, failing(1, 2)).until(at('2027-02-01T07:00'));
    expect(statusOf(life.subscription)).toBe('pastDue');
    life.until(at('2027-02-10T00:00'));
    expect(datesOf(life)).toEqual(['2027-01-31T12:00', '2027-02-01T06:00', '2027-02-03T06:00']);
    expect([statusOf(life.subscription), life.outcomes()]).toEqual(['active', ['1 paid']]);
    expect(
      new Set(life.facts.flatMap((fact) => (fact.type === 'period_created' ? [fact.period.invoiceId] : [])))
        .size,
    ).toBe(1);
  });

  test('that is never healed leaves the subscription unpaid, and later periods are skipped', () => {
    const life = new Life(terms, failing(1, 2, 3)).until(at('2027-05-01T00:00'));
    expect([life.subscription.phase, life.outcomes(), life.charges.length]).toEqual([
      'unpaid',
      ['1 unpaid'],
      3,
    ]);
    life.take(decidePaid(life.subscription, 1, 'payer', at('2027-05-01T00:00')), at('2027-05-01T00:00'));
    expect(life.outcomes()).toEqual(['1 paid', '2 skipped', '3 skipped', '4 skipped']);
    life.until(at('2027-05-31T07:00'));
    expect([statusOf(life.subscription), life.charges.at(-1)?.at.slice(0, 10)]).toEqual([
      'active',
      '2027-05-31',
    ]);
  });

  test.each([
    { phase: 'unpaid', until: '2027-05-01T00:00', after: 'ended', rows: ['1 unpaid'] },
    { phase: 'running', until: '2027-02-02T00:00', after: 'active', rows: ['1 unpaid'] },
  ])('whose invoice is overdue is unpaid for good: $phase', ({ phase, until, after, rows }) => {
    const life = new Life(terms, failing(1, 2, 3)).until(at(until));
    expect(life.subscription.phase).toBe(phase);
    life.take(decideOverdue(life.subscription, 1, at(until)), at(until));
    expect([statusOf(life.subscription), life.outcomes()]).toEqual([after, rows]);
    expect(decideOverdue(life.subscription, 1, at(until))).toEqual([]);
    expect(life.subscription.endedFor).toBe(after === 'ended' ? 'unpaid' : undefined);
  });

  describe('of a former stack', () => {
    const now = at('2027-02-28T07:00');
    function waitsForFirst(): Life {
      const stacked = termsWith({ dunning: { ...policy, tries: [], windowDays: 30, stack: true } });
      const life = new Life(stacked, failing(1, 2)).until(now);
      life.take([{ type: 'subscription_unpaid', number: 1 }], now);
      expect(life.outcomes()).toEqual(['1 unpaid', '2 open']);
      return life;
    }

    test('waits for the older one when the invoice of the younger is overdue', () => {
      const life = waitsForFirst();
      life.take(decideOverdue(life.subscription, 2, now), now);
      expect([life.subscription.phase, life.outcomes()]).toEqual(['unpaid', ['1 unpaid', '2 unpaid']]);
      expect(nextAction(life.subscription)).toBeUndefined();
      life.take(decidePaid(life.subscription, 1, 'payer', now), now);
      expect([statusOf(life.subscription), life.outcomes()]).toEqual(['active', ['1 paid', '2 unpaid']]);
    });

    test('tells the payer once that the older one is unpaid', () => {
      const life = waitsForFirst();
      const paid = decidePaid(life.subscription, 2, 'payer', now);
      expect(paid.map(({ type }) => type)).toEqual(['period_paid', 'subscription_unpaid']);
      const kinds = emailsFor(life.subscription, paid, now).map(({ kind }) => kind);
      expect(kinds).not.toContain('notCollected');
    });
  });

  test.each(['payment', 'forgiveness'] as const)(
    'that is settled by %s after more than a hundred periods charges none of them',
    (by) => {
      const short = scheduled({ every: { count: 3, unit: 'D' } });
      const life = new Life({ ...short, dunning: { ...policy, tries: [], windowDays: 1 } }, failing(1));
      const now = laterBy(start, 353 * day);
      life.until(now);
      expect([life.subscription.phase, life.outcomes()]).toEqual(['unpaid', ['1 unpaid']]);
      const settled = {
        payment: () => decidePaid(life.subscription, 1, 'payer', now),
        forgiveness: () => accepted(decideForgive(life.subscription, 1, now)),
      };
      life.take(settled[by](), now);
      life.wakeAt(now);
      expect([life.outcomes().filter((row) => row.endsWith('skipped')).length, life.charges.length]).toEqual([
        117, 1,
      ]);
    },
  );

  test.each([
    ['end', 'ended', '1 unpaid'],
    ['pause', 'paused', '1 unpaid'],
  ] as const)('ends by the final action: %s', (action, phase, row) => {
    const life = new Life(termsWith({ dunning: { ...policy, finally: action } }), alwaysFailing).until(
      at('2027-05-01T00:00'),
    );
    expect([life.subscription.phase, life.outcomes()]).toEqual([phase, [row]]);
  });

  test('that needs another card is not retried, until there is one', () => {
    const life = new Life(terms, (charge) => (charge === 1 ? declined('newCard') : captured)).until(
      at('2027-02-10T00:00'),
    );
    expect([statusOf(life.subscription), life.charges.length]).toEqual(['pastDue', 1]);
    life.take(accepted(decideTry(life.subscription, 'newCard')), at('2027-02-10T00:00'));
    life.until(at('2027-02-10T00:00'));
    expect([statusOf(life.subscription), life.charges.length]).toEqual(['active', 2]);
  });

  test('of Mandate or the merchant ends nothing, and is tried each day until it is corrected', () => {
    const corrected = at('2027-06-01T00:00');
    const life = new Life(terms, (_charge, _period, now) =>
      now < corrected ? declined('configuration') : captured,
    ).until(at('2027-05-31T23:00'));
    expect([statusOf(life.subscription), life.outcomes()]).toEqual(['pastDue', ['1 open']]);
    const gaps = life.charges
      .slice(1)
      .map((charge, index) => charge.at === laterBy(life.charges[index]!.at, day));
    expect(new Set(gaps)).toEqual(new Set([true]));
    life.until(laterBy(corrected, 2 * day));
    expect(life.outcomes()).toEqual(['1 paid', '2 missed', '3 missed', '4 missed', '5 paid']);
  });

  test.each<[string, ChargeEnding]>([
    ['a stale mandate', { outcome: 'refused', code: 'recurrentParentStale' }],
    ['the bank', { outcome: 'failed', declineClass: 'configuration' }],
  ])('of a configuration, by %s, waits for a day', (_, ending) => {
    const life = new Life(terms, () => ending).until(start);
    expect(nextAction(life.subscription)).toEqual({ does: 'charge', number: 1, at: laterBy(start, day) });
  });

  test('of Mandate or the merchant is no try of the payer', () => {
    const answers = [declined(), declined('configuration')];
    const limited = termsWith({ dunning: { ...policy, byClass: { funds: { maxTries: 2 } } } });
    const life = new Life(limited, (charge) => answers[charge - 1] ?? declined()).until(
      at('2027-02-01T07:00'),
    );
    const now = at('2027-02-01T12:00');
    life.take(accepted(decideTry(life.subscription, 'merchant')), now);
    life.until(now);
    const next = nextAction(life.subscription);
    expect([life.charges.length, next?.does, next?.at.slice(0, 16)]).toEqual([
      3,
      'charge',
      '2027-02-03T06:00',
    ]);
  });

  test('that starts no retries is put off within the days of the policy', () => {
    const life = new Life(terms, () => declined('configuration')).until(start);
    const putOff = (afterDays: number) =>
      codeOf(decideCharge(life.subscription, { number: 1, afterDays, invoiceId: 'I' }, start));
    expect([putOff(policy.windowDays), putOff(policy.windowDays + 1)]).toEqual([
      'accepted',
      'invalidRequest',
    ]);
  });

  test('that stops this charge alone leaves the next period', () => {
    const stopped: ChargeEnding = { outcome: 'failed', declineClass: 'stopped', stop: 'charge' };
    const life = new Life(terms, (charge) => (charge === 1 ? stopped : captured)).until(
      at('2027-03-01T00:00'),
    );
    expect([statusOf(life.subscription), life.outcomes()]).toEqual(['active', ['1 unpaid', '2 paid']]);
  });

  test.each([28, 30, 31])('of a month of %i days is over before the next period is charged', (days) => {
    const createdAt = { 28: at('2027-02-01T12:00'), 30: at('2027-04-01T12:00'), 31: at('2027-03-01T12:00') }[
      days
    ]!;
    const pausing = termsWith({ createdAt, dunning: { ...policy, finally: 'unpaid' } });
    const life = new Life(pausing, failing(1, 2, 3));
    const next = laterBy(createdAt, days * day);
    life.until(laterBy(next, -day));
    expect(life.subscription.phase).toBe('unpaid');
    life.take(accepted(decideForgive(life.subscription, 1, laterBy(next, -day))), laterBy(next, -day));
    life.until(next);
    expect(life.outcomes()).toEqual(['1 forgiven', '2 paid']);
  });

  test('that was not sent is no failure', () => {
    const night: Bank = (charge) => (charge < 9 ? { outcome: 'unsent' } : captured);
    const life = new Life(terms, night).until(at('2027-01-31T19:00'));
    expect([statusOf(life.subscription), life.charges.length]).toEqual(['active', 8]);
    life.until(at('2027-01-31T20:00'));
    expect([life.outcomes(), statusOf(life.subscription)]).toEqual([['1 paid'], 'active']);
  });

  test.each([
    'recurrentRetryTooEarly',
    'recurrentRetryLimitReached',
    'recurrentTerminalPaused',
    'recurrentPeriodAlreadyCharged',
  ] as const)('of a charge that %s refuses waits for the time it names', (code) => {
    const retryAfter = at('2027-02-01T10:45');
    const refused: ChargeEnding = { outcome: 'refused', code, retryAfter };
    const life = new Life(terms, (charge) => (charge === 1 ? refused : captured)).until(start);
    expect([statusOf(life.subscription), nextAction(life.subscription)?.at]).toEqual(['active', retryAfter]);
  });

  describe('whose last try is postponed beyond the end of dunning', () => {
    const givesUp = at('2027-02-26T12:00');
    const postponedTo = (retryAfter: Instant, ending: ChargeEnding) =>
      new Life(terms, (charge) => (charge === 1 ? declined() : { ...ending, retryAfter }));

    test.each(['recurrentRetryTooEarly', 'recurrentRetryLimitReached'] as const)(
      'by %s is given up in its time',
      (code) => {
        const life = postponedTo(givesUp, { outcome: 'refused', code }).until(at('2027-02-02T00:00'));
        expect(nextAction(life.subscription)).toEqual({ does: 'giveUp', number: 1, at: givesUp });
        expect(life.until(givesUp).subscription.phase).toBe('unpaid');
        const earlier = laterBy(givesUp, -1);
        const other = postponedTo(earlier, { outcome: 'refused', code }).until(at('2027-02-02T00:00'));
        expect(nextAction(other.subscription)).toEqual({ does: 'charge', number: 1, at: earlier });
      },
    );

    test.each<ChargeEnding>([
      { outcome: 'unsent' },
      { outcome: 'refused', code: 'recurrentTerminalPaused' },
      { outcome: 'refused', code: 'recurrentPeriodAlreadyCharged' },
    ])('by no fault of the payer is made first: %o', (ending) => {
      const life = postponedTo(laterBy(givesUp, day), ending).until(at('2027-02-02T00:00'));
      expect(nextAction(life.subscription)).toEqual({ does: 'charge', number: 1, at: laterBy(givesUp, day) });
      expect(life.until(givesUp).subscription.phase).toBe('running');
    });

    test('by the bank ends dunning if it fails', () => {
      const answers: ChargeEnding[] = [
        declined(),
        { outcome: 'unsent', retryAfter: laterBy(givesUp, day) },
        declined(),
      ];
      const life = new Life(terms, (charge) => answers[charge - 1]).until(laterBy(givesUp, day));
      expect([life.subscription.phase, life.charges.length]).toEqual(['unpaid', 3]);
    });
  });

  test.each([
    ['recurrentConsentRevoked', 'ended', 'merchant'],
    ['recurrentConsentExpired', 'ended', 'consentEnded'],
    ['recurrentStopped', 'pastDue', 'newCard'],
    ['recurrentCardExpired', 'pastDue', 'newCard'],
    ['recurrentAmountAboveConsent', 'pastDue', 'payerPresent'],
    ['recurrentParentStale', 'pastDue', 'configuration'],
    ['recurrentRetryWindowExpired', 'unpaid', undefined],
    ['customerNotReady', 'pastDue', 'newCard'],
  ] as const)('refused by %s is %s', (code, status, what) => {
    const { subscription } = new Life(terms, () => ({ outcome: 'refused', code })).until(start);
    const why = status === 'ended' ? subscription.endedFor : subscription.open[0]?.declineClass;
    expect(statusOf(subscription)).toBe(status);
    if (what !== undefined) expect(why).toBe(what);
  });

  test.each([
    ['payer', 'payer'],
    ['merchant', 'merchant'],
    ['operator', 'merchant'],
  ] as const)('refused because the %s revoked the consent ends by the %s', (revokedBy, reason) => {
    const life = new Life(terms, () => ({ outcome: 'refused', code: 'recurrentConsentRevoked', revokedBy }));
    expect(life.until(start).subscription.endedFor).toBe(reason);
  });

  test.each([
    ['a stop of the bank', { outcome: 'failed', declineClass: 'stopped' }, 'stopped'],
    ['another card that never comes', { outcome: 'failed', declineClass: 'newCard' }, 'unpaid'],
    ['the time of retries', { outcome: 'refused', code: 'recurrentRetryWindowExpired' }, 'unpaid'],
  ] as const)('by %s says so at the end', (_, ending, reason) => {
    const life = new Life(termsWith({ dunning: { ...policy, finally: 'end' } }), () => ending);
    expect(life.until(at('2027-05-01T00:00')).subscription.endedFor).toBe(reason);
  });

  test('with a stack keeps each period, and tries the oldest first, one a day', () => {
    const stacked = termsWith({ dunning: { ...policy, tries: [], windowDays: 30, stack: true } });
    const life = new Life(stacked, failing(1)).until(at('2027-02-28T07:00'));
    expect([life.outcomes(), life.charges.length]).toEqual([['1 open', '2 open'], 1]);
    const now = at('2027-02-28T12:00');
    life.take(accepted(decideTry(life.subscription, 'newCard')), now);
    life.until(at('2027-03-02T00:00'));
    expect(life.charges.slice(1).map((one) => `${one.number} ${one.at.slice(0, 10)}`)).toEqual([
      '1 2027-02-28',
      '2 2027-03-01',
    ]);
  });

  test.each(['stack', 'catchUp'] as const)('what the payer pays is the one of its day: %s', (by) => {
    const stacked = termsWith({ dunning: { ...policy, tries: [], windowDays: 30, stack: true } });
    const life = new Life(by === 'stack' ? stacked : termsWith({ catchUp: 'all' }), failing(1, 2, 3));
    life.until(at('2027-02-03T07:00'));
    const now = at('2027-02-28T12:00');
    if (by === 'stack') life.until(at('2027-02-28T07:00'));
    life.take(decidePaid(life.subscription, 1, 'payer', now), now);
    life.until(at('2027-03-02T00:00'));
    expect(life.charges.at(-1)).toMatchObject({ number: 2, at: '2027-03-01T06:00:54.000000Z' });
  });

  test('with a stack gives up one period, and the next is charged', () => {
    const stacked = termsWith({ dunning: { ...policy, tries: [], windowDays: 10, stack: true } });
    const life = new Life(stacked, failing(1)).until(at('2027-02-28T07:00'));
    expect([life.outcomes(), statusOf(life.subscription)]).toEqual([['1 unpaid', '2 paid'], 'active']);
  });
});

describe('a stack that is moved to a policy without one, and is unpaid', () => {
  const weekly = scheduled({ every: { count: 1, unit: 'W' } });
  const stacked = { ...weekly, dunning: { ...policy, stack: true } };
  const alone = { name: 'alone', policy: { ...policy, name: 'alone', windowDays: 5 } };
  const [now, later] = [at('2027-02-10T00:00'), at('2027-03-01T00:00')];
  const acts = {
    payment: (life: Life, number: number) => decidePaid(life.subscription, number, 'payer', life.now),
    forgiveness: (life: Life, number: number) => accepted(decideForgive(life.subscription, number, life.now)),
    'payment elsewhere': (life: Life, number: number) =>
      accepted(decideClose(life.subscription, { number, as: 'paidElsewhere' }, life.now)),
  };

  function moved(bank: Bank = (charge) => (charge <= 3 ? declined() : captured)): Life {
    const life = new Life(stacked, bank);
    life.until(at('2027-02-07T06:01'));
    life.take(accepted(decideMove(life.subscription, alone, life.now)), life.now);
    return life.until(at('2027-02-09T00:00'));
  }

  test.each([
    ['payment', '2 paid'],
    ['forgiveness', '2 forgiven'],
    ['payment elsewhere', '2 paid'],
  ] as const)('waits for its oldest period after the %s of a younger one', (by, row) => {
    const life = moved();
    expect([life.subscription.phase, life.outcomes()]).toEqual(['unpaid', ['1 unpaid', '2 open']]);
    life.take(acts[by](life, 2), now);
    life.until(later);
    expect([life.subscription.phase, life.outcomes()]).toEqual(['unpaid', ['1 unpaid', row]]);
    life.now = later;
    life.take(acts[by](life, 1), later);
    life.until(at('2027-03-07T07:00'));
    expect([life.outcomes().slice(2), statusOf(life.subscription)]).toEqual([
      ['3 skipped', '4 skipped', '5 skipped', '6 paid'],
      'active',
    ]);
  });

  test('still waits for a charge of its oldest period when a younger one is paid meanwhile', () => {
    const life = moved((charge) => (charge <= 3 ? declined() : undefined));
    const wish = { number: 1, afterDays: 0, invoiceId: 'I' };
    life.take(accepted(decideCharge(life.subscription, wish, now)), now);
    life.wakeAt(now);
    life.take(acts.payment(life, 2), now);
    const { paymentId: charging } = life.charges.at(-1)!;
    expect(life.subscription.open).toMatchObject([{ number: 1, outcome: 'unpaid', charging }]);
    expect(codeOf(decideCharge(life.subscription, wish, now))).toBe('subscriptionChargePending');
  });

  test('keeps its pause until then', () => {
    const life = moved();
    const pause = { by: 'merchant', resumesAt: at('2027-06-01T00:00') } as const;
    life.subscription = { ...life.subscription, pause };
    life.take(acts.payment(life, 2), now);
    expect([life.subscription.phase, life.subscription.pause]).toEqual(['unpaid', pause]);
    life.take(acts.payment(life, 1), now);
    expect([life.subscription.phase, life.subscription.pause]).toEqual(['paused', pause]);
  });
});

describe('a stack whose final action is the end', () => {
  const stacked = termsWith({
    dunning: { ...policy, tries: [], windowDays: 30, stack: true, finally: 'end' },
  });

  test('closes all that is open', () => {
    const life = new Life(stacked, alwaysFailing).until(at('2027-05-01T00:00'));
    expect([life.subscription.endedFor, life.outcomes(), life.subscription.open]).toEqual([
      'unpaid',
      ['1 unpaid', '2 unpaid'],
      [],
    ]);
  });

  test('closes all when the network allows no try any more', () => {
    const life = new Life(stacked, (charge) =>
      charge === 1 ? declined() : { outcome: 'refused', code: 'recurrentRetryWindowExpired' },
    ).until(at('2027-02-28T07:00'));
    const now = at('2027-02-28T12:00');
    life.take(accepted(decideTry(life.subscription, 'newCard')), now);
    life.until(now);
    expect([life.subscription.endedFor, life.outcomes(), life.subscription.open]).toEqual([
      'unpaid',
      ['1 unpaid', '2 unpaid'],
      [],
    ]);
  });
});

describe('a charge at the bank', () => {
  const silent: Bank = () => undefined;
  const sent = () => new Life(terms, silent).until(start);

  test('is waited for, and no period is created', () => {
    expect(nextAction(sent().subscription)).toBeUndefined();
  });

  test('of another payment, or a second outcome, changes nothing', () => {
    const life = sent();
    const charge = life.charges[0]!;
    expect(decideChargeEnded(life.subscription, { ...charge, paymentId: 'other' }, captured, start)).toEqual(
      [],
    );
    life.take(decideChargeEnded(life.subscription, charge, captured, start), start);
    expect(decideChargeEnded(life.subscription, charge, declined(), start)).toEqual([]);
  });

  test('may be overtaken by the payer, and then its failure is nothing', () => {
    const life = sent();
    life.take(decidePaid(life.subscription, 1, 'payer', start), start);
    expect(decidePaid(life.subscription, 1, 'charge', start)).toEqual([]);
    expect(decideChargeEnded(life.subscription, life.charges[0]!, declined(), start)).toEqual([]);
    expect(life.outcomes()).toEqual(['1 paid']);
  });

  test.each([
    [captured, '1 paid'],
    [declined(), '1 unpaid'],
    [{ outcome: 'unsent' } as const, '1 unpaid'],
  ])('is finished after a cancellation: %o', (ending, row) => {
    const life = sent();
    life.take(accepted(decideCancel(life.subscription, { when: 'now', by: 'payer' })), start);
    expect([life.subscription.phase, life.outcomes()]).toEqual(['ended', ['1 open']]);
    life.take(decideChargeEnded(life.subscription, life.charges[0]!, ending, start), start);
    expect([life.outcomes(), nextAction(life.subscription)]).toEqual([[row], undefined]);
  });

  test('cannot be forgiven or tried meanwhile', () => {
    const { subscription } = sent();
    expect(codeOf(decideForgive(subscription, 1, start))).toBe('subscriptionChargePending');
    expect(codeOf(decideTry(subscription, 'merchant'))).toBe('subscriptionChargePending');
    expect(
      codeOf(decidePause(subscription, { by: 'payer', openPeriods: 'forgive', invoiceId: 'I' }, start)),
    ).toBe('subscriptionChargePending');
  });
});

describe('a pause', () => {
  const pause = (life: Life, now: Instant, resumesAt?: Instant) =>
    life.take(
      accepted(
        decidePause(
          life.subscription,
          { by: 'payer', openPeriods: 'keepTrying', invoiceId: 'I', ...(resumesAt ? { resumesAt } : {}) },
          now,
        ),
      ),
      now,
    );

  test('skips the periods that it covers, and numbers and dates continue', () => {
    const life = new Life(terms).until(at('2027-02-10T00:00'));
    pause(life, at('2027-02-10T00:00'), at('2027-05-31T00:00'));
    expect(upcoming(life.subscription, 1)[0]).toMatchObject({ number: 5, startsOn: '2027-05-31' });
    life.until(at('2027-05-31T07:00'));
    expect(life.outcomes()).toEqual(['1 paid', '2 skipped', '3 skipped', '4 skipped', '5 paid']);
    expect(datesOf(life)).toEqual(['2027-01-31T12:00', '2027-05-31T06:00']);
  });

  test.each([
    ['at the instant a period starts charges it', at('2027-02-28T00:00'), ['1 paid', '2 paid']],
    ['a minute later charges the rest of it', at('2027-02-28T00:01'), ['1 paid', '2 paid']],
    [
      'a minute before its end charges nothing for so little',
      at('2027-03-30T23:59'),
      ['1 paid', '2 paid', '3 paid'],
    ],
  ])('that ends %s', (_, resumesAt, rows) => {
    const life = new Life(terms).until(at('2027-02-10T00:00'));
    pause(life, at('2027-02-10T00:00'), resumesAt);
    expect(life.until(at(rows.length > 2 ? '2027-04-01T00:00' : '2027-03-01T00:00')).outcomes()).toEqual(
      rows,
    );
  });

  test('over a renewal makes no period free, and is not charged', () => {
    const life = new Life(terms).until(at('2027-02-10T00:00'));
    // February's period starts on the 28th and has 31 days.
    pause(life, at('2027-02-27T00:00'), at('2027-03-07T12:00'));
    expect(upcoming(life.subscription, 2)).toMatchObject([
      { number: 2, dueAt: at('2027-03-07T12:00'), amountMinor: 758n },
      { number: 3, amountMinor: 1_000n },
    ]);
    life.until(at('2027-04-01T00:00'));
    expect(life.outcomes()).toEqual(['1 paid', '2 paid', '3 paid']);
    expect(datesOf(life).slice(1)).toEqual(['2027-03-07T12:00', '2027-03-31T06:00']);
    expect(
      life.facts.flatMap((fact) => (fact.type === 'period_created' ? [fact.period.amountMinor] : [])),
    ).toEqual([1_000n, 758n, 1_000n]);
  });

  test('that ends before the hours of charges asks for the rest at once, and charges it in them', () => {
    const life = new Life(terms).until(at('2027-02-10T00:00'));
    pause(life, at('2027-02-27T00:00'), at('2027-02-28T01:00'));
    life.until(at('2027-02-28T05:59'));
    expect([life.outcomes(), life.charges.length]).toEqual([['1 paid', '2 open'], 1]);
    life.until(at('2027-03-01T00:00'));
    expect([life.outcomes()[1], datesOf(life)[1]]).toEqual(['2 paid', '2027-02-28T06:00']);
  });

  test('of twenty years is made up for in steps, and one invoice', () => {
    const weekly = scheduled({ every: { count: 1, unit: 'W' } });
    const life = new Life({ ...weekly, dunning: { ...policy, windowDays: 4 } });
    life.until(start);
    pause(life, at('2027-02-01T00:00'));
    const now = at('2047-02-01T00:00');
    const ids = { invoiceId: 'R', paymentId: 'R.1' };
    let facts = accepted(decideResume(life.subscription, ids, now));
    const steps: number[] = [];
    while (life.subscription.phase === 'paused') {
      steps.push(facts.length);
      life.take(facts, now);
      facts = decideWake(life.subscription, now, ids);
    }
    expect(steps).toEqual([101, ...Array.from({ length: 9 }, () => 100), 44]);
    expect(life.subscription.phase).toBe('running');
    expect(life.outcomes().filter((row) => !row.endsWith('skipped'))).toEqual(['1 paid', '1044 open']);
  });

  test('as long an outage is made up for in steps too, and the newest period is charged', () => {
    const weekly = scheduled({ every: { count: 1, unit: 'W' } });
    const life = new Life({ ...weekly, dunning: { ...policy, windowDays: 4 } }).until(start);
    const now = at('2047-02-01T00:00');
    const steps: number[] = [];
    while ((nextAction(life.subscription)?.at ?? now) < now) {
      const facts = decideWake(life.subscription, now, { invoiceId: 'N', paymentId: 'N.1' });
      steps.push(facts.length);
      life.take(facts, now);
    }
    // The last two of the last step are the newest period and its charge.
    expect(steps).toEqual([...Array.from({ length: 10 }, () => 100), 44]);
    expect(life.subscription.missed).toHaveLength(100);
    expect(life.outcomes().filter((row) => !row.endsWith('missed'))).toEqual(['1 paid', '1044 paid']);
  });

  test('leaves the rest of a period to the merchant while an older one is unpaid', () => {
    const answers: ChargeEnding[] = [{ outcome: 'refused', code: 'recurrentPeriodAlreadyCharged' }];
    const life = new Life(terms, () => answers[0] as ChargeEnding);
    life.wake(start);
    pause(life, at('2027-02-20T00:00'));
    const now = at('2027-03-07T12:00');
    life.take(accepted(decideResume(life.subscription, { invoiceId: 'R' }, now)), now);
    expect(life.outcomes()).toEqual(['1 open', '2 missed']);
  });

  test.each([
    ['200 ms', 200, ['1 paid', '2 paid']],
    ['40 days', 40 * day, ['1 paid', '2 missed', '3 paid']],
  ])('ends at its own time, also if the service looks %s later', (_, lateMs, rows) => {
    const resumesAt = at('2027-02-28T00:00');
    const life = new Life(terms).until(at('2027-02-10T00:00'));
    pause(life, at('2027-02-10T00:00'), resumesAt);
    life.wakeAt(laterBy(resumesAt, lateMs));
    expect(life.until(laterBy(resumesAt, lateMs + day)).outcomes()).toEqual(rows);
    const other = new Life(terms).until(at('2027-02-10T00:00'));
    pause(other, at('2027-02-10T00:00'), resumesAt);
    const now = laterBy(resumesAt, lateMs);
    other.take(accepted(decideResume(other.subscription, { invoiceId: 'R' }, now)), now);
    expect(other.until(laterBy(now, day)).outcomes()).toEqual(rows);
  });

  test('that begins in a period without a row leaves the charge of it as it was due', () => {
    const life = new Life(terms).until(at('2027-02-10T00:00'));
    pause(life, at('2027-02-28T03:00'), at('2027-04-10T00:00'));
    life.until(at('2027-05-01T00:00'));
    expect(life.outcomes()).toEqual(['1 paid', '2 paid', '3 paid', '4 paid']);
    expect(datesOf(life).slice(1)).toEqual(['2027-02-28T06:00', '2027-04-10T00:00', '2027-04-30T06:00']);
  });

  test.each([
    ['current', ['1 paid', '145 open']],
    ['all', ['1 paid', '2 open']],
    ['none', ['1 paid', '145 open']],
  ] as const)(
    'that begins after a long outage leaves all that has started to the time before it: %s',
    (catchUp, rows) => {
      const short = scheduled({ every: { count: 1, unit: 'D' } });
      const life = new Life({
        ...short,
        catchUp,
        dunning: { ...policy, tries: [], windowDays: 1, stack: true },
      });
      life.until(start);
      const now = laterBy(start, 144 * day);
      pause(life, now);
      expect(life.outcomes().filter((row) => !row.endsWith('missed'))).toEqual(rows);
      expect(life.outcomes()).toHaveLength(145);
    },
  );

  test('that begins while a period is unpaid leaves the one that has started to the merchant', () => {
    const answers = Array.from({ length: 3 }, (_, index) => index + 1);
    const life = new Life(terms, (charge) =>
      answers.includes(charge)
        ? { outcome: 'refused', code: 'recurrentPeriodAlreadyCharged' }
        : { outcome: 'captured' },
    );
    life.wake(start);
    pause(life, at('2027-03-01T00:00'));
    expect(life.outcomes()).toEqual(['1 open', '2 missed']);
  });

  test('without an end waits for the merchant, and its open invoice is still tried', () => {
    const life = new Life(terms, failing(1)).until(start);
    pause(life, at('2027-01-31T13:00'));
    life.until(at('2027-04-01T00:00'));
    expect([life.subscription.phase, life.outcomes(), nextAction(life.subscription)]).toEqual([
      'paused',
      ['1 paid'],
      undefined,
    ]);
    expect(upcoming(life.subscription, 3)).toEqual([]);
    life.take(
      accepted(decideResume(life.subscription, { invoiceId: 'R' }, at('2027-04-01T00:00'))),
      at('2027-04-01T00:00'),
    );
    expect(codeOf(decideResume(life.subscription, { invoiceId: 'R' }, at('2027-04-01T00:00')))).toBe(
      'invalidSubscriptionStatus',
    );
    expect(nextAction(life.subscription)).toEqual({ does: 'charge', number: 3, at: at('2027-04-01T00:00') });
  });

  const unpaidWhilePaused = (resumesAt?: Instant) => {
    const life = new Life(terms, failing(1, 2, 3)).until(start);
    pause(life, at('2027-01-31T13:00'), resumesAt);
    life.until(at('2027-03-15T00:00'));
    expect([life.subscription.phase, upcoming(life.subscription, 1)]).toEqual(['unpaid', []]);
    return life;
  };
  const settles = {
    payment: (life: Life, now: Instant) => decidePaid(life.subscription, 1, 'payer', now),
    forgiveness: (life: Life, now: Instant) => accepted(decideForgive(life.subscription, 1, now)),
  };

  test.each(['payment', 'forgiveness'] as const)('continues after the %s of what was unpaid', (by) => {
    const life = unpaidWhilePaused(at('2027-04-01T00:00'));
    const now = at('2027-03-15T00:00');
    life.take(settles[by](life, now), now);
    expect([life.subscription.phase, upcoming(life.subscription, 1)[0]?.number]).toEqual(['paused', 3]);
    life.until(at('2027-05-01T00:00'));
    expect(life.outcomes().slice(1)).toEqual(['2 skipped', '3 paid', '4 paid']);
    expect(life.facts.filter(({ type }) => type === 'subscription_paused')).toEqual([
      { type: 'subscription_paused', by: 'payer', resumesAt: at('2027-04-01T00:00') },
      { type: 'subscription_paused', by: 'payer', resumesAt: at('2027-04-01T00:00') },
    ]);
  });

  test('without an end continues after payment, until the merchant ends it', () => {
    const life = unpaidWhilePaused();
    const now = at('2027-03-15T00:00');
    life.take(settles.payment(life, now), now);
    life.until(at('2027-06-15T00:00'));
    expect([life.subscription.phase, life.outcomes()]).toEqual(['paused', ['1 paid', '2 skipped']]);
  });

  test('that ended while nothing was paid stays ended', () => {
    const life = unpaidWhilePaused(at('2027-03-31T00:00'));
    const now = at('2027-03-31T00:00');
    life.take(settles.payment(life, now), now);
    expect(life.subscription.phase).toBe('running');
    life.until(at('2027-04-02T00:00'));
    expect([life.subscription.phase, life.outcomes()]).toEqual([
      'running',
      ['1 paid', '2 skipped', '3 paid'],
    ]);
    pause(life, at('2027-04-02T00:00'));
    expect(life.until(at('2027-12-01T00:00')).subscription.phase).toBe('paused');
  });

  test('can forgive what is open', () => {
    const life = new Life(terms, failing(1)).until(start);
    life.take(
      accepted(
        decidePause(life.subscription, { by: 'merchant', openPeriods: 'forgive', invoiceId: 'I' }, start),
      ),
      start,
    );
    expect(life.outcomes()).toEqual(['1 forgiven']);
  });

  test('cannot end in the past', () => {
    const { subscription } = new Life(terms).until(start);
    expect(
      codeOf(
        decidePause(
          subscription,
          { by: 'payer', openPeriods: 'keepTrying', invoiceId: 'I', resumesAt: start },
          start,
        ),
      ),
    ).toBe('invalidRequest');
  });
});

describe('the end', () => {
  test('at the end of the period can be taken back', () => {
    const life = new Life(terms).until(start);
    const scheduledEnd = accepted(decideCancel(life.subscription, { when: 'periodEnd', by: 'payer' }));
    life.take(scheduledEnd, start);
    expect(upcoming(life.subscription, 3)).toEqual([]);
    const other = new Life(terms).until(start);
    other.take(scheduledEnd, start);
    other.take(accepted(decideUncancel(other.subscription, start)), start);
    expect(codeOf(decideUncancel(other.subscription, start))).toBe('invalidSubscriptionStatus');
    for (const each of [life, other]) each.until(at('2027-03-01T00:00'));
    expect([life.subscription.endedFor, life.outcomes()]).toEqual(['payer', ['1 paid']]);
    expect(other.outcomes()).toEqual(['1 paid', '2 paid']);
    expect(codeOf(decideCancel(life.subscription, { when: 'now', by: 'payer' }))).toBe(
      'invalidSubscriptionStatus',
    );
  });

  test('stays when the last period is over, also if something open delays it', () => {
    const life = new Life(terms, alwaysFailing).until(start);
    life.take(accepted(decideCancel(life.subscription, { when: 'periodEnd', by: 'payer' })), start);
    const end = at('2027-02-28T00:00');
    const uncancel = (now: Instant) => codeOf(decideUncancel(life.subscription, now));
    expect([uncancel(laterBy(end, -1)), uncancel(end)]).toEqual(['accepted', 'invalidSubscriptionStatus']);
  });

  test.each(['payer', 'merchant', 'consentEnded'] as const)('by the consent: %s', (reason) => {
    const life = new Life(terms, failing(1)).until(start);
    life.take(decideConsentEnded(life.subscription, reason), start);
    expect([life.subscription.endedFor, life.outcomes(), nextAction(life.subscription)]).toEqual([
      reason,
      ['1 unpaid'],
      undefined,
    ]);
    expect(decideConsentEnded(life.subscription, reason)).toEqual([]);
  });
});

describe('an outage of 40 days', () => {
  const back = at('2027-04-10T09:00');
  const out = (catchUp: SubscriptionTerms['catchUp'], weekly = true) => {
    const every = { count: 1, unit: weekly ? 'W' : 'M' } as const;
    const dunning = { ...policy, tries: [1], windowDays: 5 };
    const life = new Life({ ...termsWith({ catchUp, dunning }), schedule: { ...terms.schedule, every } });
    return life.until(at('2027-03-01T09:00')).wakeAt(back);
  };

  test('charges the newest period, and the others are missed', () => {
    const life = out('current');
    expect(life.outcomes().slice(5)).toEqual(['6 missed', '7 missed', '8 missed', '9 missed', '10 paid']);
    life.take(accepted(decideChargeMissed(life.subscription, 7, { invoiceId: 'I7' })), back);
    life.take(accepted(decideForgive(life.subscription, 8, back)), back);
    life.wakeAt(back);
    expect(life.outcomes().slice(5)).toEqual(['6 missed', '7 paid', '8 forgiven', '9 missed', '10 paid']);
    expect(codeOf(decideChargeMissed(life.subscription, 7, { invoiceId: 'I7' }))).toBe('invalidPeriodStatus');
    expect(codeOf(decideForgive(life.subscription, 10, back))).toBe('invalidPeriodStatus');
  });

  test('charges all, one a day', () => {
    const life = out('all').until(at('2027-04-16T00:00'));
    expect(life.charges.slice(5).map((one) => `${one.number} ${one.at.slice(5, 10)}`)).toEqual([
      '6 04-10',
      '7 04-11',
      '8 04-12',
      '9 04-13',
      '10 04-14',
      '11 04-15',
    ]);
  });

  test('charges none that is more than three days late', () => {
    expect(out('none').outcomes().slice(5)).toEqual([
      '6 missed',
      '7 missed',
      '8 missed',
      '9 missed',
      '10 missed',
    ]);
    expect(out('none', false).outcomes()).toEqual(['1 paid', '2 paid', '3 missed']);
  });

  test('leaves missed periods alone while another is not paid', () => {
    const life = out('current');
    const now = at('2027-04-19T00:00');
    const failed = { ...life.subscription, open: [{ ...life.rows.get(10)!, retries: 0 }] };
    expect(codeOf(decideChargeMissed(failed, 7, { invoiceId: 'I7' }))).toBe('subscriptionPastDue');
    expect(codeOf(decideForgive({ ...failed, phase: 'unpaid' }, 7, now))).toBe('invalidSubscriptionStatus');
    expect(codeOf(decideForgive({ ...failed, phase: 'unpaid' }, 10, now))).toBe('accepted');
  });
});

describe('a period that is paid late', () => {
  const heldUntil = (until: Instant): Bank => {
    return (charge) => (charge === 1 ? { outcome: 'unsent', retryAfter: until } : captured);
  };
  const mistakenFor =
    (charges: number): Bank =>
    (charge) =>
      charge <= charges ? declined('configuration') : captured;
  const short = scheduled({ anchor: { day: 5, firstPeriod: 'full' } });

  test.each<[string, SubscriptionTerms, Bank, string[]]>([
    [
      'after a hold of 40 days',
      terms,
      heldUntil(at('2027-03-12T14:30')),
      ['1 2027-03-12T14:30', '2 2027-03-13T06:00', '3 2027-03-31T06:00'],
    ],
    [
      'after a mistake of 35 days',
      terms,
      mistakenFor(35),
      ['1 2027-03-07T12:00', '2 2027-03-08T06:00', '3 2027-03-31T06:00'],
    ],
    ['by a try of a short period', short, failing(1, 2), ['1 2027-02-03T06:00', '2 2027-02-05T06:00']],
    [
      'on the day of the next one',
      { ...short, dunning: { ...policy, tries: [1, 5] } },
      failing(1, 2),
      ['1 2027-02-05T06:00', '2 2027-02-06T06:00', '3 2027-03-05T06:00'],
    ],
  ])('is the only one of its day: %s', (_, of, bank, expected) => {
    const life = new Life(of, bank).until(at('2027-04-01T00:00'));
    const paid = life.charges.filter(({ ending }) => ending?.outcome === 'captured');
    const dates = paid.map((charge) => `${charge.number} ${charge.at.slice(0, 16)}`);
    expect(dates.slice(0, expected.length)).toEqual(expected);
  });

  test('by the payer leaves the next one for another day too', () => {
    const life = new Life({ ...short, dunning: { ...policy, tries: [5] } }, failing(1));
    life.until(at('2027-02-05T05:00'));
    life.take(decidePaid(life.subscription, 1, 'payer', life.now), at('2027-02-05T05:00'));
    life.until(at('2027-02-07T00:00'));
    expect(datesOf(life)).toEqual(['2027-01-31T12:00', '2027-02-06T06:00']);
  });

  test('without a charge of the card leaves the next one as it is due', () => {
    const life = new Life({ ...short, dunning: { ...policy, tries: [5] } }, failing(1));
    life.until(at('2027-02-05T05:00'));
    life.take(decidePaid(life.subscription, 1, 'elsewhere', life.now), at('2027-02-05T05:00'));
    life.until(at('2027-02-07T00:00'));
    expect(datesOf(life)).toEqual(['2027-01-31T12:00', '2027-02-05T06:00']);
  });
});

describe('a renewal that waits for a day without another charge', () => {
  const daily = scheduled({ every: { count: 1, unit: 'D' } });
  const stack = { ...policy, stack: true };
  const night = { from: '23:00', until: '23:01' };
  const late = { ...daily.schedule, chargeAt: night };
  const held: Bank = (charge) =>
    charge === 3 ? { outcome: 'unsent', isHeld: true, retryAfter: at('2027-02-03T00:10') } : captured;

  test.each<[string, SubscriptionTerms, Bank]>([
    ['in its window', { ...daily, dunning: stack }, failing(3)],
    [
      'before its window',
      { ...daily, dunning: { ...stack, at: { from: '03:00', until: '03:01' } } },
      failing(3),
    ],
    ['after a hold', { ...daily, schedule: late, createdAt: at('2027-01-31T23:30'), dunning: stack }, held],
  ])('is not missed, if it is of every day and the one before is paid a day late: %s', (_, of, bank) => {
    const life = new Life(of, bank).until(at('2027-02-07T23:30'));
    expect(life.outcomes()).toEqual(Array.from({ length: 8 }, (__, index) => `${index + 1} paid`));
  });

  test('is not missed when the payer pays a day late', () => {
    const now = at('2027-02-03T05:00');
    const life = new Life({ ...daily, dunning: stack }, failing(3)).until(now);
    life.take(decidePaid(life.subscription, 3, 'payer', now), now);
    expect(life.until(at('2027-02-05T07:00')).outcomes().slice(2)).toEqual([
      '3 paid',
      '4 paid',
      '5 paid',
      '6 paid',
    ]);
  });

  // In spring, three local days are 71 hours, and in autumn 73.
  test.each([
    ['UTC', '2027-01-31T12:00', '2027-03-01T20:00', '2027-03-02T06:00'],
    ['UTC', '2027-01-31T12:00', '2027-03-02T20:00', '2027-03-02T20:00'],
    ['Europe/Berlin', '2027-02-27T12:00', '2027-03-28T20:00', '2027-03-29T04:00'],
    ['Europe/Berlin', '2027-02-27T12:00', '2027-03-29T20:00', '2027-03-29T20:00'],
    ['Europe/Berlin', '2027-09-30T12:00', '2027-10-31T20:00', '2027-11-01T05:00'],
    ['Europe/Berlin', '2027-09-30T12:00', '2027-11-01T20:00', '2027-11-01T20:00'],
  ])(
    'is not missed for its wait, however late a job may charge it: %s %s %s',
    (zone, from, paid, charged) => {
      const of = { ...terms, catchUp: 'none', createdAt: at(from) } as const;
      const life = new Life({ ...of, schedule: { ...of.schedule, zone } }, (_, number) =>
        number === 1 ? declined('configuration') : captured,
      );
      const now = at(paid);
      life.until(laterBy(now, -1)).take(decidePaid(life.subscription, 1, 'payer', now), now);
      life.wakeAt(now);
      if (life.next) life.wakeAt(laterBy(life.next.at, 1_000));
      const [renewal] = life.charges.filter(({ number }) => number === 2);
      expect([life.rows.get(2)?.outcome, renewal?.at.slice(0, 16)]).toEqual(['paid', charged]);
    },
  );

  test.each(['current', 'none', 'all'] as const)(
    'waits one day at most while the merchant charges a missed period each day: %s',
    (catchUp) => {
      const weekly = scheduled({ every: { count: 1, unit: 'W' } });
      const life = new Life({ ...weekly, dunning: { ...policy, windowDays: 5 } });
      life.until(start).wakeAt(at('2027-06-20T12:00'));
      life.subscription = { ...life.subscription, terms: { ...life.subscription.terms, catchUp } };
      for (let count = 0; count < 19; count++) {
        const now = laterBy(at('2027-06-21T00:30'), count * day);
        life.until(now);
        const { number } = life.subscription.missed[0]!;
        life.take(accepted(decideChargeMissed(life.subscription, number, { invoiceId: `M${count}` })), now);
        life.wakeAt(now);
      }
      const renewals = life.charges.filter(({ number }) => number > 21);
      expect(renewals.map(({ number, at: time }) => `${number} ${time.slice(0, 16)}`)).toEqual([
        '22 2027-06-28T06:00',
        '23 2027-07-05T06:00',
      ]);
    },
  );
});

describe('a change', () => {
  const noon = at('2027-02-14T12:00');
  const change = (life: Life, priceMinor: bigint, now: Instant) =>
    decideChangeNow(life.subscription, { items: [item(priceMinor)], invoiceId: 'C' }, now);
  const previewOf = (life: Life, items: readonly Item[], now: Instant) =>
    previewChange(life.subscription, { items, when: 'now', credit: 'unused' }, now);

  test('to a dearer item takes effect when the difference is paid', () => {
    const life = new Life(terms).until(noon);
    expect(dueOf(accepted(previewOf(life, [item(3_000n)], noon)).change!)).toBe(964n);
    life.take(accepted(change(life, 3_000n, noon)), noon);
    expect([life.subscription.items, codeOf(change(life, 4_000n, laterBy(noon, day)))]).toEqual([
      [tea],
      'subscriptionChangePending',
    ]);
    expect(decideChangeEnded(life.subscription, 'other', true)).toEqual([]);
    life.take(decideChangeEnded(life.subscription, 'C', true), noon);
    expect(codeOf(change(life, 4_000n, noon))).toBe('subscriptionChangedToday');
    life.until(at('2027-03-01T00:00'));
    expect(life.rows.get(2)?.amountMinor).toBe(3_000n);
  });

  test('that is not paid changes nothing', () => {
    const life = new Life(terms).until(noon);
    life.take(accepted(change(life, 3_000n, noon)), noon);
    life.take(decideChangeEnded(life.subscription, 'C', false), noon);
    expect([life.subscription.items, life.subscription.creditMinor]).toEqual([[tea], 0n]);
  });

  test('to a cheaper item gives credit, which the next invoices and changes use', () => {
    const life = new Life(terms).until(noon);
    life.take(accepted(change(life, 100n, noon)), noon);
    expect(life.subscription.creditMinor).toBe(434n);
    expect(upcoming(life.subscription, 6).map(({ amountMinor }) => amountMinor)).toEqual([
      0n,
      0n,
      0n,
      0n,
      66n,
      100n,
    ]);
    const up = accepted(previewOf(life, [tea], laterBy(noon, day))).change!;
    expect([up.fromBalanceMinor, dueOf(up)]).toEqual([401n, 0n]);
    life.until(at('2027-06-30T07:00'));
    expect(life.outcomes()).toEqual(['1 paid', '2 paid', '3 paid', '4 paid', '5 paid', '6 paid']);
    expect(life.charges.map(({ number }) => number)).toEqual([1, 6]);
  });

  test.each([
    ['is reserved for a change', true, 0n],
    ['returns if the change is not paid', false, 434n],
  ])('credit %s', (_, isPaid, after) => {
    const life = new Life(terms).until(noon);
    life.take(accepted(change(life, 100n, noon)), noon);
    const next = laterBy(noon, day);
    const up = accepted(previewOf(life, [item(3_000n)], next)).change!;
    expect(up).toMatchObject({ creditMinor: 45n, chargeMinor: 1_339n, fromBalanceMinor: 434n });
    expect(dueOf(up)).toBe(860n);
    life.take(accepted(change(life, 3_000n, next)), next);
    expect(life.subscription.creditMinor).toBe(0n);
    life.take(decideChangeEnded(life.subscription, 'C', isPaid), next);
    expect(life.subscription.creditMinor).toBe(after);
  });

  test('to be made from the next period waits for a change that is not paid yet', () => {
    const life = new Life(terms).until(noon);
    life.take(accepted(change(life, 3_000n, noon)), noon);
    const later = () => decideChangeFromNextPeriod(life.subscription, [item(70n)]);
    expect(codeOf(later())).toBe('subscriptionChangePending');
    life.take(decideChangeEnded(life.subscription, 'C', true), noon);
    life.take(accepted(later()), noon);
    life.until(at('2027-03-01T00:00'));
    expect(life.rows.get(2)?.amountMinor).toBe(70n);
  });

  test.each([
    ['replaces an earlier one for the next period', true, 3_000n],
    ['leaves it if it is not paid', false, 70n],
  ])('that is made now %s', (_, isPaid, amountMinor) => {
    const life = new Life(terms).until(noon);
    life.take(accepted(decideChangeFromNextPeriod(life.subscription, [item(70n)])), noon);
    life.take(accepted(change(life, 3_000n, noon)), noon);
    life.take(decideChangeEnded(life.subscription, 'C', isPaid), noon);
    life.until(at('2027-03-01T00:00'));
    expect(life.rows.get(2)?.amountMinor).toBe(amountMinor);
  });

  test('from the next period reckons nothing', () => {
    const life = new Life(terms).until(noon);
    life.take(accepted(decideChangeFromNextPeriod(life.subscription, [item(70n)])), noon);
    expect(upcoming(life.subscription, 1)[0]?.amountMinor).toBe(70n);
    life.until(at('2027-04-01T00:00'));
    expect([...life.rows.values()].map(({ amountMinor }) => amountMinor)).toEqual([1_000n, 70n, 70n]);
  });

  test('in a trial costs nothing, and the trial stays', () => {
    const life = new Life(scheduled({ trialDays: 30 })).until(noon);
    life.take(accepted(change(life, 3_000n, noon)), noon);
    expect([
      statusOf(life.subscription),
      life.until(at('2027-03-03T00:00')).rows.get(2)?.amountMinor,
    ]).toEqual(['trialing', 3_000n]);
  });

  test('is refused while a period is not paid, with an old preview, and without items', () => {
    const life = new Life(terms, failing(1)).until(start);
    expect(codeOf(change(life, 1n, start))).toBe('subscriptionPastDue');
    const paid = new Life(terms).until(noon);
    const asOf = laterBy(noon, -3_600_001);
    expect(codeOf(decideChangeNow(paid.subscription, { items: [tea], asOf, invoiceId: 'C' }, noon))).toBe(
      'invalidRequest',
    );
    expect(codeOf(previewOf(paid, [], noon))).toBe('invalidRequest');
    expect(codeOf(previewOf(paid, [tea], at('2027-03-01T00:00')))).toBe('invalidRequest');
  });
});

describe('the charge of a change', () => {
  const noon = at('2027-02-14T12:00');
  const started = (bank?: Bank) => {
    const life = new Life(terms, bank).until(noon);
    const wanted = { items: [item(3_000n)], when: 'auto', credit: 'unused' } as const;
    life.take(accepted(decideChange(life.subscription, wanted, 'C', noon)), noon);
    expect(nextAction(life.subscription)).toEqual({ does: 'chargeChange', at: noon });
    life.take(decideWake(life.subscription, noon, { invoiceId: 'C', paymentId: 'C.1' }), noon);
    return life;
  };
  const failed = { outcome: 'failed', declineClass: 'funds' } as const;

  test('is made once, and the change is in force when it is captured', () => {
    const life = started();
    expect(nextAction(life.subscription)?.does).toBe('createPeriod');
    expect(wakeTimeOf(life.subscription, noon)).toBe(laterBy(noon, 3_600_000));
    expect(decideChangeChargeEnded(life.subscription, 'C.2', captured, noon)).toEqual([]);
    life.take(decideChangeChargeEnded(life.subscription, 'C.1', captured, noon), noon);
    expect(decideChangeChargeEnded(life.subscription, 'C.1', captured, noon)).toEqual([]);
    expect([life.subscription.items, life.subscription.change]).toEqual([[item(3_000n)], undefined]);
    expect(life.subscription.paidMinor).toBe(1_964n);
  });

  test('that fails is not tried again: the payer can pay until the invoice is due', () => {
    const life = started();
    life.take(decideChangeChargeEnded(life.subscription, 'C.1', failed, noon), noon);
    expect([nextAction(life.subscription)?.does, life.subscription.change?.failedFor]).toEqual([
      'createPeriod',
      'funds',
    ]);
    expect(wakeTimeOf(life.subscription, noon)).toBe(laterBy(noon, 3 * day));
    life.take(decideChangeEnded(life.subscription, 'C', true), noon);
    expect(life.subscription.items).toEqual([item(3_000n)]);
  });

  test('keeps the change, and is not taken back meanwhile', () => {
    const life = started();
    expect(codeOf(decideTakeBackChange(life.subscription))).toBe('subscriptionChargePending');
    const ended = decideConsentEnded(life.subscription, 'payer');
    life.take(ended, noon);
    expect([life.subscription.phase, life.subscription.change?.charging]).toEqual(['ended', 'C.1']);
    life.take(decideChangeChargeEnded(life.subscription, 'C.1', failed, noon), noon);
    expect([life.subscription.change, wakeTimeOf(life.subscription, noon)]).toEqual([undefined, undefined]);
  });

  test('counts for the limit of a day, and a third one waits', () => {
    const life = started();
    life.take(decideChangeChargeEnded(life.subscription, 'C.1', captured, noon), noon);
    expect(life.subscription.charges.map(({ paymentId, isWished }) => [paymentId, isWished])).toEqual([
      [expect.stringContaining('invoice'), undefined],
      ['C.1', true],
    ]);
    const unsent = started();
    unsent.take(decideChangeChargeEnded(unsent.subscription, 'C.1', { outcome: 'unsent' }, noon), noon);
    expect(unsent.subscription.charges).toHaveLength(1);
  });

  test('ends with the period at the latest', () => {
    const late = laterBy(at('2027-02-28T00:00'), -day);
    const life = new Life(terms).until(late);
    life.take(
      accepted(decideChangeNow(life.subscription, { items: [item(3_000n)], invoiceId: 'C' }, late)),
      late,
    );
    expect(life.subscription.change?.payableUntil).toBe(at('2027-02-28T00:00'));
  });
});

describe('a change that waits', () => {
  const noon = at('2027-02-14T12:00');
  const wanted = (priceMinor: bigint, when: 'now' | 'auto' | 'nextPeriod') =>
    ({ items: [item(priceMinor)], when, credit: 'unused' }) as const;

  test('is cheaper and automatic, and is taken back', () => {
    const life = new Life(terms).until(noon);
    expect(codeOf(decideTakeBackChange(life.subscription))).toBe('invalidSubscriptionStatus');
    life.take(accepted(decideChange(life.subscription, wanted(70n, 'auto'), 'C', noon)), noon);
    expect(life.subscription.scheduledItems).toEqual([item(70n)]);
    life.take(accepted(decideTakeBackChange(life.subscription)), noon);
    expect(life.until(at('2027-03-01T00:00')).rows.get(2)?.amountMinor).toBe(1_000n);
  });

  test('is dropped by the end, and its credit returns', () => {
    const life = new Life(terms).until(noon);
    life.take(accepted(decideChange(life.subscription, wanted(100n, 'now'), 'C', noon)), noon);
    const next = laterBy(noon, day);
    life.take(accepted(decideChange(life.subscription, wanted(3_000n, 'now'), 'C', next)), next);
    life.take(accepted(decideCancel(life.subscription, { when: 'now', by: 'payer' })), next);
    expect(life.facts.slice(-2).map(({ type }) => type)).toEqual(['change_dropped', 'subscription_ended']);
    expect(life.subscription.creditMinor).toBe(434n);
  });

  test('is refused while paused or parked, at the first instant of the next period, and twice a day', () => {
    const life = new Life(terms).until(noon);
    const code = (now: Instant, asOf?: Instant) =>
      codeOf(
        decideChange(life.subscription, { ...wanted(3_000n, 'now'), ...(asOf ? { asOf } : {}) }, 'C', now),
      );
    expect(code(at('2027-02-28T00:00'), at('2027-02-27T23:59'))).toBe('invalidRequest');
    const midnight = at('2027-02-15T00:10');
    life.take(accepted(decideChange(life.subscription, wanted(100n, 'now'), 'C', midnight)), midnight);
    expect(code(at('2027-02-15T00:30'), at('2027-02-14T23:55'))).toBe('subscriptionChangedToday');
    expect(code(at('2027-02-16T00:00'))).toBe('accepted');
    life.subscription = { ...life.subscription, parkedFor: 'periodAhead' };
    expect(code(at('2027-02-16T00:00'))).toBe('invalidSubscriptionStatus');
  });

  test('needs items or a zone, and takes both', () => {
    const { subscription } = new Life(terms).until(noon);
    const zone = (timeZone: string) => ({ ...wanted(70n, 'nextPeriod'), timeZone });
    const facts = accepted(decideChange(subscription, zone('Asia/Vladivostok'), 'C', noon));
    expect(facts.map(({ type }) => type)).toEqual(['zone_changed', 'items_scheduled']);
    expect(codeOf(decideChange(subscription, zone('Mars'), 'C', noon))).toBe('invalidRequest');
    expect(codeOf(decideChange(subscription, { when: 'now', credit: 'none' }, 'C', noon))).toBe(
      'invalidRequest',
    );
  });

  test('without credit costs all of the rest', () => {
    const life = new Life(terms).until(noon);
    const preview = (credit: 'unused' | 'none') =>
      dueOf(accepted(previewChange(life.subscription, { ...wanted(3_000n, 'now'), credit }, noon)).change!);
    expect([preview('unused'), preview('none')]).toEqual([964n, 1_446n]);
  });
});

describe('credit is never more than was paid', () => {
  const noon = at('2027-02-14T12:00');
  const down = (life: Life, now: Instant) =>
    life.take(
      accepted(decideChangeNow(life.subscription, { items: [item(100n)], invoiceId: 'C' }, now)),
      now,
    );

  test('when the payment of the period is taken back, and is paid again', () => {
    const life = new Life(terms).until(noon);
    down(life, noon);
    expect([life.subscription.paidMinor, life.subscription.creditMinor]).toEqual([566n, 434n]);
    const lost = { ...life.rows.get(1)!, outcome: 'missed' } as const;
    life.subscription = evolve(life.subscription, { type: 'payment_taken_back', period: lost }, noon);
    expect([life.subscription.paidMinor, life.subscription.creditMinor]).toEqual([0n, 0n]);
    life.subscription = evolve(life.subscription, { type: 'period_paid', number: 1, by: 'elsewhere' }, noon);
    expect([life.subscription.paidMinor, life.subscription.creditMinor]).toEqual([566n, 434n]);
  });

  test.each([
    [1, 500n, [66n, 434n]],
    [1, 900n, [0n, 100n]],
    [1, 5_000n, [0n, 0n]],
    [7, 900n, [566n, 434n]],
  ])('when that of a change of period %i is taken back: %i', (ofPeriod, amountMinor, left) => {
    const life = new Life(terms).until(noon);
    down(life, noon);
    const { paidMinor, creditMinor } = evolve(
      life.subscription,
      { type: 'change_payment_taken_back', ofPeriod, invoiceId: 'C', amountMinor },
      noon,
    );
    expect([paidMinor, creditMinor]).toEqual(left);
  });
});

describe('another zone', () => {
  test('applies from the next period, without a hole', () => {
    const life = new Life(scheduled({ zone: 'Europe/Moscow' })).until(at('2027-02-10T00:00'));
    life.take(accepted(decideZone(life.subscription, 'Asia/Vladivostok')), at('2027-02-10T00:00'));
    life.until(at('2027-04-01T00:00'));
    const rows = [...life.rows.values()];
    expect(rows.map(({ startsAt }) => startsAt.slice(0, 13))).toEqual([
      '2027-01-30T21',
      '2027-02-27T21',
      '2027-03-30T14',
    ]);
    expect(rows.slice(1).every((row, index) => row.startsAt === rows[index]?.endsAt)).toBe(true);
    expect(codeOf(decideZone(life.subscription, 'Mars'))).toBe('invalidRequest');
    expect(accepted(decideZone(life.subscription, 'Asia/Vladivostok'))).toEqual([]);
  });
});

describe('the guard', () => {
  test('parks a subscription instead of a third charge in a day that was not asked for', () => {
    const life = new Life(terms, alwaysFailing).until(start);
    for (let hour = 1; hour < 3; hour++) {
      const now = laterBy(start, hour * 3_600_000);
      const [open] = life.subscription.open;
      // Another part of the program has a bug.
      life.subscription = { ...life.subscription, open: [{ ...open!, nextTryAt: now }] };
      life.wakeAt(now);
    }
    expect([life.charges.length, life.subscription.parkedFor, nextAction(life.subscription)]).toEqual([
      2,
      'moreThanTwoChargesADay',
      undefined,
    ]);
    // The payer may pay it meanwhile.
    expect(wakeTimeOf(life.subscription, start)).toBe(laterBy(start, 7 * day));
    life.take(accepted(decideResume(life.subscription, { invoiceId: 'R' }, start)), start);
    expect(nextAction(life.subscription)?.does).toBe('charge');
    expect(codeOf(decideResume(life.subscription, { invoiceId: 'R' }, start))).toBe(
      'invalidSubscriptionStatus',
    );
  });

  test('lets a charge wait after one of its own and one of another period, as after an outage', () => {
    const life = new Life(terms, alwaysFailing).until(start);
    const { open, charges } = life.subscription;
    const other = { ...charges[0]!, number: 7 };
    const subscription = {
      ...life.subscription,
      open: [{ ...open[0]!, nextTryAt: start }],
      charges: [other, charges[0]!],
    };
    const ids = { invoiceId: 'I', paymentId: 'I.2' };
    const why = 'moreThanTwoChargesADay';
    expect(decideWake(subscription, start, ids)).toEqual([
      { type: 'charge_postponed', number: 1, why, until: laterBy(start, day) },
    ]);
  });

  test.each(['merchant', 'newCard'] as const)('lets a third try wait that was asked for: %s', (by) => {
    const life = new Life(terms, alwaysFailing).until(start);
    for (let hour = 1; hour < 3; hour++) {
      const now = laterBy(start, hour * 3_600_000);
      life.take(accepted(decideTry(life.subscription, by)), now);
      life.wakeAt(now);
    }
    expect([life.charges.length, life.subscription.parkedFor]).toEqual([2, undefined]);
    expect(nextAction(life.subscription)).toEqual({ does: 'charge', number: 1, at: laterBy(start, day) });
  });

  const charge = (life: Life, now: Instant, number: number, afterDays = 0) => {
    const wish = { number, afterDays, invoiceId: `M${number}` };
    life.take(accepted(decideCharge(life.subscription, wish, now)), now);
    life.wakeAt(now);
  };

  test('lets a third missed period wait until the first charge is a day old', () => {
    const weekly = scheduled({ every: { count: 1, unit: 'W' } });
    const life = new Life({ ...weekly, dunning: { ...policy, tries: [1], windowDays: 5 } }).until(start);
    const back = at('2027-03-01T09:00');
    life.wakeAt(back);
    charge(life, laterBy(back, 3_600_000), 2);
    charge(life, laterBy(back, 7_200_000), 3);
    expect([life.outcomes().slice(0, 3), life.subscription.parkedFor]).toEqual([
      ['1 paid', '2 paid', '3 open'],
      undefined,
    ]);
    expect(nextAction(life.subscription)).toEqual({ does: 'charge', number: 3, at: laterBy(back, day) });
    life.until(laterBy(back, day));
    expect([life.rows.get(3)?.outcome, life.charges.length]).toEqual(['paid', 4]);
  });

  test('lets a renewal wait after an evening in which two missed periods were charged', () => {
    const weekly = scheduled({ every: { count: 1, unit: 'W' } });
    const life = new Life({ ...weekly, dunning: { ...policy, tries: [1], windowDays: 5 } }).until(start);
    const back = at('2027-02-26T09:00');
    life.wakeAt(back);
    const evening = at('2027-02-27T20:00');
    charge(life, evening, 2);
    charge(life, laterBy(evening, 3_600_000), 3);
    life.until(at('2027-02-28T06:01'));
    expect([life.subscription.parkedFor, life.rows.get(5)?.outcome]).toEqual([undefined, 'open']);
    expect(nextAction(life.subscription)).toEqual({ does: 'charge', number: 5, at: laterBy(evening, day) });
    life.until(laterBy(evening, day));
    expect(life.outcomes()).toEqual(['1 paid', '2 paid', '3 paid', '4 paid', '5 paid']);
  });

  test('moves a try of the next day beyond it too', () => {
    const life = new Life(terms, failing(1, 2)).until(start);
    charge(life, at('2027-01-31T20:00'), 1);
    charge(life, at('2027-01-31T21:00'), 1, 1);
    expect(nextAction(life.subscription)).toEqual({ does: 'charge', number: 1, at: laterBy(start, day) });
    expect(life.until(laterBy(start, day)).outcomes()).toEqual(['1 paid']);
  });

  test('counts no charge that was refused before it was sent', () => {
    const life = new Life(terms, (count) =>
      count < 5 ? { outcome: 'refused', code: 'recurrentStopped' } : captured,
    ).until(start);
    for (let hour = 1; hour < 5; hour++) charge(life, laterBy(start, hour * 3_600_000), 1);
    expect([life.charges.length, life.outcomes()]).toEqual([5, ['1 paid']]);
  });

  test('parks it instead of a charge for a period that is far ahead', () => {
    const { subscription } = new Life(terms, failing(1)).until(start);
    const [open] = subscription.open;
    const ahead = { ...subscription, open: [{ ...open!, startsAt: at('2027-02-03T07:00') }] };
    const woken = (now: string) =>
      decideWake(ahead, at(now), { invoiceId: 'I', paymentId: 'P' }).map(({ type }) => type);
    expect(woken('2027-02-01T06:59')).toEqual(['subscription_parked']);
    expect(woken('2027-02-01T07:00')).toEqual(['charge_started']);
  });
});

test('a row that is woken too early, or twice, does nothing', () => {
  const life = new Life(terms).until(start);
  expect(decideWake(life.subscription, at('2027-02-28T05:59'), { invoiceId: 'I', paymentId: 'P' })).toEqual(
    [],
  );
  const before = life.facts.length;
  life.wakeAt(start);
  expect(life.facts.length).toBe(before);
});

test('a fact that the lifecycle does not allow is a bug', () => {
  const fact: SubscriptionFact = { type: 'subscription_resumed' };
  expect(() => evolve(undefined, fact, start)).toThrow(
    'A subscription that is absent cannot have fact subscription_resumed.',
  );
  const { subscription } = new Life(terms);
  expect(() => evolve(subscription, fact, start)).toThrow(
    'A subscription that is running cannot have fact subscription_resumed.',
  );
  const unknown: SubscriptionFact = { type: 'period_paid', number: 9, by: 'payer' };
  expect(() => evolve(subscription, unknown, start)).toThrow('Period 9 is neither open nor missed.');
  expect(Object.keys(subscriptionLifecycle.ended)).not.toContain('charge_started');
});
