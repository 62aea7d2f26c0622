// Every certainty with every kind of line: the class and the money at stake.
import { describe, expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import {
  classify,
  type BankLine,
  type ExpectedEntry,
  type Classification,
  type Scope,
} from './difference.ts';

const time = (text: string) => `2026-01-${text}.000000Z` as Instant;
const scope: Scope = { bankId: 'BANK', openSince: time('19T10:00:00') };
const asked = { askedAt: time('20T10:00:00'), knownAt: time('20T10:00:05') };

const shapes = {
  charge: { kind: 'authorise', sign: 1 },
  hold: { kind: 'authorise', sign: 0 },
  capture: { kind: 'capture', sign: 1, originalId: 'I.1.a' },
  refund: { kind: 'refund', sign: -1, originalId: 'I.1.a' },
  'reversal of a charge': { kind: 'reverse', sign: -1, originalId: 'I.1.a' },
  'reversal of a hold': { kind: 'reverse', sign: 0, originalId: 'I.1.a' },
  payout: { kind: 'payout', sign: -1 },
} as const;
type Shape = keyof typeof shapes;

function ours(
  shape: Shape,
  certainty: ExpectedEntry['certainty'],
  more: Partial<ExpectedEntry> = {},
): ExpectedEntry {
  return {
    ...shapes[shape],
    bankId: 'BANK',
    minor: 6_000n,
    currency: 'RUB',
    cardMask: '424242******4242',
    certainty,
    object: 'payment',
    objectId: 'I.1',
    status: 'any',
    partyId: 'P',
    ...asked,
    ...more,
  };
}

function line(shape: Shape, more: Partial<BankLine> = {}): BankLine {
  const at = time('20T10:00:01');
  const cardMask = '424242******4242';
  return { ...shapes[shape], sequence: 1, copy: 1, minor: 6_000n, currency: 'RUB', cardMask, at, ...more };
}

type Case = {
  readonly ours?: ExpectedEntry;
  readonly line?: BankLine;
  readonly withCounterpart?: boolean;
  readonly scope?: Partial<Scope>;
};

function told({ withCounterpart = false, scope: more, ...pair }: Case): string {
  const found: Classification = classify(
    { operationId: 'I.1.x', isCounterpartBooked: withCounterpart, ...pair },
    { ...scope, ...more },
  );
  return typeof found === 'string' ? found : `${found.class} ${found.atStakeMinor} ${found.currency}`;
}

describe('equal', () => {
  test.each(Object.keys(shapes) as Shape[])('a %s that was done and is in the report', (shape) =>
    expect(told({ ours: ours(shape, 'done'), line: line(shape) })).toBe('equal'),
  );
  test.each<[string, Case]>([
    ['a charge that failed and is not in the report', { ours: ours('charge', 'never') }],
    ['a reversed charge, without both lines', { ours: ours('charge', 'undone') }],
    ['the reversal of a charge, without both lines', { ours: ours('reversal of a charge', 'undoes') }],
    [
      'a reversed charge with its reversal',
      { ours: ours('charge', 'undone'), line: line('charge'), withCounterpart: true },
    ],
    [
      'a reversal with its charge',
      {
        ours: ours('reversal of a hold', 'undoes'),
        line: line('reversal of a hold'),
        withCounterpart: true,
      },
    ],
    ['a charge resolved outside the bank, without a line', { ours: ours('charge', 'may') }],
    [
      'a charge resolved outside the bank, with a line',
      { ours: ours('charge', 'may'), line: line('charge') },
    ],
    ['an operation of another bank', { ours: ours('charge', 'done', { bankId: 'OTHER' }) }],
    [
      'a line without original operation and card',
      { ours: ours('refund', 'done'), line: withoutDetails(line('refund')) },
    ],
    [
      'a card mask with another number of stars',
      { ours: ours('charge', 'done'), line: line('charge', { cardMask: '424242**4242' }) },
    ],
    [
      'a card whose mask is no longer known',
      { ours: withoutCard(ours('charge', 'done')), line: line('charge', { cardMask: '555555******4444' }) },
    ],
  ])('%s', (_, pair) => expect(told(pair)).toBe('equal'));
});

function withoutDetails({ originalId: _o, cardMask: _c, ...rest }: BankLine): BankLine {
  return rest;
}

function withoutCard({ cardMask: _c, ...rest }: ExpectedEntry): ExpectedEntry {
  return rest;
}

describe('missing in the report', () => {
  test.each<[Shape, string]>([
    ['charge', 'missing_at_bank -6000 RUB'],
    ['hold', 'missing_at_bank -6000 RUB'],
    ['capture', 'missing_at_bank -6000 RUB'],
    ['refund', 'missing_at_bank 6000 RUB'],
    ['payout', 'missing_at_bank 6000 RUB'],
    ['reversal of a charge', 'reversal_missing 6000 RUB'],
    ['reversal of a hold', 'hold_not_released 6000 RUB'],
  ])('a %s that was done', (shape, expected) => expect(told({ ours: ours(shape, 'done') })).toBe(expected));
  test('a pending operation is open until the limit', () => {
    const old = { askedAt: time('19T09:59:59') };
    expect(told({ ours: ours('payout', 'open') })).toBe('open');
    expect(told({ ours: ours('payout', 'open', old) })).toBe('pending_too_long -6000 RUB');
    // It was sent before the period, so no other report will have it.
    const from = { from: time('19T12:00:00') };
    expect(told({ ours: ours('payout', 'open', old), scope: from })).toBe('pending_too_long -6000 RUB');
    expect(told({ ours: ours('payout', 'open', old), line: line('payout'), scope: from })).toBe(
      'final_at_bank -6000 RUB',
    );
    // It was sent after the period, so this report cannot have it.
    expect(told({ ours: ours('payout', 'open', old), scope: { to: time('19T09:00:00') } })).toBe('open');
  });
});

describe('present in the report', () => {
  test.each<[string, Case, string]>([
    ['an unknown charge', { line: line('charge') }, 'missing_here 6000 RUB'],
    ['an unknown payout', { line: line('payout') }, 'missing_here -6000 RUB'],
    ['an unknown release of a hold', { line: line('reversal of a hold') }, 'missing_here -6000 RUB'],
    ['the second line of an unknown charge', { line: line('charge', { copy: 2 }) }, 'missing_here 6000 RUB'],
    [
      'a second line of a successful operation',
      { ours: ours('charge', 'done'), line: line('charge', { copy: 2 }) },
      'duplicate 6000 RUB',
    ],
    [
      'a second line of a failed operation',
      { ours: ours('refund', 'never'), line: line('refund', { copy: 2 }) },
      'duplicate -6000 RUB',
    ],
    [
      'an operation sent to another bank',
      { ours: ours('charge', 'done', { bankId: 'OTHER' }), line: line('charge') },
      'wrong_bank 6000 RUB',
    ],
    [
      'a refund that failed',
      { ours: ours('refund', 'never'), line: line('refund') },
      'unexpected_success -6000 RUB',
    ],
    [
      'a payout that failed',
      { ours: ours('payout', 'never'), line: line('payout') },
      'unexpected_success -6000 RUB',
    ],
    [
      'a failed charge without its reversal',
      { ours: ours('charge', 'undone'), line: line('charge') },
      'reversal_missing 6000 RUB',
    ],
    [
      'a failed hold without its reversal',
      { ours: ours('hold', 'undone'), line: line('hold') },
      'hold_not_released 6000 RUB',
    ],
    [
      'a reversal without its charge',
      { ours: ours('reversal of a charge', 'undoes'), line: line('reversal of a charge') },
      'unexpected_success -6000 RUB',
    ],
    ['a pending operation', { ours: ours('refund', 'open'), line: line('refund') }, 'open'],
    [
      'an operation pending for too long',
      { ours: ours('refund', 'open', { askedAt: time('19T09:00:00') }), line: line('refund') },
      'final_at_bank -6000 RUB',
    ],
  ])('%s', (_, pair, expected) => expect(told(pair)).toBe(expected));
});

describe.each<ExpectedEntry['certainty']>(['done', 'open', 'undone', 'undoes', 'may'])(
  'different content, %s',
  (certainty) => {
    const otherwise = (shape: Shape, more: Partial<BankLine>) =>
      told({ ours: ours(shape, certainty), line: line(shape, more), withCounterpart: true });
    test.each<[string, Shape, Partial<BankLine>, string]>([
      ['a higher amount', 'charge', { minor: 6_500n }, 'amount 500 RUB'],
      ['a lower amount', 'charge', { minor: 5_500n }, 'amount -500 RUB'],
      ['a higher refund', 'refund', { minor: 6_500n }, 'amount -500 RUB'],
      ['another currency', 'charge', { currency: 'USD' }, 'currency -6000 RUB'],
      ['charged instead of held', 'hold', { sign: 1 }, 'kind 6000 RUB'],
      ['held instead of charged', 'charge', { sign: 0 }, 'kind -6000 RUB'],
      ['charged instead of refunded', 'refund', { sign: 1 }, 'kind 12000 RUB'],
      ['another kind in the same direction', 'refund', { kind: 'payout' }, 'kind 0 RUB'],
      ['released instead of held', 'hold', { kind: 'reverse' }, 'kind -6000 RUB'],
      ['another original operation', 'refund', { originalId: 'J.1.a' }, 'original -6000 RUB'],
      [
        'an original operation where none is expected',
        'charge',
        { originalId: 'J.1.a' },
        'original 6000 RUB',
      ],
      ['another card', 'payout', { cardMask: '555555******4444' }, 'card -6000 RUB'],
      ['other last digits of the card', 'payout', { cardMask: '424242******4243' }, 'card -6000 RUB'],
    ])('%s', (_, shape, more, expected) => expect(otherwise(shape, more)).toBe(expected));
  },
);

describe('at the edge of a period', () => {
  const day = { from: time('20T00:00:00'), to: time('21T00:00:00') };
  const at = (askedAt: string, knownAt: string) => ({ askedAt: time(askedAt), knownAt: time(knownAt) });
  test.each<[string, ReturnType<typeof at>, string]>([
    ['within it', at('20T00:05:00', '20T23:54:59'), 'missing_at_bank -6000 RUB'],
    ['sent before it', at('19T23:59:59', '20T00:10:00'), 'edge'],
    ['sent within the clock difference after its start', at('20T00:04:59', '20T10:00:00'), 'edge'],
    ['known after it', at('20T23:00:00', '21T00:00:01'), 'edge'],
    ['known within the clock difference before its end', at('20T23:00:00', '20T23:55:00'), 'edge'],
    ['of another time', at('18T10:00:00', '18T10:00:01'), 'edge'],
  ])('a missing line %s', (_, times, expected) =>
    expect(told({ ours: ours('charge', 'done', times), scope: day })).toBe(expected),
  );
  test('a missing line without times is a difference', () => {
    const { askedAt: _a, knownAt: _k, ...timeless } = ours('charge', 'done');
    expect(told({ ours: timeless, scope: day })).toBe('missing_at_bank -6000 RUB');
  });
  test('the other half of a reversed charge may be in the file before or after', () => {
    const late = { askedAt: time('20T23:50:00'), knownAt: time('21T00:20:00') };
    const early = { askedAt: time('19T23:50:00'), knownAt: time('20T00:20:00') };
    const charge = { line: line('charge'), scope: day };
    const reversal = { line: line('reversal of a charge'), scope: day };
    expect(told({ ours: ours('charge', 'undone', late), ...charge })).toBe('edge');
    expect(told({ ours: ours('charge', 'undone', early), ...charge })).toBe('reversal_missing 6000 RUB');
    expect(told({ ours: ours('reversal of a charge', 'undoes', early), ...reversal })).toBe('edge');
    expect(told({ ours: ours('reversal of a charge', 'undoes', late), ...reversal })).toBe(
      'unexpected_success -6000 RUB',
    );
  });
});
