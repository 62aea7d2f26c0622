// When a failed charge is tried again, by the class of the decline, and which policies are refused.
import { describe, expect, test } from 'vitest';
import { declineClasses, type DeclineClass } from '../../../acquiring/domain/decline-class.ts';
import { laterBy, type Instant } from '../../../clock.ts';
import {
  checkFits,
  checkPolicy,
  givesUpAt,
  monthlyPolicy,
  nextTryAt,
  usualPolicy,
  type DunningPolicy,
} from './dunning.ts';

const zone = 'Europe/Berlin';
const at = (text: string) => `${text}:00.000000Z` as Instant;
/** Monday, noon in Berlin. */
const failed = at('2027-02-01T11:00');
const monthly = { count: 1, unit: 'M' } as const;
const plain: DunningPolicy = {
  name: 'plain',
  version: 1,
  tries: [1, 3, 6, 10],
  at: { from: '06:00', until: '06:01' },
  windowDays: 26,
  finally: 'end',
};

/** The local dates of all tries, if each one fails at its time. */
function triesOf(policy: DunningPolicy, declineClass: DeclineClass, retryAfter?: Instant): string[] {
  const dates: string[] = [];
  let last: Instant | undefined = failed;
  for (let retries = 0; last !== undefined; retries++) {
    const failure = { at: last, declineClass, ...(retryAfter ? { retryAfter } : {}) };
    const so = { firstFailedAt: failed, retries, retriesOfClass: retries };
    last = nextTryAt(policy, so, failure, { id: 'S', zone });
    if (last !== undefined) dates.push(last.slice(5, 16));
  }
  return dates;
}

describe('tries', () => {
  test('are at the local hours of the planned days', () => {
    expect(triesOf(plain, 'technical')).toEqual(['02-02T05:00', '02-04T05:00', '02-07T05:00', '02-11T05:00']);
  });

  test('follow the local calendar when the clocks change', () => {
    const late = { ...plain, tries: [26, 28], windowDays: 30, stack: true };
    const tryAt = (retries: number, last: Instant) =>
      nextTryAt(
        late,
        { firstFailedAt: at('2027-03-01T11:00'), retries, retriesOfClass: retries },
        { at: last, declineClass: 'funds' },
        { id: 'S', zone },
      );
    expect(tryAt(0, at('2027-03-01T11:00'))?.slice(0, 16)).toBe('2027-03-27T05:00');
    expect(tryAt(1, at('2027-03-27T05:00'))?.slice(0, 16)).toBe('2027-03-29T04:00');
  });

  test.each<[DeclineClass, number]>([
    ['funds', 4],
    ['vague', 3],
    ['issuer', 1],
    ['technical', 4],
    ['newCard', 0],
    ['payerPresent', 0],
    ['stopped', 0],
    ['configuration', 0],
  ])('after %s there are %i', (declineClass, count) => {
    expect(triesOf(plain, declineClass)).toHaveLength(count);
  });

  test('every class has a row above', () => {
    expect(declineClasses).toHaveLength(8);
  });

  test('a class may have tries and a number of its own', () => {
    const policy = { ...plain, byClass: { funds: { tries: [2] }, vague: { maxTries: 1 } } };
    expect(triesOf(policy, 'funds')).toEqual(['02-03T05:00']);
    expect(triesOf(policy, 'vague')).toEqual(['02-02T05:00']);
  });

  test('after a bank that was away are days after that failure, and no more than a network allows', () => {
    const policy = { ...plain, byClass: { technical: { tries: [1] } } };
    const late = { at: at('2027-02-07T05:00'), declineClass: 'technical' } as const;
    const so = { firstFailedAt: failed, retries: 3, retriesOfClass: 0 };
    expect(nextTryAt(policy, so, late, { id: 'S', zone })?.slice(0, 16)).toBe('2027-02-08T05:00');
    expect(triesOf(policy, 'technical')).toHaveLength(14);
  });

  test('of a class are counted by that class', () => {
    const late = { at: at('2027-02-04T05:00'), declineClass: 'issuer' } as const;
    const after = (retriesOfClass: number) =>
      nextTryAt(plain, { firstFailedAt: failed, retries: 2, retriesOfClass }, late, { id: 'S', zone });
    expect([after(0)?.slice(0, 16), after(1)]).toEqual(['2027-02-07T05:00', undefined]);
  });

  test.each([
    [31, '02-28'],
    [30, '02-28'],
    [28, '02-28'],
    [27, '02-27'],
  ])('on day %i of the month are in February on %s', (day, date) => {
    const policy = { ...plain, tries: [25], byClass: { funds: { onDays: { days: [day], within: 3 } } } };
    expect(triesOf({ ...policy, windowDays: 30 }, 'funds')).toEqual([`${date}T05:00`]);
  });

  test('move to a payday that is near, and never two to the same', () => {
    const onDays = (...days: number[]) => ({
      ...plain,
      tries: [1, 2, 3, 13, 24],
      windowDays: 27,
      byClass: { funds: { onDays: { days, within: 3 } } },
    });
    expect(triesOf(onDays(5, 15, 31), 'funds').map((date) => date.slice(0, 5))).toEqual([
      '02-05',
      '02-15',
      '02-28',
    ]);
  });

  test('wait for the rule packs and the bank, and then for the local hours', () => {
    expect(triesOf(plain, 'issuer', at('2027-02-08T04:59'))).toEqual(['02-08T05:00']);
    expect(triesOf(plain, 'issuer', at('2027-02-08T05:01'))).toEqual(['02-09T05:00']);
  });

  test('end with the window', () => {
    expect(givesUpAt(plain, failed)).toBe(laterBy(failed, 26 * 86_400_000));
    expect(triesOf(plain, 'issuer', at('2027-02-27T05:01'))).toEqual([]);
    expect(triesOf(plain, 'issuer', at('2027-02-26T05:01'))).toEqual(['02-27T05:00']);
  });
});

