// The simulation's check of subscriptions finds nothing in the logs of random lives, and each mistake that is planted in one.
import { expect, test } from 'vitest';
import type { Fact } from '../../../simulation/checks/rows.ts';
import { instantAt } from '../../../src/clock.ts';
import { decideChange, decideChangeChargeEnded } from '../../../src/subscriptions/domain/changes/change.ts';
import { decideResumeShifted } from '../../../src/subscriptions/domain/changes/shift-anchor.ts';
import { withChangeConsented } from '../../../src/subscriptions/domain/dunning/try-again.ts';
import { dayOf, hour, startOf } from '../calendar.ts';
import { keptOf, problemsOf, type Kept } from './logs.ts';
import { planFrom, type Plan } from './plan.ts';
import { lifeOf } from './service.ts';

const lives = 150;
const firstLife = 51_000;

test(`nothing is found in ${lives} lives`, () => {
  for (let life = 0; life < lives; life++) {
    const plan = planFrom(firstLife + life);
    expect(problemsOf(keptOf(plan)), JSON.stringify(plan)).toEqual([]);
  }
});

test('a period that is asked for next to others is tried on the day after their charge', () => {
  expect(problemsOf(keptOf(planFrom(3_001_575)))).toEqual([]);
});

const midnight = startOf('UTC', dayOf('2027-02-28'));

/** A pause begins shortly before the second period, of a month. */
function pausedPlan(others: Partial<Plan>): Plan {
  return {
    seed: 1,
    zone: 'UTC',
    interval: { months: 1 },
    startsAt: startOf('UTC', dayOf('2027-01-28')) + 12 * hour,
    trialDays: 0,
    price: 1_000,
    catchUp: 'current',
    tries: [1],
    windowDays: 3,
    classes: {},
    finally: 'pause',
    stack: false,
    answers: [],
    acts: [{ at: midnight - 5 * hour, does: 'pause', forgives: false }],
    outages: [],
    lateBy: 0,
    endsAt: midnight + 20 * hour,
    ...others,
  };
}

test('a held charge of a change that sleeps until the change is dropped is found', () => {
  const asked = midnight - 10 * 24 * hour;
  const plan = pausedPlan({
    acts: [{ at: asked, does: 'priceNow', price: 3_000, when: 'now', credit: 'unused', answer: 'atBank' }],
    endsAt: asked,
  });
  const life = lifeOf(plan);
  const { charging = '', payableUntil } = life.subscription.change ?? {};
  const now = instantAt((asked + hour) / 1_000);
  const ending = { outcome: 'unsent', isHeld: true } as const;
  life.take(decideChangeChargeEnded(life.subscription, charging, ending, now), now);
  const kept = keptOf({ ...plan, acts: [] }, life);
  expect(problemsOf(kept)).toEqual([]);
  const late = { ...kept, row: { ...kept.row, wake_at: payableUntil ?? null } };
  expect(problemsOf(late).join()).toMatch(/it sleeps until .*, and change .* is tried again at/);
});

test('a renewal that sleeps beyond the day after the last payment is found', () => {
  const paidAt = midnight + 20 * hour;
  const answers = Array.from({ length: 40 }, () => 'configuration' as const);
  const kept = keptOf(pausedPlan({ answers, acts: [{ at: paidAt, does: 'payerPays' }], endsAt: paidAt }));
  expect(kept.row.wake_at).toMatch(/^2027-03-01T0/);
  expect(problemsOf(kept)).toEqual([]);
  const late = { ...kept, row: { ...kept.row, wake_at: instantAt((paidAt + 30 * hour) / 1_000) } };
  expect(problemsOf(late).join()).toMatch(/it sleeps until .*, and period 2 is due at/);
});

test('a failed refund of the end is found where its log lacks it or has it twice', () => {
  const acts = [{ at: midnight - 5 * hour, does: 'cancelNow', refund: 'last', failsRefund: true }] as const;
  const kept = keptOf(pausedPlan({ acts: [...acts] }));
  expect(kept.refunds).toMatchObject([{ status: 'failed' }]);
  expect(problemsOf(kept)).toEqual([]);
  expect(problemsOf(without('end_refund_failed')(kept)).join()).toMatch(/of its end has failed, and by its/);
  expect(problemsOf(twice('end_refund_failed')(kept)).join()).toMatch(/not started or failed before/);
});

