import { expect, test } from 'vitest';
import type { AttemptRow } from '../rows.ts';
import type { Seen } from '../check.ts';
import { consent } from './consent.ts';

const minute = (number: number) => new Date(Date.UTC(2026, 0, 19, 10, number)).toISOString();

function attempt(invoice: string, at: number): Partial<AttemptRow> {
  return {
    series_id: 'S',
    invoice_id: invoice,
    payment_id: '1',
    created_at: minute(at),
    ended_at: minute(at),
    outcome: 'approved',
    amount_minor: 100,
    currency: 'RUB',
    time_zone: 'UTC',
    period_rule: 'refuse',
    held_until: minute(3 * 24 * 60),
    captured_at: null,
    cancelled_at: null,
  };
}

/** A hold at 0 that ends as given, and a second charge of the series at 10. */
function found(end: Partial<AttemptRow> = {}, clockMoves: object[] = []) {
  const attempts = [{ ...attempt('A', 0), ...end }, attempt('B', 10)];
  const terms = { mandate: { schedule: 'P1M', payment: { currency: 'RUB' } } };
  const charges = attempts.flatMap(({ invoice_id: invoiceId, created_at: at }) =>
    ['recurring_charge_started', 'recurring_charge_succeeded'].map((type) => ({
      type,
      invoiceId,
      paymentId: '1',
      at,
    })),
  );
  const ofSeries = [{ type: 'series_started', at: minute(0), terms }, ...charges];
  const histories = new Map([['S', { facts: ofSeries }]]);
  return consent.find({ books: { attempts }, histories, clockMoves } as unknown as Seen);
}

test('no charge is made while an earlier hold can be captured', () => {
  const wrong = [['payment B.1', 'it was made while A.1 could be captured']];
  expect(found()).toEqual(wrong);
  expect(found({ cancelled_at: minute(11) })).toEqual(wrong);
  expect(found({ cancelled_at: minute(9) })).toEqual([]);
  expect(found({ captured_at: minute(9) })).toEqual([['payment B.1', 'it is in the same period as A.1']]);
});

test('the order of dates counts for nothing while a test clock moves', () => {
  const end = { cancelled_at: minute(11) };
  const move = (from: number, to: number) => [
    { fromMs: Date.parse(minute(from)), toMs: Date.parse(minute(to)) },
  ];
  expect(found(end, move(5, 65))).toEqual([]);
  expect(found(end, move(5, 9))).toHaveLength(1);
  expect(found(end, move(12, 65))).toHaveLength(1);
});