describe('policies', () => {
  const check = (policy: Partial<DunningPolicy>) => checkPolicy({ ...plain, ...policy }, failed);
  const days = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

  test('the monthly one is accepted', () => {
    expect(checkPolicy(monthlyPolicy, failed)).toEqual({ ok: true, value: monthlyPolicy });
    expect(checkFits(monthlyPolicy, monthly)).toEqual({ ok: true, value: monthlyPolicy });
  });

  test.each<[string, Partial<DunningPolicy>, string]>([
    [
      'two tries on one date',
      { tries: [1, 3, 3] },
      'Rule onceADay of house@2026-11-23: two `tries` are on one day.',
    ],
    [
      'the same in a class',
      { byClass: { technical: { tries: [1, 1] } } },
      'Rule onceADay of house@2026-11-23: two `tries` are on one day.',
    ],
    ['a try on the day of the failure', { tries: [0] }, '`tries` must be whole numbers of days, 1 or more.'],
    [
      'more tries than a network allows',
      { tries: days(15) },
      'Rule declinesIn30Days of visa@2026-10-25.2: 15 attempts are allowed, with the first.',
    ],
    [
      'more than 31 days',
      { windowDays: 32 },
      'Rule retryWindow of house@2026-11-23: a charge is retried for 31 days at most.',
    ],
    [
      'a window that closes with the younger invoices',
      { windowDays: 31, stack: true },
      'With `stack`, `windowDays` must be 30 at most.',
    ],
    [
      'an email after the end',
      { emailDays: [0, 27] },
      '`emailDays` must be different days from 0 to `windowDays`.',
    ],
    [
      'two emails on a day',
      { emailDays: [2, 2] },
      '`emailDays` must be different days from 0 to `windowDays`.',
    ],
    ['a try after the end', { tries: [1, 27] }, 'A try is after `windowDays`.'],
    ['no window', { windowDays: 0 }, '`windowDays` must be a whole number of days, 1 or more.'],
    [
      'no hours',
      { at: { from: '10:00', until: '06:00' } },
      '`at` must end after it starts, on the same day.',
    ],
    ['half a try', { byClass: { vague: { maxTries: 0.5 } } }, '`maxTries` must be a whole number.'],
    [
      'a false payday',
      { byClass: { funds: { onDays: { days: [32], within: 3 } } } },
      '`onDays` must be days of the month.',
    ],
    [
      'a far payday',
      { byClass: { funds: { onDays: { days: [1], within: 31 } } } },
      '`within` must be 1 to 30.',
    ],
  ])('%s is refused', (_, policy, hint) => {
    expect(check(policy)).toEqual({ ok: false, refusal: { code: 'invalidDunningPolicy', hint } });
  });

  test('end before the next period, or stack', () => {
    const weekly = { count: 1, unit: 'W' } as const;
    const fits = (policy: Partial<DunningPolicy>, every: Parameters<typeof checkFits>[1]) =>
      checkFits({ ...plain, ...policy }, every);
    expect(fits({ windowDays: 27 }, monthly)).toEqual({
      ok: false,
      refusal: {
        code: 'invalidDunningPolicy',
        hint: 'Rule nextPeriod: `windowDays` of policy plain must be less than 27, or choose `stack`.',
      },
    });
    expect(fits({ windowDays: 6 }, weekly).ok).toBe(false);
    expect(fits({ windowDays: 5 }, weekly).ok).toBe(true);
    expect(fits({ windowDays: 30, stack: true }, weekly).ok).toBe(true);
  });

  test('the usual one is right for every schedule that has a retry', () => {
    for (const unit of ['D', 'W', 'M', 'Y'] as const)
      for (let count = 1; count <= 60; count++) {
        const policy = usualPolicy({ count, unit }, 'end');
        expect(policy === undefined).toBe(unit === 'D' && count < 3);
        if (!policy) continue;
        expect(checkPolicy(policy, failed).ok).toBe(true);
        expect(checkFits(policy, { count, unit }).ok).toBe(true);
      }
  });
});