/** At one at night. The hours of charges begin at six. */
const resumedAtNight = (() => {
  const plan = pausedPlan({});
  return keptOf({ ...plan, acts: [...plan.acts, { at: midnight + hour, does: 'resume' }] });
})();

const changed = (kept: Kept, change: (fact: Fact) => Fact | Fact[]): Kept => ({
  ...kept,
  facts: kept.facts.map((facts) => facts.flatMap(change)),
});
const later = (at: string, hours: number) => instantAt(Date.parse(at) + (hours * hour) / 1_000);
const periodOf = (fact: Fact) =>
  fact['period'] as { number: number; outcome: string } & Record<string, string>;
const withPeriod = (change: (period: ReturnType<typeof periodOf>) => object) => (kept: Kept) =>
  changed(kept, (fact) =>
    fact.type === 'period_created'
      ? { ...fact, period: { ...periodOf(fact), ...change(periodOf(fact)) } }
      : fact,
  );
const instead = (of: string, fact: (one: Fact) => Fact[]) => (kept: Kept) =>
  changed(kept, (one) => (one.type === of ? fact(one) : one));
const consented = (change: (one: Fact) => Fact[]) =>
  instead('try_requested', (one) => (one['isConsent'] === true ? change(one) : [one]));
const twice = (of: string) => instead(of, (one) => [one, one]);
const without = (of: string) => instead(of, () => []);
const outcome = (from: string, to: string) =>
  withPeriod((period) => (period.outcome === from ? { outcome: to } : {}));

const withChange =
  (change: (one: { chargeMinor: number; creditMinor: number }) => object) =>
  (kept: Kept): Kept =>
    changed(kept, (fact) => {
      const made = fact['change'] as { chargeMinor: number; creditMinor: number } | undefined;
      return made && made.chargeMinor > 0 ? { ...fact, change: { ...made, ...change(made) } } : fact;
    });

type NewPeriod = { startsOn: string; startsAt: string };
const withNewPeriod = (change: (one: NewPeriod) => object) => (kept: Kept) =>
  changed(kept, (fact) => {
    const made = fact['change'] as { newPeriod?: NewPeriod } | undefined;
    if (!made?.newPeriod) return fact;
    return { ...fact, change: { ...made, newPeriod: { ...made.newPeriod, ...change(made.newPeriod) } } };
  });

/** On 18 March, with dates that start again on that day. */
const shifted = (() => {
  const plan = pausedPlan({});
  const life = lifeOf(plan);
  const now = instantAt((midnight + 18 * 24 * hour + hour) / 1_000);
  const resumed = decideResumeShifted(life.subscription, now);
  if (!resumed.ok) throw new Error(resumed.refusal.code);
  life.take(resumed.value, now);
  return keptOf(plan, life.until(instantAt((midnight + 90 * 24 * hour) / 1_000)));
})();

test('a pause that ends with a new anchor skips up to its day, and whole periods start on it', () => {
  expect(problemsOf(shifted)).toEqual([]);
  expect(shifted.periods.map(({ outcome }) => outcome)).toEqual(['paid', 'skipped', 'paid', 'paid', 'paid']);
});

/** A change that starts a new period waits for its payment in Tokyo, where days begin at 15:00 of UTC. */
function newPeriodAsked(now: string, asOf: string): Kept {
  const asked = instantAt(Date.parse(now));
  const plan = pausedPlan({ zone: 'Asia/Tokyo', acts: [], endsAt: Date.parse(now) * 1_000 });
  const life = lifeOf(plan);
  const wanted = { when: 'anchorNow', credit: 'unused', asOf: instantAt(Date.parse(asOf)) } as const;
  const change = decideChange(life.subscription, wanted, 'change', asked);
  if (!change.ok) throw new Error(change.refusal.code);
  life.take(change.value, asked);
  return keptOf(plan, life);
}

