// When a failing series may be charged again, by the numbers of the cases. Cases 11, 12, 14 and 17 to 19 need the service:
// test/api/recurring/recurring.test.ts.
import { describe, expect, test } from 'vitest';
import { epochMsOf, laterBy, type Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import {
  applyOutcome,
  countsAsDecline,
  evolve,
  type Attempt,
  type ChargeOutcome,
  type Series,
} from '../../recurring/domain/series.ts';
import { endOfCard } from './calendar.ts';
import { seriesAt } from './failures.ts';
import { mayCharge, type CardStop, type Charge, type Decline } from './may-charge.ts';

const hour = 3_600_000;
const moscow = 'Europe/Moscow';
/** Noon in Moscow. */
const noon = '2026-01-19T09:00:00.123456Z' as Instant;

/** A series and what is read with it, with time in hours from `start`. */
function charging({ start = noon, timeZone = moscow, network = 'visa' as 'visa' | 'mastercard' } = {}) {
  const at = (hours: number, ms = 0) => laterBy(start, Math.round(hours * hour) + ms);
  const card = { paymentSystem: network, lastDigits: '4242', endsAt: endOfCard('2030-12') };
  const payment = { createdAt: at(-48), amountMinor: 1, currency: 'RUB' as Currency, reference: '1' };
  const mandate = { schedule: 'words', evidence: 'missing', payer: { contactInfo: {} }, payment } as const;
  const root = { invoiceId: 'I', paymentId: '1' };
  const terms = { id: 'I.1', partyId: 'P', shopId: 'S', kind: 'customer', root, card, mandate } as const;
  let series: Series = evolve(
    undefined,
    { type: 'series_started', terms: { ...terms, consentedAt: at(-48) } },
    at(-48),
  );
  let lastAttemptAt: Instant | undefined;
  let isAttemptPending = false;
  let cardStop: CardStop | undefined;
  const declines: Decline[] = [];

  const self = {
    at,
    decision(hours: number, ms = 0, invoiceAt: number | 'then' = 'then') {
      const charge: Charge = { invoiceCreatedAt: invoiceAt === 'then' ? 'then' : at(invoiceAt) };
      const history = {
        series,
        isAttemptPending,
        timeZone,
        declines,
        ...(lastAttemptAt ? { lastAttemptAt } : {}),
        ...(cardStop ? { cardStop } : {}),
      };
      const said = mayCharge(history, charge, at(hours, ms));
      if (said.may) return 'accepted';
      const { code, retryAfter } = said;
      return retryAfter
        ? [code, (epochMsOf(retryAfter) - epochMsOf(start)) / hour, retryAfter.slice(20, 26)]
        : [code];
    },
    ends(hours: number, ending: ChargeOutcome) {
      const now = at(hours);
      const amount = { minor: 100n, currency: 'RUB' as Currency };
      const isRetry = seriesAt(series, now).failingSince !== undefined;
      const attempt: Attempt = { ...root, createdAt: now, amount, isRetry };
      if (ending.outcome !== 'unsent') lastAttemptAt = now;
      const { facts, cardStop: stop } = applyOutcome(series, attempt, ending, now);
      for (const fact of facts) series = evolve(series, fact, now);
      if (stop) cardStop = { at: now, rule: stop.rule, pack: stop.pack };
      if (countsAsDecline(ending)) declines.push({ at: now, isOfCharge: true });
      return self;
    },
    fails: (hours: number, code = '51', advice?: string) =>
      self.ends(hours, { outcome: 'declined', network, code, ...(advice ? { advice } : {}) }),
    isPending(hours: number) {
      lastAttemptAt = at(hours);
      isAttemptPending = true;
      return self;
    },
    failsDaily(days: number) {
      for (let day = 0; day < days; day++) self.fails(24 * day);
      return self;
    },
    bindsAgain(hours: number) {
      series = evolve(series, { type: 'consent_renewed', card }, at(hours));
      return self;
    },
  };
  return self;
}
const tooEarly = (hours: number, micros = '123456') => ['recurrentRetryTooEarly', hours, micros];

describe('once a day', () => {
  test('1, 2: 22 hours and 45 minutes later, to the microsecond', () => {
    const one = charging().fails(0);
    expect(one.decision(22.75, -1_000)).toEqual(tooEarly(22.75));
    expect(one.decision(22.75, -1)).toEqual(tooEarly(22.75));
    expect(one.decision(22.75)).toBe('accepted');
  });

  test('2a: refuses a second charge on the same local date', () => {
    // Five past midnight in Moscow, which is still the day before in UTC.
    const one = charging({ start: '2026-01-18T21:05:00.123456Z' as Instant }).fails(0);
    const midnight = '2026-01-19T21:00:00.000000Z' as Instant;
    const hours = (epochMsOf(midnight) - epochMsOf(one.at(0))) / hour;
    expect(one.decision(23.75)).toEqual(tooEarly(hours, '000000'));
    expect(one.decision(hours, -1)).toEqual(tooEarly(hours, '000000'));
    expect(one.decision(hours, 1)).toBe('accepted');
  });

  test('2a: and not two minutes later on the next one', () => {
    const one = charging({ start: '2026-01-19T20:59:00.000000Z' as Instant }).fails(0);
    expect(one.decision(2 / 60)).toEqual(tooEarly(22.75, '000000'));
  });

  test.each([
    ['2b: forward', '2027-03-27T11:00:00.000000Z', 23],
    ['2b: back', '2027-10-30T10:00:00.000000Z', 25],
  ])('%s in the night: at the same local time', (_, start, sameTime) => {
    const one = charging({ start: start as Instant, timeZone: 'Europe/Berlin' }).fails(0);
    expect(one.decision(sameTime)).toBe('accepted');
    expect(one.decision(22.75, -1)).toEqual(tooEarly(22.75, '000000'));
  });

  test('2a: on a day of 25 hours, the date lasts longer', () => {
    const midnight = '2027-10-30T22:00:00.000000Z' as Instant;
    const one = charging({ start: midnight, timeZone: 'Europe/Berlin' }).fails(0);
    expect(one.decision(24.5)).toEqual(tooEarly(25, '000000'));
    expect(one.decision(25)).toBe('accepted');
  });

  test('3: without failures, any number', () => {
    const one = charging().fails(0).ends(24, { outcome: 'approved' });
    expect(one.decision(25)).toBe('accepted');
  });

  test('7: counts the charges of every invoice', () => {
    expect(charging().fails(0).decision(1, 0, 0.5)).toEqual(tooEarly(22.75));
  });

  test('15: a pending retry has no time, and without failures it refuses nothing', () => {
    expect(charging().fails(0).isPending(24).decision(25)).toEqual(['recurrentRetryTooEarly']);
    expect(charging().isPending(24).decision(25)).toBe('accepted');
  });

  test('16: an attempt that was not sent does not count', () => {
    expect(charging().ends(0, { outcome: 'unsent' }).decision(0, 1_000)).toBe('accepted');
  });
});

describe('31 days', () => {
  test('4, 5: to the end of the last one, on the same invoice', () => {
    const one = charging({ network: 'mastercard' })
      .fails(0)
      .fails(30 * 24);
    expect(one.decision(31 * 24, 0, 0)).toBe('accepted');
    expect(one.decision(31 * 24, 1, 0)).toEqual(['recurrentRetryWindowExpired']);
  });

  test('6: a later invoice is a new obligation', () => {
    const one = charging({ network: 'mastercard' })
      .fails(0)
      .fails(30 * 24);
    expect(one.decision(31 * 24 + 1, 0, 31 * 24 + 1)).toBe('accepted');
    one.fails(31 * 24 + 1);
    expect(one.decision(31 * 24 + 2, 0, 31 * 24 + 1)).toEqual(tooEarly(31 * 24 + 1 + 22.75));
  });
});

describe('stricter rules', () => {
  test('8: the advice of the network delays the next charge', () => {
    expect(charging({ network: 'mastercard' }).fails(0, '51', '27').decision(95)).toEqual(tooEarly(96));
  });

  test('9: the declines of a card in 30 days', () => {
    expect(
      charging()
        .failsDaily(15)
        .decision(16 * 24),
    ).toEqual(['recurrentRetryLimitReached', 30 * 24, '123456']);
  });

  test('10: a final decline stops the series', () => {
    for (const hours of [1, 24, 31 * 24])
      expect(charging().fails(0, '41').decision(hours)).toEqual(['recurrentStopped']);
  });
});

test('13: binding the same card again keeps the failures', () => {
  expect(charging().fails(0).bindsAgain(2).decision(3)).toEqual(tooEarly(22.75));
});
