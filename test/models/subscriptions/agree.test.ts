// The comparison finds a service that makes a mistake: each one here is planted.
import { describe, expect, test } from 'vitest';
import { momentIn } from '../../../src/subscriptions/domain/day-window.ts';
import { dayLong } from '../calendar.ts';
import { compareLife } from './agree.ts';
import { planFrom, type Act, type Plan, type Story } from './plan.ts';
import { livedStory } from './service.ts';
import { walkedStory } from './walked.ts';

const lives = 300;

function faultOf(live: (plan: Plan) => Story): string | undefined {
  for (let life = 0; life < lives; life++) {
    const { fault } = compareLife(7_000 + life, live);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

test('without a mistake there is none', () => {
  expect(faultOf(livedStory)).toBeUndefined();
});

test('half a minor unit of what is left after a pause is rounded up', () => {
  const acts: Act[] = [
    { at: 1_809_045_180_007_000, does: 'pause', forgives: true, resumesAt: 1_812_859_200_000_000 },
  ];
  const { anchorDay: _, periods: __, firstPayment: ___, ...drawn } = planFrom(1_019_258);
  // 21 of 30 days, of 2,595.
  const plan: Plan = {
    ...drawn,
    zone: 'America/New_York',
    interval: { months: 1 },
    startsAt: 1_800_583_140_000_000,
    trialDays: 14,
    price: 2_595,
    catchUp: 'current',
    answers: [],
    acts,
    outages: [],
    lateBy: 0,
    stack: false,
  };
  const of = ({ rows }: Story) => rows.filter(({ amount }) => amount !== 2_595 && amount !== 0);
  const moment = momentIn({ from: '06:00', until: '10:00' }, `subscription ${plan.seed}`);
  for (const story of [livedStory(plan), walkedStory(plan, moment)])
    expect(of(story)).toMatchObject([{ amount: 1_817, outcome: 'paid' }]);
});

describe('a service is found that', () => {
  const without = (does: Act['does']) => (plan: Plan) =>
    livedStory({ ...plan, acts: plan.acts.filter((act) => act.does !== does) });

  test.each<Act['does']>([
    'pause',
    'resume',
    'cancelNow',
    'cancelAtEnd',
    'uncancel',
    'zone',
    'priceNext',
    'priceNow',
    'bankAnswers',
    'payerPaysChange',
    'takeBack',
    'payerPays',
    'newCard',
    'consent',
    'forgive',
  ])('forgets %s', (does) => {
    expect(faultOf(without(does))).toBeDefined();
  });

  test.each<[string, (plan: Plan) => Partial<Plan>]>([
    ['forgets the anchor', ({ startsAt }) => ({ startsAt: startsAt + dayLong })],
    ['forgets the trial', () => ({ trialDays: 0 })],
    ['ends a day later', ({ windowDays }) => ({ windowDays: windowDays + 1, tries: [1] })],
    [
      'gives up a day too early',
      ({ windowDays, tries }) => ({
        windowDays: Math.max(1, windowDays - 1),
        tries: tries.filter((day) => day < windowDays),
        classes: {},
      }),
    ],
    ['passes over what a class has of its own', () => ({ classes: {} })],
    [
      'passes over paydays',
      ({ classes }) => ({
        classes: Object.fromEntries(
          Object.entries(classes).map(([name, { paydays: _, ...rule }]) => [name, rule]),
        ),
      }),
    ],
    [
      'counts the tries of a class as those of another',
      ({ classes: { vague, ...classes } }) => ({
        classes: { ...classes, ...(vague ? { issuer: vague } : {}) },
      }),
    ],
    ['tries on other days', ({ tries }) => ({ tries: tries.slice(0, 1) })],
    ['catches up all', () => ({ catchUp: 'all' })],
    ['catches up nothing', () => ({ catchUp: 'none' })],
    ['asks for a period while an older one is unpaid', () => ({ stack: true })],
    ['is never out', () => ({ outages: [] })],
    ['is never late', () => ({ lateBy: 0 })],
    [
      'gives up a payer who has paid for the time',
      ({ answers }) => ({
        answers: answers.map((answer) => (answer === 'periodCharged' ? 'limitReached' : answer)),
      }),
    ],
    ['takes another final action', () => ({ finally: 'end' })],
    ['charges a period too many', ({ periods }) => (periods === undefined ? {} : { periods: periods + 1 })],
    ['takes a failure for a capture', () => ({ answers: [] })],
  ])('%s', (_, mistake) => {
    expect(faultOf((plan) => livedStory({ ...plan, ...mistake(plan) }))).toBeDefined();
  });

  const changing = (mistake: (act: Act & { does: 'priceNow' }) => object) => (plan: Plan) =>
    livedStory({
      ...plan,
      acts: plan.acts.map((act) => (act.does === 'priceNow' ? { ...act, ...mistake(act) } : act)),
    });

  test.each<[string, (act: Act & { does: 'priceNow' }) => object]>([
    ['gives credit that was not wanted', () => ({ credit: 'unused' })],
    ['gives no credit', () => ({ credit: 'none' })],
    ['changes at once what is cheaper', () => ({ when: 'now' })],
    ['takes a declined change for a paid one', () => ({ answer: 'captured' })],
    ['changes a minute later', ({ at }) => ({ at: at + 60_000_000 })],
  ])('%s', (_, mistake) => {
    expect(faultOf(changing(mistake))).toBeDefined();
  });

  const telling = (change: (story: Story) => Partial<Story>) =>
    faultOf((plan) => {
      const story = livedStory(plan);
      return { ...story, ...change(story) };
    });

  test('ends a second later, or loses the failure of a refund', () => {
    const late = telling(({ endedAt }) => (endedAt === undefined ? {} : { endedAt: endedAt + 1_000_000 }));
    expect(late).toMatch(/ended \w+ at/);
    const lost = telling(({ refunds }) => ({
      refunds: refunds.map((refund) => ({ ...refund, hasFailed: false })),
    }));
    expect(lost).toContain('that failed');
  });

  test('charges a change again', () => {
    const twice = telling(({ changes }) => ({ changes: changes.flatMap((one) => [one, one]) }));
    expect(twice).toContain('a change charged');
  });

  test('charges a period twice', () => {
    // After all answers that are drawn, every charge is captured.
    const again = telling(({ charges }) => ({
      charges: charges.flatMap((charge) => Array.from({ length: 30 }, () => charge)),
    }));
    expect(again).toContain('is charged twice');
  });

  test('loses a period', () => {
    // A later one shows the gap.
    const lost = telling(({ rows }) =>
      rows.length < 3 ? {} : { rows: rows.filter(({ number }) => number !== 2) },
    );
    expect(lost).toBe('period 3 follows 1');
  });

  test('leaves a hole between periods', () => {
    const early = telling(({ rows: [first, ...others] }) =>
      first && others.length > 0 ? { rows: [{ ...first, endsAt: first.endsAt - 1 }, ...others] } : {},
    );
    expect(early).toBe('period 2 does not start where the one before ends');
  });
});