test.each([
  ['that it is asked for', '2027-02-10T15:30:00Z', '2027-02-11'],
  ['of its preview', '2027-02-10T14:45:00Z', '2027-02-10'],
])('a new period has the day %s in its zone, and another is found', (_, asOf, day) => {
  const kept = newPeriodAsked('2027-02-10T15:30:00Z', asOf);
  expect(problemsOf(kept)).toEqual([]);
  expect(kept.facts.flat().find(({ type }) => type === 'change_started')).toMatchObject({
    change: { newPeriod: { startsOn: day } },
  });
  const before = { startsOn: '2027-02-09', startsAt: '2027-02-08T15:00:00.000000Z' };
  expect(problemsOf(withNewPeriod(() => before)(kept))).toContain(
    'the period that starts on 2027-02-09 is asked for on 2027-02-11',
  );
});

test('the day of UTC is found where its zone has another', () => {
  const kept = newPeriodAsked('2027-02-10T20:00:00Z', '2027-02-10T20:00:00Z');
  const ofUtc = { startsOn: '2027-02-10', startsAt: '2027-02-09T15:00:00.000000Z' };
  expect(problemsOf(withNewPeriod(() => ofUtc)(kept))).toContain(
    'the period that starts on 2027-02-10 is asked for on 2027-02-11',
  );
});

test.each<[string, (kept: Kept) => Kept, RegExp]>([
  [
    'a new anchor that no fact says',
    (kept) => changed(kept, (one) => (one.type === 'anchor_shifted' ? [] : one)),
    /period 2 is regular 2027-02-28–2027-03-18, and agreed is/,
  ],
  [
    'a period that ends after its new anchor',
    withPeriod(({ number }) => (number === 2 ? { endsOn: '2027-03-28' } : {})),
    /dates start again on 2027-03-18, and its last period ends on 2027-03-28/,
  ],
  [
    'a charge of the time before the new anchor',
    withPeriod(({ number }) => (number === 2 ? { outcome: 'missed' } : {})),
    /period 2 is of a time that is not charged|period 2 is missed while/,
  ],
])('%s is found', (_, mistake, problem) => {
  expect(problemsOf(mistake(shifted)).join('\n')).toMatch(problem);
});

/** The payer agrees an hour later, and the bank is away until the hour after that. */
const triedAgain = (() => {
  const asked = midnight - 10 * 24 * hour;
  const [change, retry] = [{ when: 'now', credit: 'unused' }, instantAt((asked + 2 * hour) / 1_000)] as const;
  const acts = [{ at: asked, does: 'priceNow', price: 3_000, ...change, answer: 'newCard' }] as const;
  const plan = pausedPlan({ acts: [...acts], endsAt: asked });
  const life = lifeOf(plan);
  const consented = instantAt((asked + hour) / 1_000);
  life.answerToChange = { outcome: 'unsent' };
  life.subscription = withChangeConsented(life.subscription, consented, consented);
  life.wakeAt(consented);
  life.answerToChange = { outcome: 'captured' };
  life.until(retry);
  return keptOf({ ...plan, acts: [{ at: asked + hour, does: 'consent' }] }, life);
})();
const secondFailure = (change: object) => {
  let count = 0;
  return instead('change_charge_failed', (one) => [++count === 2 ? { ...one, ...change } : one])(triedAgain);
};

test('a charge of a change that was not sent is made again', () => {
  const types = triedAgain.facts.flat().map(({ type }) => type);
  expect(types.filter((type) => type === 'change_charge_started')).toHaveLength(3);
  expect(problemsOf(triedAgain)).toEqual([]);
});

test.each<[string, () => Kept, RegExp]>([
  ['before its time', () => secondFailure({ retryAt: '2027-02-19T00:00:00.000000Z' }), /was to wait until/],
  ['though the bank has declined it', () => secondFailure({ isUnsent: false }), /is wanted again/],
  ['after its end', () => secondFailure({ retryAt: '2027-03-19T00:00:00.000000Z' }), /is wanted again/],
  ['without a time', () => secondFailure({ retryAt: undefined }), /the change waits for unsent/],
  [
    'that no consent started',
    () =>
      instead('change_charge_failed', (one) => [
        { ...one, isUnsent: true, retryAt: '2027-02-18T01:00:00.000000Z' },
      ])(triedAgain),
    /is wanted again/,
  ],
])('a charge of a change that is made again %s is found', (_, mistaken, problem) => {
  expect(problemsOf(mistaken()).join('\n')).toMatch(problem);
});

