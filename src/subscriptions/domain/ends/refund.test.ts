// What an end gives back, by the table of cases: each line is worked out by hand from the rules.
import { describe, expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import { decideCancel, decideWake } from '../commands.ts';
import { decideForPayer } from '../payer-acts.ts';
import {
  evolveAll,
  nextAction,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from '../subscription.ts';
import { wakeTimeOf } from '../wake-time.ts';
import { invoicesToRefund, refundsOf, startedRefunds } from './refund.ts';

const at = (text: string) => `${text}.000000Z` as Instant;
/** 30 days. */
const period: Period = {
  number: 3,
  kind: 'regular',
  startsOn: '2027-01-01',
  endsOn: '2027-01-31',
  startsAt: at('2027-01-01T00:00:00'),
  endsAt: at('2027-01-31T00:00:00'),
  dueAt: at('2027-01-01T06:00:00'),
  lines: [],
  amountMinor: 3_000n,
  creditMinor: 0n,
  invoiceId: 'I3',
  outcome: 'paid',
};
const tea = (priceMinor: bigint, quantity = 1n) => ({ product: 'Tea', quantity, priceMinor });

const running = {
  phase: 'running',
  terms: { id: 'S', schedule: { anchor: 'atStart' } },
  schedule: { leading: [] },
  items: [tea(3_000n)],
  latest: period,
  paidMinor: 3_000n,
  creditMinor: 0n,
  open: [],
  missed: [],
  charges: [],
  lastPaid: { number: 3, invoiceIds: ['I3'] },
} as unknown as Subscription;

function ended(refund: 'unused' | 'last', when: Instant, more: Partial<Subscription> = {}): Subscription {
  const before = { ...running, ...more };
  const decision = decideCancel(before, { when: 'now', by: 'merchant', refund });
  if (!decision.ok) throw new Error(decision.refusal.code);
  return evolveAll(before, decision.value, when);
}

const paid = (leftMinor: bigint, invoiceId = 'I3') => ({ invoiceId, paymentId: '1', leftMinor });
const given = (...of: Parameters<typeof refundsOf>) => refundsOf(...of).map(({ amountMinor }) => amountMinor);

describe('the unused time', () => {
  test.each<[string, string, bigint[], Partial<Subscription>, bigint[]]>([
    ['of a third that is used', '2027-01-11T00:00:00', [3_000n], {}, [2_000n]],
    ['of the last second', '2027-01-30T23:59:59', [3_000n], {}, []],
    ['of half a minor unit is one', '2027-01-16T00:00:00', [1n], { items: [tea(1n)], paidMinor: 1n }, [1n]],
    [
      'is rounded for each line',
      '2027-01-16T00:00:00',
      [4n],
      { items: [tea(1n, 3n), tea(1n)], paidMinor: 4n },
      [3n],
    ],
    ['of a period that has not started is all', '2026-12-31T00:00:00', [3_000n], {}, [3_000n]],
    ['of a period that is over is nothing', '2027-01-31T00:00:00', [3_000n], {}, []],
    ['is at most what is left of the payment', '2027-01-11T00:00:00', [500n], {}, [500n]],
    ['of a payment that is refunded is nothing', '2027-01-11T00:00:00', [], {}, []],
    [
      'is at most what money has paid, where credit has paid the rest',
      '2027-01-11T00:00:00',
      [1_200n],
      { latest: { ...period, amountMinor: 1_200n, creditMinor: 1_800n } },
      [1_200n],
    ],
    [
      'that credit was given for is not given again',
      '2027-01-11T00:00:00',
      [3_000n],
      { paidMinor: 700n },
      [700n],
    ],
    ['of a trial is nothing', '2027-01-11T00:00:00', [3_000n], { latest: { ...period, kind: 'trial' } }, []],
    [
      'of a period that is not paid is nothing',
      '2027-01-11T00:00:00',
      [3_000n],
      { latest: { ...period, number: 4, outcome: 'missed' } },
      [],
    ],
    [
      'of a dearer change comes from both payments',
      '2027-01-11T00:00:00',
      [3_000n, 2_500n],
      { items: [tea(6_000n)], paidMinor: 5_500n },
      [3_000n, 1_000n],
    ],
  ])('%s', (_, when, left, more, expected) => {
    const payments = left.map((minor, index) => paid(minor, `I${3 + index}`));
    expect(given(ended('unused', at(when), more), payments)).toEqual(expected);
  });
});

describe('the last paid period', () => {
  test('is given back as far as it is not refunded, whenever it was', () => {
    const after = ended('last', at('2027-06-01T00:00:00'), {
      latest: { ...period, number: 5, outcome: 'skipped' },
    });
    expect(given(after, [paid(2_000n), paid(900n, 'I9')])).toEqual([2_000n, 900n]);
    expect(given(after, [paid(0n)])).toEqual([]);
  });

  test('is that of the newest number, with the invoices of its changes', () => {
    const now = at('2027-01-12T00:00:00');
    const open = { ...period, number: 2, invoiceId: 'I2', outcome: 'open', retries: 0 } as const;
    const change = { period: 3, items: [tea(4n)], creditMinor: 0n, chargeMinor: 5n, fromBalanceMinor: 0n };
    const before = { ...running, open: [open] };
    const after = evolveAll(
      before,
      [
        { type: 'period_paid', number: 2, by: 'payer' },
        { type: 'items_changed', change: { ...change, invoiceId: 'C3' } },
        { type: 'items_changed', change: { ...change, period: 2, invoiceId: 'C2' } },
        { type: 'items_changed', change },
      ],
      now,
    );
    expect(invoicesToRefund(after)).toEqual(['I3', 'C3']);
    const next = { ...period, number: 4, invoiceId: 'I4' };
    const renewed = evolveAll(after, [{ type: 'period_created', period: { ...next, outcome: 'open' } }], now);
    expect(invoicesToRefund(renewed)).toEqual(['I3', 'C3']);
    expect(
      invoicesToRefund(evolveAll(renewed, [{ type: 'period_paid', number: 4, by: 'charge' }], now)),
    ).toEqual(['I4']);
    const free = evolveAll(
      after,
      [
        {
          type: 'period_created',
          period: { ...period, number: 4, invoiceId: undefined } as unknown as Period,
        },
      ],
      now,
    );
    expect(invoicesToRefund(free)).toEqual([]);
  });

  describe('after a bank has taken money back', () => {
    const now = at('2027-01-12T00:00:00');
    const lost = (of: Period) =>
      ({ type: 'payment_taken_back', period: { ...of, outcome: 'missed' } }) as const;
    const next = { ...period, number: 4, invoiceId: 'I4' };
    const change = { period: 3, items: [tea(4n)], creditMinor: 0n, chargeMinor: 5n, fromBalanceMinor: 0n };
    const changed = { type: 'items_changed', change: { ...change, invoiceId: 'C3' } } as const;
    const renewed = [
      { type: 'period_created', period: { ...next, outcome: 'open' } },
      { type: 'period_paid', number: 4, by: 'charge' },
    ] as const;
    const again = [
      { type: 'missed_period_charged', number: 3, invoiceId: 'again' },
      { type: 'period_paid', number: 3, by: 'charge' },
    ] as const;

    test.each<[string, SubscriptionFact[], string[]]>([
      ['of the last one, it is the one before', [changed, ...renewed, lost(next)], ['I3', 'C3']],
      ['of the one before too, it is none', [changed, ...renewed, lost(next), lost(period)], []],
      ['of the one before, it is the last one', [changed, ...renewed, lost(period)], ['I4']],
      ['and it is paid again, its changes count', [changed, lost(period), ...again], ['again', 'C3']],
      [
        'of both, and the older one is paid again',
        [changed, ...renewed, lost(period), lost(next), ...again],
        ['again', 'C3'],
      ],
    ])('%s', (_, facts, expected) => {
      expect(invoicesToRefund(evolveAll(running, facts, now))).toEqual(expected);
    });
  });

  test('of a row that an older version wrote is its latest', () => {
    const { lastPaid: _, ...older } = running;
    expect(invoicesToRefund(older)).toEqual(['I3']);
    expect(invoicesToRefund({ ...older, latest: { ...period, outcome: 'skipped' } })).toEqual([]);
    const next = { ...period, number: 4, invoiceId: 'I4' };
    expect(invoicesToRefund({ ...running, latest: next })).toEqual(['I4']);
  });
});

describe('a refund that fails after it was started', () => {
  const now = at('2027-01-11T00:00:00');
  const refund = (invoiceId: string) => ({ invoiceId, paymentId: '1', amountMinor: 1n, refundId: '100' });
  const started = (invoiceId: string) => ({ type: 'end_refund_started', ...refund(invoiceId) }) as const;
  const failed = (invoiceId: string, failedFor = 'unknown') =>
    ({ type: 'end_refund_failed', ...refund(invoiceId), failedFor }) as const;
  const refused = { type: 'end_refund_refused', refusedFor: 'code', ...paid(2n), amountMinor: 2n } as const;

  test.each<[string, SubscriptionFact[], string[], (string | undefined)[]]>([
    ['is one of two', [started('I3'), started('C3'), failed('I3')], ['C3'], ['unknown', undefined]],
    ['is the later of two', [started('I3'), started('C3'), failed('C3')], ['I3'], [undefined, 'unknown']],
    [
      'is each of two',
      [started('I3'), started('C3'), failed('I3'), failed('C3')],
      [],
      ['unknown', 'unknown'],
    ],
    ['is none that could not start', [refused, started('C3'), failed('C3')], [], [undefined, 'unknown']],
    ['is none of those that the bank has not declined', [started('I3')], ['I3'], [undefined]],
  ])('%s', (_, facts, pending, expected) => {
    const after = evolveAll(ended('last', now), facts, now);
    expect(startedRefunds(after).map(({ invoiceId }) => invoiceId)).toEqual(pending);
    expect(after.endRefund?.refunds.map(({ failedFor }) => failedFor)).toEqual(expected);
    expect(nextAction(after)).toBeUndefined();
    expect(wakeTimeOf(after, now)).toBe(pending.length > 0 ? at('2027-01-11T01:00:00') : undefined);
  });
});

describe('an end', () => {
  const now = at('2027-01-11T00:00:00');

  test('without a wish gives back nothing, and is due for nothing', () => {
    const decision = decideCancel(running, { when: 'now', by: 'merchant' });
    const after = evolveAll(running, decision.ok ? decision.value : [], now);
    expect([after.endRefund, nextAction(after)]).toEqual([undefined, undefined]);
    expect(given(after, [paid(3_000n)])).toEqual([]);
  });

  test('gives back once, and after what is at the bank', () => {
    const atBank = { ...period, number: 4, outcome: 'open', retries: 0, charging: 'I4.1' } as const;
    const waits = ended('last', now, { open: [atBank] });
    expect(nextAction(waits)).toBeUndefined();
    const after = evolveAll(waits, [{ type: 'period_paid', number: 4, by: 'charge' }], now);
    expect(nextAction(after)).toEqual({ does: 'refund', at: now });
    expect(decideWake(after, now, { invoiceId: 'I', paymentId: 'I.1' })).toEqual([]);
    const refund = { invoiceId: 'I3', paymentId: '1', amountMinor: 1n };
    const done = evolveAll(after, [{ type: 'end_refund_started', ...refund, refundId: '100' }], now);
    expect([nextAction(done), done.endRefund?.refunds]).toEqual([
      undefined,
      [{ ...refund, refundId: '100' }],
    ]);
  });

  test('waits for the charge of a change, and is due though charging was stopped', () => {
    const change = { charging: 'C.1', invoiceId: 'C' } as Subscription['change'];
    expect(nextAction(ended('last', now, { change: change! }))).toBeUndefined();
    expect(nextAction(ended('last', now, { parkedFor: 'periodAhead' }))).toMatchObject({ does: 'refund' });
  });

  test('of the period gives nothing back, and payers have no such wish', () => {
    const refused = decideCancel(running, { when: 'periodEnd', by: 'merchant', refund: 'last' });
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'invalidRequest' } });
    const may = { pause: true, changeCard: true };
    const byPayer = decideForPayer(running, 'end', { may, invoiceId: 'I' }, now);
    expect(byPayer.ok && byPayer.value.flatMap(Object.keys)).not.toContain('refund');
  });
});
