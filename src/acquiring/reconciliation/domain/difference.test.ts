// Every certainty beside every kind of line: what it is called, and how much is at stake.
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
  test.each(Object.keys(shapes) as Shape[])('a %s that was done, and is in the book', (shape) =>
    expect(told({ ours: ours(shape, 'done'), line: line(shape) })).toBe('equal'),
  );
  test.each<[string, Case]>([
    ['what was never done, and is not there', { ours: ours('charge', 'never') }],
    ['what was taken back, and neither is there', { ours: ours('charge', 'undone') }],
    ['what took it back, and neither is there', { ours: ours('reversal of a charge', 'undoes') }],
    [
      'what was taken back, with what took it back',
      { ours: ours('charge', 'undone'), line: line('charge'), withCounterpart: true },
    ],
    [
      'what took back what is there',
      {
        ours: ours('reversal of a hold', 'undoes'),
        line: line('reversal of a hold'),
        withCounterpart: true,
      },
    ],
    ['what was settled elsewhere, and is not there', { ours: ours('charge', 'may') }],
    ['what was settled elsewhere, and is there', { ours: ours('charge', 'may'), line: line('charge') }],
    ['what is at another bank, and not here', { ours: ours('charge', 'done', { bankId: 'OTHER' }) }],
    [
      'a line that does not say what it follows on, nor on which card',
      { ours: ours('refund', 'done'), line: withoutDetails(line('refund')) },
    ],
    [
      'a card hidden by another number of stars',
      { ours: ours('charge', 'done'), line: line('charge', { cardMask: '424242**4242' }) },
    ],
    [
      'a card we do not know any more',
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

describe('not in the book', () => {
  test.each<[Shape, string]>([
    ['charge', 'missing_at_bank -6000 RUB'],
    ['hold', 'missing_at_bank -6000 RUB'],
    ['capture', 'missing_at_bank -6000 RUB'],
    ['refund', 'missing_at_bank 6000 RUB'],
    ['payout', 'missing_at_bank 6000 RUB'],
    ['reversal of a charge', 'reversal_missing 6000 RUB'],
    ['reversal of a hold', 'hold_not_released 6000 RUB'],
  ])('a %s that was done', (shape, expected) => expect(told({ ours: ours(shape, 'done') })).toBe(expected));
  test('what is under way, until it has been for too long', () => {
    const old = { askedAt: time('19T09:59:59') };
    expect(told({ ours: ours('payout', 'open') })).toBe('open');
    expect(told({ ours: ours('payout', 'open', old) })).toBe('pending_too_long -6000 RUB');
    // From before the period: no other book would ever tell of it.
    const from = { from: time('19T12:00:00') };
    expect(told({ ours: ours('payout', 'open', old), scope: from })).toBe('pending_too_long -6000 RUB');
    expect(told({ ours: ours('payout', 'open', old), line: line('payout'), scope: from })).toBe(
      'final_at_bank -6000 RUB',
    );
    // From after it: it cannot be in this book.
    expect(told({ ours: ours('payout', 'open', old), scope: { to: time('19T09:00:00') } })).toBe('open');
  });
});

describe('in the book', () => {
  test.each<[string, Case, string]>([
    ['what nobody knows', { line: line('charge') }, 'missing_here 6000 RUB'],
    ['a payout nobody knows', { line: line('payout') }, 'missing_here -6000 RUB'],
    ['a hold let go that nobody knows', { line: line('reversal of a hold') }, 'missing_here -6000 RUB'],
    ['the copy of it', { line: line('charge', { copy: 2 }) }, 'missing_here 6000 RUB'],
    [
      'a second line of what was done',
      { ours: ours('charge', 'done'), line: line('charge', { copy: 2 }) },
      'duplicate 6000 RUB',
    ],
    [
      'a second line of what failed',
      { ours: ours('refund', 'never'), line: line('refund', { copy: 2 }) },
      'duplicate -6000 RUB',
    ],
    [
      'what went to another bank',
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
      'a charge that failed, alone',
      { ours: ours('charge', 'undone'), line: line('charge') },
      'reversal_missing 6000 RUB',
    ],
    [
      'a hold that failed, alone',
      { ours: ours('hold', 'undone'), line: line('hold') },
      'hold_not_released 6000 RUB',
    ],
    [
      'a reversal of nothing',
      { ours: ours('reversal of a charge', 'undoes'), line: line('reversal of a charge') },
      'unexpected_success -6000 RUB',
    ],
    ['what is under way', { ours: ours('refund', 'open'), line: line('refund') }, 'open'],
    [
      'what has been under way for too long',
      { ours: ours('refund', 'open', { askedAt: time('19T09:00:00') }), line: line('refund') },
      'final_at_bank -6000 RUB',
    ],
  ])('%s', (_, pair, expected) => expect(told(pair)).toBe(expected));
});

describe.each<ExpectedEntry['certainty']>(['done', 'open', 'undone', 'undoes', 'may'])(
  'booked otherwise, %s',
  (certainty) => {
    const otherwise = (shape: Shape, more: Partial<BankLine>) =>
      told({ ours: ours(shape, certainty), line: line(shape, more), withCounterpart: true });
    test.each<[string, Shape, Partial<BankLine>, string]>([
      ['more', 'charge', { minor: 6_500n }, 'amount 500 RUB'],
      ['less', 'charge', { minor: 5_500n }, 'amount -500 RUB'],
      ['more given back', 'refund', { minor: 6_500n }, 'amount -500 RUB'],
      ['another currency', 'charge', { currency: 'USD' }, 'currency -6000 RUB'],
      ['charged where it was to be held', 'hold', { sign: 1 }, 'kind 6000 RUB'],
      ['held where it was to be charged', 'charge', { sign: 0 }, 'kind -6000 RUB'],
      ['taken where it was to be given back', 'refund', { sign: 1 }, 'kind 12000 RUB'],
      ['another kind, the same way', 'refund', { kind: 'payout' }, 'kind 0 RUB'],
      ['let go where it was to be held', 'hold', { kind: 'reverse' }, 'kind -6000 RUB'],
      ['another original', 'refund', { originalId: 'J.1.a' }, 'original -6000 RUB'],
      ['an original where there is none', 'charge', { originalId: 'J.1.a' }, 'original 6000 RUB'],
      ['another card', 'payout', { cardMask: '555555******4444' }, 'card -6000 RUB'],
      ['another end of the card', 'payout', { cardMask: '424242******4243' }, 'card -6000 RUB'],
    ])('%s', (_, shape, more, expected) => expect(otherwise(shape, more)).toBe(expected));
  },
);

describe('at the edge of a period', () => {
  const day = { from: time('20T00:00:00'), to: time('21T00:00:00') };
  const at = (askedAt: string, knownAt: string) => ({ askedAt: time(askedAt), knownAt: time(knownAt) });
  test.each<[string, ReturnType<typeof at>, string]>([
    ['within it', at('20T00:05:00', '20T23:54:59'), 'missing_at_bank -6000 RUB'],
    ['asked for before it', at('19T23:59:59', '20T00:10:00'), 'edge'],
    ['asked for when clocks may differ', at('20T00:04:59', '20T10:00:00'), 'edge'],
    ['learned of after it', at('20T23:00:00', '21T00:00:01'), 'edge'],
    ['learned of when clocks may differ', at('20T23:00:00', '20T23:55:00'), 'edge'],
    ['of another time', at('18T10:00:00', '18T10:00:01'), 'edge'],
  ])('a missing line %s', (_, times, expected) =>
    expect(told({ ours: ours('charge', 'done', times), scope: day })).toBe(expected),
  );
  test('without its times it is missed', () => {
    const { askedAt: _a, knownAt: _k, ...timeless } = ours('charge', 'done');
    expect(told({ ours: timeless, scope: day })).toBe('missing_at_bank -6000 RUB');
  });
  test('the other half of what was taken back may be in the file before or after', () => {
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
