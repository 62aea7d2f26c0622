// Retry rules that need neither database nor bank, and the speed of the decision.
import { describe, expect, test } from 'vitest';
import { instantAt, laterBy, type Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { endOfCard, endOfDay, isDate, monthsAfter } from './calendar.ts';
import { mayCharge, type Decline, type ChargeHistory } from './may-charge.ts';
import { effectsOf, packsInForce, strictest } from './rule-packs.ts';
import {
  applyOutcome,
  evolve,
  type Attempt,
  type ChargeOutcome,
  type Series,
} from '../../recurring/domain/series.ts';

const hour = 3_600_000;
const start = instantAt(Date.UTC(2026, 0, 19));
const at = (hours: number) => laterBy(start, hours * hour);
const declined: ChargeOutcome = { outcome: 'declined', network: 'mastercard', code: '51' };

function startSeries(): Series {
  return evolve(
    undefined,
    {
      type: 'series_started',
      terms: {
        id: 'I.1',
        partyId: 'P',
        shopId: 'S',
        kind: 'customer',
        root: { invoiceId: 'I', paymentId: '1' },
        card: { paymentSystem: 'mastercard', lastDigits: '4444', endsAt: endOfCard('2030-12') },
        mandate: {
          schedule: 'P1M',
          evidence: 'missing',
          payer: { contactInfo: {} },
          payment: { createdAt: start, amountMinor: 1, currency: 'RUB' as Currency, reference: '1' },
        },
        consentedAt: at(-1),
      },
    },
    at(-1),
  );
}

const attemptAt = (createdAt: Instant, isRetry: boolean): Attempt => ({
  invoiceId: 'I2',
  paymentId: '1',
  createdAt,
  amount: { minor: 100n, currency: 'RUB' as Currency },
  isRetry,
});
const historyOf = (series: Series, lastAttemptAt?: Instant): ChargeHistory => ({
  series,
  isAttemptPending: false,
  timeZone: 'UTC',
  declines: [],
  ...(lastAttemptAt ? { lastAttemptAt } : {}),
});
const then = { invoiceCreatedAt: 'then' } as const;

function ended(series: Series, ending: ChargeOutcome, when: Instant, isRetry = false): Series {
  const { facts } = applyOutcome(series, attemptAt(when, isRetry), ending, when);
  return facts.reduce((before, fact) => evolve(before, fact, when), series);
}

describe('binding the same card again', () => {
  test('keeps the failures of the series', () => {
    const failing = ended(startSeries(), declined, start);
    const { card } = failing;
    const renewed = evolve(failing, { type: 'consent_renewed', card }, at(2));
    expect(mayCharge(historyOf(renewed, start), then, at(3))).toMatchObject({
      code: 'recurrentRetryTooEarly',
      retryAfter: at(24),
    });
  });

  test('clears an earlier stop', () => {
    const stopped = ended(startSeries(), { ...declined, code: '41' }, start);
    const cardStop = { at: start, rule: 'code 41', pack: 'mastercard@2025-01-01.2' };
    const withStop = (series: Series) => ({ ...historyOf(series), cardStop });
    expect(mayCharge(withStop(stopped), then, at(48))).toMatchObject({ code: 'recurrentStopped' });
    const renewed = evolve(stopped, { type: 'consent_renewed', card: stopped.card }, at(2));
    expect(mayCharge(withStop(renewed), then, at(48))).toMatchObject({ may: true });
  });
});

test('a charge that never reached the bank starts no failures and uses up no day', () => {
  const unsent = ended(startSeries(), { outcome: 'unsent' }, start);
  expect(unsent.failingSince).toBeUndefined();
  expect(mayCharge(historyOf(unsent), then, at(0))).toMatchObject({ may: true });
});

test('a charge that was sent and not answered uses up the day', () => {
  const lost = ended(startSeries(), { outcome: 'lost' }, start);
  expect(mayCharge(historyOf(lost, start), then, at(1))).toMatchObject({ retryAfter: at(24) });
});

test('the strictest of two rules applies, from the day it is in force', () => {
  const packs = packsInForce('visa', start);
  const ruled = strictest(effectsOf({ code: '62', advice: '24' }, packs));
  expect(ruled.wait).toMatchObject({ rule: 'code 62', effect: { forMs: 7 * 24 * hour } });
  const before = instantAt(Date.UTC(2026, 9, 25) - 1);
  const after = instantAt(Date.UTC(2026, 9, 25));
  const stopOf57 = (when: Instant) => strictest(effectsOf({ code: '57' }, packsInForce('visa', when))).stop;
  expect(stopOf57(before)).toBeUndefined();
  expect(stopOf57(after)).toMatchObject({ rule: 'code 57', pack: 'visa@2026-10-25.2' });
});

test('months are clipped to their last day, and a card expires in the last time zone', () => {
  expect(monthsAfter('2026-08-31T10:00:00.000001Z' as Instant, 6)).toBe('2027-02-28T10:00:00.000001Z');
  expect(monthsAfter('2027-12-31T00:00:00.000000Z' as Instant, 2)).toBe('2028-02-29T00:00:00.000000Z');
  expect(endOfCard('2030-12')).toBe('2031-01-01T12:00:00.000000Z');
  expect(endOfDay('2028-02-28', 'UTC')).toBe('2028-02-29T00:00:00.000000Z');
  expect(endOfDay('9999-12-30', 'UTC')).toBe('9999-12-31T00:00:00.000000Z');
  expect(endOfDay('9999-12-31', 'UTC')).toBe('9999-12-31T23:59:59.999999Z');
  expect(['9999-12-31', '9999-99-99', '9999-12-32', '0999-12-31'].map(isDate)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(['2028-02-29', '2027-02-29', '2027-13-01', '27-01-01', '2027-00-10'].map(isDate)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('31 days of daily retries of 1,000 series are all allowed', () => {
  let attempts = 0;
  for (let number = 0; number < 1_000; number++) {
    let series = startSeries();
    let last: Instant | undefined;
    const declines: Decline[] = [];
    for (let days = 0; days <= 31; days++) {
      const now = at(days * 24);
      const decision = mayCharge({ ...historyOf(series, last), declines }, { invoiceCreatedAt: start }, now);
      if (!decision.may) continue;
      attempts += 1;
      last = now;
      declines.push({ at: now, isOfCharge: true });
      series = ended(series, declined, now, decision.isRetry);
    }
  }
  expect(attempts).toBe(32_000);
});
