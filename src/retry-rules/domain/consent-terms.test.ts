// What a consent limits: the amount before and after a trial, the currency, and one charge in a period.
import { describe, expect, test } from 'vitest';
import { instantAt, laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { Currency } from '../../money.ts';
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import { evolve, type Series } from '../../recurring/domain/series.ts';
import { endOfCard } from './calendar.ts';
import { mayCharge, type Charge, type ChargeHistory } from './may-charge.ts';

const day = 86_400_000;
const start = instantAt(Date.UTC(2026, 0, 19, 10));
const rub = (minor: number) => ({ minor: BigInt(minor), currency: 'RUB' as Currency });
/** The last day of the trial in the table is 31 January, in Moscow. */
const trialEnd = '2026-01-31';
const lastOfTrial = '2026-01-31T20:59:59.999999Z' as Instant;
const afterTrial = '2026-01-31T21:00:00.000000Z' as Instant;

function seriesWith(terms: MandateTerms, from: 'now' | '0.2.0' = 'now'): Series {
  const mandate = {
    schedule: 'as agreed with the merchant',
    ...terms,
    evidence: 'missing',
    payer: { contactInfo: {} },
    payment: { createdAt: start, amountMinor: 1, currency: 'RUB' as Currency, reference: '1' },
  } as const;
  const root = { invoiceId: 'I', paymentId: '1' };
  const card = { paymentSystem: 'visa', lastDigits: '4242', endsAt: endOfCard('2030-12') } as const;
  const common = { id: 'I.1', partyId: 'P', shopId: 'S', kind: 'parent', root, card, mandate } as const;
  const isNow = from === 'now';
  const trialEndsAt = isNow && terms.trialEnd ? afterTrial : undefined;
  const marked = { ...defined({ trialEndsAt }), ...(isNow ? { bindsAmount: true as const } : {}) };
  return evolve(
    undefined,
    { type: 'series_started', terms: { ...common, consentedAt: start, ...marked } },
    start,
  );
}

const historyOf = (series: Series, more: Partial<ChargeHistory> = {}): ChargeHistory => ({
  series,
  isAttemptPending: false,
  declines: [],
  timeZone: 'Europe/Moscow',
  ...more,
});

function decision(series: Series, charge: Partial<Charge>, now: Instant, more: Partial<ChargeHistory> = {}) {
  const said = mayCharge(historyOf(series, more), { invoiceCreatedAt: 'then', ...charge }, now);
  return said.may ? said.warnings.join() || 'allowed' : said;
}
const above = { code: 'recurrentAmountAboveConsent', rule: 'amount', pack: 'house@2026-11-23' };

describe('the largest amount', () => {
  const fixed = { kind: 'fixed', amountMinor: 500 } as const;
  const upTo = { kind: 'upTo', amountMinor: 500 } as const;
  const variable = { kind: 'variable', text: 'by the meter' } as const;
  const price = { amountAfterTrialMinor: 900 };

  test.each<[string, MandateTerms, inTrial: number | undefined, afterwards: number | undefined]>([
    ['fixed', { amountRule: fixed }, 500, 500],
    ['up to', { amountRule: upTo }, 500, 500],
    ['variable', { amountRule: variable }, undefined, undefined],
    ['absent', {}, undefined, undefined],
    ['fixed, with a price after the trial', { amountRule: fixed, ...price }, 500, 900],
    ['up to, with a price after the trial', { amountRule: upTo, ...price }, 500, 900],
    ['variable, with a price after the trial', { amountRule: variable, ...price }, undefined, 900],
    ['absent, with a price after the trial', price, undefined, 900],
    ['a first price above the later one', { amountRule: fixed, amountAfterTrialMinor: 300 }, 500, 300],
  ])('%s', (_, terms, inTrial, afterwards) => {
    const series = seriesWith({ ...terms, trialEnd });
    const below = terms.amountRule?.kind === 'fixed' ? 'amountBelowConsent' : 'allowed';
    for (const [now, most] of [
      [lastOfTrial, inTrial],
      [afterTrial, afterwards],
    ] as const) {
      const said = (minor: number) => decision(series, { amount: rub(minor) }, now);
      if (most === undefined) {
        expect(said(1_000_000)).toBe('allowed');
        continue;
      }
      expect(said(most + 1)).toMatchObject(above);
      expect(said(most)).toBe('allowed');
      expect(said(most - 1)).toBe(below);
    }
  });

  test('of a consent without a trial applies from the start', () => {
    const series = seriesWith({ amountRule: fixed });
    expect(decision(series, { amount: rub(501) }, start)).toEqual({ may: false, ...above });
    expect(decision(series, {}, start)).toBe('allowed');
  });

  test('that comes after the trial is allowed from then on, and retryAfter says so', () => {
    const series = seriesWith({ amountRule: fixed, trialEnd, ...price });
    expect(decision(series, { amount: rub(900) }, start)).toEqual({
      may: false,
      ...above,
      retryAfter: afterTrial,
    });
    expect(decision(series, { amount: rub(901) }, start)).toEqual({ may: false, ...above });
  });
});

test('another currency than that of the consent is refused, whatever the amount', () => {
  const charge = { amount: { minor: 1n, currency: 'USD' as Currency } };
  for (const terms of [{}, { amountRule: { kind: 'upTo', amountMinor: 500 } as const }])
    expect(decision(seriesWith(terms), charge, start)).toEqual({ may: false, ...above, rule: 'currency' });
});

describe('a series of an older version', () => {
  const old = seriesWith({ amountRule: { kind: 'fixed', amountMinor: 500 }, trialEnd }, '0.2.0');
  const dollars = { amount: { minor: 1n, currency: 'USD' as Currency } };

  test('only gets a warning, until the shop enforces amounts', () => {
    expect(decision(old, { amount: rub(501) }, start)).toBe('amountAboveConsent');
    expect(decision(old, dollars, start)).toBe('amountAboveConsent');
    expect(decision(old, { amount: rub(501), enforceAmount: false }, start)).toBe('amountAboveConsent');
    expect(decision(old, { amount: rub(501), enforceAmount: true }, start)).toMatchObject(above);
    expect(decision(old, { ...dollars, enforceAmount: true }, start)).toMatchObject({
      ...above,
      rule: 'currency',
    });
  });

  test('binds once the payer has consented again', () => {
    const { card, mandate } = old;
    const renewed = { type: 'consent_renewed', card, mandate, bindsAmount: true } as const;
    const now = laterBy(start, day);
    expect(decision(evolve(old, renewed, now), { amount: rub(501) }, now)).toMatchObject(above);
    const byOldNode = { type: 'consent_renewed', card, mandate } as const;
    expect(decision(evolve(old, byOldNode, now), { amount: rub(501) }, now)).toBe('amountAboveConsent');
  });

  test('a shop cannot take back that newer amounts bind', () => {
    const series = seriesWith({ amountRule: { kind: 'fixed', amountMinor: 500 } });
    expect(decision(series, { amount: rub(501), enforceAmount: false }, start)).toMatchObject(above);
  });
});

describe('a second charge in one period', () => {
  const monthly = seriesWith({ schedule: 'P1M' });
  const captured = laterBy(start, day);
  const later = laterBy(start, 20 * day);
  /** Midnight in Moscow. */
  const nextPeriod = '2026-02-18T21:00:00.000000Z' as Instant;
  const before = '2026-02-18T20:59:59.999999Z' as Instant;
  const refuse = { periodRule: 'refuse' } as const;
  const refused = {
    may: false,
    code: 'recurrentPeriodAlreadyCharged',
    rule: 'period',
    pack: 'house@2026-11-23',
    retryAfter: nextPeriod,
  };

  test('gets a warning until the next period starts', () => {
    expect(decision(monthly, {}, later)).toBe('allowed');
    expect(decision(monthly, {}, before, { lastCapturedAt: captured })).toBe('periodAlreadyCharged');
    expect(decision(monthly, {}, nextPeriod, { lastCapturedAt: captured })).toBe('allowed');
    expect(decision(monthly, { periodRule: 'warn' }, later, { lastCapturedAt: captured })).toBe(
      'periodAlreadyCharged',
    );
  });

  test('is refused where the shop says so, with the start of the next period', () => {
    expect(decision(monthly, refuse, later, { lastCapturedAt: captured })).toEqual(refused);
    expect(decision(monthly, refuse, nextPeriod, { lastCapturedAt: captured })).toBe('allowed');
  });

  test('is refused without a time while another one is pending', () => {
    const pending = { isAttemptPending: true };
    const { retryAfter: _, ...unknown } = { ...refused, rule: 'attemptPending' };
    expect(decision(monthly, refuse, later, pending)).toEqual(unknown);
    expect(decision(monthly, refuse, later, { ...pending, lastCapturedAt: captured })).toEqual(unknown);
    expect(decision(monthly, {}, later, pending)).toBe('allowed');
  });

  test('of a schedule in words is an ordinary charge', () => {
    const series = seriesWith({ schedule: 'every month' });
    const history = { lastCapturedAt: captured, isAttemptPending: true };
    expect(decision(series, refuse, later, history)).toBe('allowed');
  });

  test('counts from a consent that the payer renewed', () => {
    const { card, mandate } = monthly;
    const renewed = evolve(monthly, { type: 'consent_renewed', card, mandate }, later);
    expect(decision(renewed, {}, later, { lastCapturedAt: captured })).toBe('allowed');
  });

  test('starts with the end of a trial', () => {
    const series = seriesWith({ schedule: 'P1M', trialEnd });
    const history = { lastCapturedAt: captured };
    expect(decision(series, {}, lastOfTrial, history)).toBe('periodAlreadyCharged');
    expect(decision(series, refuse, lastOfTrial, history)).toMatchObject({ retryAfter: afterTrial });
    expect(decision(series, {}, afterTrial, history)).toBe('allowed');
  });
});
