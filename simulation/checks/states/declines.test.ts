import { expect, test } from 'vitest';
import type { AttemptRow } from '../rows.ts';
import type { Seen } from '../check.ts';
import { declines } from './declines.ts';

const minute = (number: number) => new Date(Date.UTC(2026, 0, 19, 10, number)).toISOString();

function attempt(invoice: string, at: number, more: Partial<AttemptRow> = {}): AttemptRow {
  return {
    series_id: 'S',
    invoice_id: invoice,
    payment_id: '1',
    created_at: minute(at),
    ended_at: minute(at),
    outcome: 'declined',
    network: 'visa',
    code: '51',
    advice: null,
    terminal: 'T0',
    amount_minor: 100,
    currency: 'RUB',
    invoice_created_at: minute(0),
    card_key: 'card',
    shop: 'shop',
    payment_system: 'visa',
    held_until: null,
    captured_at: null,
    cancelled_at: null,
    time_zone: 'UTC',
    period_rule: null,
    ...more,
  };
}

/** The log of a series whose charges were made and ended one after the other. */
function logOf(attempts: readonly AttemptRow[], renewedBefore?: string) {
  return [
    { type: 'series_started', at: minute(0) },
    ...attempts.flatMap((one) => [
      ...(one.invoice_id === renewedBefore ? [{ type: 'consent_renewed', at: one.created_at }] : []),
      ...['recurring_charge_started', 'recurring_charge_failed'].map((type) => ({
        type,
        invoiceId: one.invoice_id,
        paymentId: '1',
        at: one.created_at,
      })),
    ]),
  ];
}

function found(
  attempts: readonly AttemptRow[],
  more: {
    failing?: string;
    renewedBefore?: string;
    payerDeclines?: object[];
    invoice?: object[];
    clockMoves?: object[];
  } = {},
) {
  const { failing = null, renewedBefore, payerDeclines = [], invoice = [], clockMoves = [] } = more;
  const series = [{ series_id: 'S', failing_since: failing }];
  const histories = new Map([
    ['S', { facts: logOf(attempts, renewedBefore) }],
    ['P', { facts: invoice }],
  ]);
  return declines.find({
    books: { attempts, series, payerDeclines },
    histories,
    clockMoves,
  } as unknown as Seen);
}

test.each([
  ['54', 'visa', null, 1],
  ['1A', 'mir', null, 1],
  ['65', 'mastercard', null, 1],
  ['authentication_required', 'visa', null, 1],
  ['65', 'visa', null, 0],
  ['51', 'visa', '21', 1],
  ['54', 'bank', null, 0],
  ['05', 'visa', '24', 0],
])('a charge after code %s of %s with advice %s', (code, network, advice, problems) => {
  const rows = [attempt('A', 0, { code, network, advice }), attempt('B', 60 * 48, { outcome: 'approved' })];
  expect(found(rows)).toHaveLength(problems);
  expect(found(rows, { renewedBefore: 'B' })).toEqual([]);
});

test('a series that counts as failing only because of a wrong set-up', () => {
  expect(found([attempt('A', 0, { code: '58' })], { failing: minute(0) })).toHaveLength(1);
  expect(found([attempt('A', 0, { code: '51' })], { failing: minute(0) })).toEqual([]);
});

test('a charge through a terminal that was called wrong within 15 minutes', () => {
  const wrong = attempt('A', 0, { code: '03' });
  const next = (at: number, terminal = 'T0') =>
    found([wrong, attempt('B', at, { outcome: 'approved', terminal })]);
  expect(next(1)).toHaveLength(1);
  expect(next(14)).toHaveLength(1);
  expect(next(15)).toEqual([]);
  expect(next(1, 'T1')).toEqual([]);
  const moved = (from: number, to: number) => {
    const move = { fromMs: Date.parse(minute(from)), toMs: Date.parse(minute(to)) };
    return found([wrong, attempt('B', 10, { outcome: 'approved' })], { clockMoves: [move] });
  };
  expect(moved(-1, 10)).toEqual([]);
  expect(moved(-1, 60)).toEqual([]);
  expect(moved(-60, 0)).toHaveLength(1);
  expect(moved(11, 60)).toHaveLength(1);
});

test('a charge after the payer stopped the merchant while present', () => {
  const payerDeclines = [
    { card_key: 'card', shop: 'shop', invoice_id: 'P', payment_id: '1', amount_minor: 199_909 },
  ];
  const failed = (reason: string) => [
    { type: 'payment_failed', paymentId: '1', failure: ['authorization_failed', reason], at: minute(10) },
  ];
  const charged = (at: number, reason = 'operation_blocked', renewedBefore?: string) =>
    found([attempt('B', at, { outcome: 'approved' })], {
      payerDeclines,
      invoice: failed(reason),
      ...(renewedBefore ? { renewedBefore } : {}),
    });
  expect(charged(20)).toHaveLength(1);
  expect(charged(9)).toEqual([]);
  expect(charged(20, 'insufficient_funds')).toEqual([]);
  expect(charged(20, 'operation_blocked', 'B')).toEqual([]);
});