test('a period that a pause ends in has its row at once, and its charge at the hours agreed', () => {
  const created = resumedAtNight.facts.findIndex((facts) =>
    facts.some((fact) => fact.type === 'period_created' && periodOf(fact).number === 2),
  );
  expect(resumedAtNight.times[created]).toBe('2027-02-28T01:00:00.000000Z');
  expect(problemsOf(resumedAtNight)).toEqual([]);
  const atOnce = withPeriod(({ number }) => (number === 2 ? { dueAt: '2027-02-28T01:00:00.000000Z' } : {}))(
    resumedAtNight,
  );
  expect(problemsOf(atOnce)).toEqual(['period 2 is due at 2027-02-28T01:00:00.000000Z']);
  const charged = changed(resumedAtNight, (fact) =>
    fact.type === 'subscription_resumed'
      ? [fact, { type: 'charge_started', number: 2, paymentId: 'resumed.1' }]
      : fact,
  );
  expect(problemsOf(charged).join('\n')).toMatch(
    /period 2 is charged at 2027-02-28T01.*, and its next try is 2027-02-28T08/,
  );
});

const some = Array.from({ length: 90 }, (_, life) => keptOf(planFrom(firstLife + life)));

test.each<[string, (kept: Kept) => Kept, RegExp]>([
  [
    'a period without a row',
    (kept) =>
      changed(kept, (one) => (one.type === 'period_created' && periodOf(one).number === 3 ? [] : one)),
    /comes where 3 has to/,
  ],
  ['a period twice', twice('period_created'), /comes where/],
  ['a day of another date', withPeriod(() => ({ startsOn: '2027-03-03' })), /and agreed is/],
  ['a start in another zone', withPeriod(() => ({ startsAt: '2027-03-03T03:03:00.000000Z' })), /starts at/],
  [
    'a charge at night',
    withPeriod(({ number, startsOn, startsAt }) =>
      number > 1
        ? { dueAt: `${startsOn}T23:59:30.000000Z` > startsAt! ? `${startsOn}T23:59:30.000000Z` : startsAt }
        : {},
    ),
    /is due at/,
  ],
  [
    'a charge before it is due',
    (kept) => ({ ...kept, times: kept.times.map((at) => `${Number(at.slice(0, 4)) - 1}${at.slice(4)}`) }),
    /is due at|comes at/,
  ],
  [
    'a pause that is charged',
    outcome('skipped', 'missed'),
    /is of a time that is not charged|while the subscription is/,
  ],
  ['time that is not charged, without a pause', outcome('open', 'skipped'), /is skipped/],
  ['a charge that is lost', outcome('open', 'missed'), /is missed, and it should be charged/],
  ['a charge next to another', twice('charge_started'), /is charged while/],
  [
    'a charge after the payment',
    instead('period_paid', (one) => [
      one,
      { type: 'charge_started', number: one['number'], paymentId: 'again.1' },
    ]),
    /is paid, and charged/,
  ],
  [
    'a charge after the end',
    instead('subscription_ended', (one) => [one, { type: 'subscription_resumed' }]),
    /and by its log running/,
  ],
  [
    'a retry before its time',
    instead('charge_failed', ({ nextTryAt: _, ...one }) => [one]),
    /and its next try is/,
  ],
  [
    'a window of another length',
    instead('charge_failed', (one) => [
      { ...one, ...('givesUpAt' in one ? { givesUpAt: '2030-01-01T00:00:00.000000Z' } : {}) },
    ]),
    /and not with its policy/,
  ],
  [
    'a policy that changes in the middle',
    instead('charge_failed', (one) => [
      one,
      { type: 'dunning_policy_changed', policy: { windowDays: 1 }, moved: [{ ...one }] },
    ]),
    /and not with its policy/,
  ],
  [
    'a period after the last one',
    instead('subscription_started', (one) => [
      one,
      { type: 'end_scheduled', afterNumber: 1, reason: 'payer' },
    ]),
    /comes after the last one/,
  ],
  ['a payment without a charge', without('charge_started'), /by a charge that was not made/],
  ['another price', withPeriod(() => ({ amountMinor: 1 })), /costs/],
  ['a lost wake-up', (kept) => ({ ...kept, row: { ...kept.row, wake_at: null } }), /it sleeps until/],
  [
    'another outcome in a row',
    ({ periods, ...kept }) => ({ ...kept, periods: periods.map((one) => ({ ...one, outcome: 'missed' })) }),
    /its periods are/,
  ],
  [
    'another time that is paid',
    ({ row, ...kept }) => ({
      ...kept,
      row: { ...row, state: { ...row.state, paidThrough: '2031-01-01T00:00:00.000000Z' } },
    }),
    /it is paid through/,
  ],
  ['a change that is charged twice', twice('change_charge_started'), /is charged by .* again/],
  ['a change that is made twice', twice('items_changed'), /a change (of period|gives|uses)|its credit is/],
  [
    'a change that costs less',
    withChange(({ chargeMinor }) => ({ chargeMinor: chargeMinor - 1 })),
    /costs .* and not/,
  ],
  ['credit that is forgotten', withChange(() => ({ creditMinor: 0 })), /costs \d+ less 0, and not/],
  [
    'credit for more than was paid',
    withChange(({ creditMinor }) => ({ creditMinor: creditMinor + 1_000_000 })),
    /that was paid/,
  ],
  [
    'credit that no change has given',
    ({ row, ...kept }) => ({
      ...kept,
      row: { ...row, state: { ...row.state, creditMinor: 1 + (row.state.creditMinor ?? 0) } },
    }),
    /its credit is/,
  ],
  [
    'a new period that starts in another zone',
    withNewPeriod(({ startsAt }) => ({ startsAt: later(startsAt, -1) })),
    /the period that starts on .* starts at/,
  ],
  ['a change that is dropped twice', twice('change_dropped'), /that does not wait/],
  [
    'a try after a consent that came before the failure',
    (kept) => ({ ...kept, consents: kept.consents.map(() => '2026-01-01T00:00:00.000000Z') }),
    /its payer agreed to nothing since/,
  ],
  [
    'a try that was planned before the consent',
    (kept) => ({
      ...kept,
      consents: kept.consents.map((at) => later(at, 12)),
      facts: kept.facts.map((facts, place) =>
        facts.map((one) => {
          const until = later(kept.times[place]!, 24);
          const planned = { type: 'charge_postponed', number: one['number'], why: 'newConsent', until };
          return one['isConsent'] === true ? planned : one;
        }),
      ),
    }),
    /^period \d+ is tried again, and its payer agreed to nothing since/m,
  ],
  ['two tries for one consent', consented((one) => [one, one]), /is tried in any case/],
  [
    'a try for a consent after the end of all tries',
    consented(({ number }) => [
      { type: 'charge_postponed', number, why: 'newConsent', until: '2031-01-01T00:00:00.000000Z' },
    ]),
    /is tried until/,
  ],
  [
    'a try for a consent that heals nothing',
    (kept) =>
      instead('change_charge_failed', (one) => [{ ...one, failedFor: 'funds' }])(
        instead('charge_failed', (one) => [{ ...one, declineClass: 'funds' }])(kept),
      ),
    /(?=[^]*the change waits for funds)(?=[^]*^period \d+ waits for funds)/m,
  ],
  [
    'a second invoice',
    ({ row, ...kept }) => ({ ...kept, row: { ...row, invoices: [...row.invoices, 'other'] } }),
    /invoice other is of none/,
  ],
])('%s is found', (_, mistake, problem) => {
  const found = some.map((kept) => problemsOf(mistake(kept)));
  expect(found.flat().join('\n')).toMatch(problem);
});
