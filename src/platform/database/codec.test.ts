// A written value is read again as it was. A value that is not as declared is not read, and the error names only its place.
import { expect, test } from 'vitest';
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import {
  anyObject,
  anything,
  flag,
  instant,
  list,
  listOfKnown,
  livemode,
  minorUnits,
  money,
  notEmpty,
  object,
  oneOf,
  optional,
  orNull,
  recordOf,
  roughNumber,
  storedAs,
  text,
  variants,
  wholeNumber,
  written,
  type Codec,
} from './codec.ts';

type Shape =
  | { readonly kind: 'round'; readonly radius: bigint }
  | { readonly kind: 'square' | 'cube'; readonly side?: number };
type Order = {
  readonly id: string;
  readonly isPaid: boolean;
  readonly amount: Money;
  readonly at: Instant;
  readonly livemode: boolean;
  readonly shapes: readonly Shape[];
  readonly note?: string;
  readonly limits: Readonly<Record<string, bigint>>;
  readonly parent: { readonly id: string } | null;
  readonly metadata: object;
  readonly more: unknown;
};

const shape = variants<Shape, 'kind'>('kind', {
  round: { radius: minorUnits },
  square: { side: optional(wholeNumber) },
  cube: { side: optional(wholeNumber) },
});
const order: Codec<Order> = object({
  id: text,
  isPaid: flag,
  amount: money,
  at: instant,
  livemode: storedAs('mode', livemode),
  shapes: list(shape),
  note: optional(text),
  limits: recordOf(minorUnits),
  parent: orNull(object<{ readonly id: string }>({ id: text })),
  metadata: anyObject,
  more: anything,
});

const one: Order = {
  id: '1',
  isPaid: true,
  amount: { minor: 6_000n, currency: 'RUB' as Money['currency'] },
  at: '2026-01-19T10:00:00.000000Z' as Instant,
  livemode: false,
  shapes: [{ kind: 'round', radius: 3n }, { kind: 'square', side: 4 }, { kind: 'cube' }],
  limits: { day: 7n },
  parent: null,
  metadata: { any: ['thing'] },
  more: [{ any: 'thing' }],
};
const stored = {
  id: '1',
  isPaid: true,
  amount: { minor: 6_000, currency: 'RUB' },
  at: '2026-01-19T10:00:00.000000Z',
  mode: 'test',
  shapes: [{ kind: 'round', radius: 3 }, { kind: 'square', side: 4 }, { kind: 'cube' }],
  limits: { day: 7 },
  parent: null,
  metadata: { any: ['thing'] },
  more: [{ any: 'thing' }],
};

test('a written value can be JSON, and is read again as it was', () => {
  expect(written(order, one)).toEqual(stored);
  expect(order.read(JSON.parse(JSON.stringify(written(order, one))))).toEqual(one);
  expect(order.read({ ...stored, note: 'x', parent: { id: '0' } })).toEqual({
    ...one,
    note: 'x',
    parent: { id: '0' },
  });
});

test('reading and writing do not change their argument', () => {
  const given = structuredClone(stored);
  order.read(given);
  expect(given).toEqual(stored);
  const value = structuredClone(one);
  written(order, value);
  expect(value).toEqual(one);
});

test('members keep their order, which some objects need', () => {
  expect(Object.keys(order.read(stored)).slice(0, 4)).toEqual(['id', 'isPaid', 'amount', 'at']);
  expect(Object.keys(written(order, one) as object).slice(0, 4)).toEqual(['id', 'isPaid', 'amount', 'at']);
});

test('a value whose stored form is that of the program is not copied', () => {
  const plain = object<{ readonly id: string }>({ id: text });
  const given = { id: '1' };
  expect(plain.read(given)).toBe(given);
  expect(plain.write).toBeUndefined();
});

test('an undeclared member passes unchanged', () => {
  expect(order.read({ ...stored, later: 1 })).toEqual({ ...one, later: 1 });
});

test.each<[string, unknown, string]>([
  ['a value that is not an object', 'x', 'The stored value should be object, and is string'],
  ['null', null, 'The stored value should be object, and is null'],
  ['a list', [stored], 'The stored value should be object, and is list'],
  [
    'a missing member',
    { ...stored, id: undefined },
    'The stored value at .id should be string, and is undefined',
  ],
  [
    'another type',
    { ...stored, isPaid: 'yes' },
    'The stored value at .isPaid should be boolean, and is string',
  ],
  [
    'null for a missing member',
    { ...stored, note: null },
    'The stored value at .note should be string, and is null',
  ],
  [
    'an amount in text',
    { ...stored, amount: { minor: '6000', currency: 'RUB' } },
    'at .amount.minor should be exact whole number, and is string',
  ],
  [
    'a broken amount',
    { ...stored, amount: { minor: 60.5, currency: 'RUB' } },
    'at .amount.minor should be exact whole number',
  ],
  [
    'an amount too large to be exact',
    { ...stored, amount: { minor: 2 ** 53, currency: 'RUB' } },
    'at .amount.minor should be exact whole number',
  ],
  [
    'a text that is not a currency',
    { ...stored, amount: { minor: 1, currency: 'RUR' } },
    'at .amount.currency should be currency',
  ],
  ['another form of time', { ...stored, at: '2026-01-19T10:00:00Z' }, 'at .at should be instant'],
  ['a list for an object', { ...stored, metadata: [] }, 'at .metadata should be object, and is list'],
  ['a text that is not a mode', { ...stored, mode: 'play' }, 'at .mode should be one of live, test, sandbox'],
  [
    'an unknown kind',
    { ...stored, shapes: [{ kind: 'toString' }] },
    'at .shapes[0].kind should be one of round, square, cube',
  ],
  [
    'a member of another kind',
    { ...stored, shapes: [stored.shapes[2], { kind: 'round', side: 1 }] },
    'at .shapes[1].radius should be',
  ],
  [
    'an entry of a record',
    { ...stored, limits: { day: null } },
    'at .limits.day should be exact whole number, and is null',
  ],
])('%s is refused', (_, given, expected) => {
  expect(() => order.read(given)).toThrow(expected);
});

test('kinds that a newer program writes are left out where only known kinds are read', () => {
  const facts = [{ kind: 'round', radius: 3 }, { kind: 'star', points: 5 }, { kind: 'cube' }];
  expect(shape.known(facts)).toEqual([{ kind: 'round', radius: 3n }, { kind: 'cube' }]);
  expect(listOfKnown(shape).read(facts)).toEqual([{ kind: 'round', radius: 3n }, { kind: 'cube' }]);
  expect(written(listOfKnown(shape), [{ kind: 'round', radius: 3n }])).toEqual([
    { kind: 'round', radius: 3 },
  ]);
  expect(() => shape.known([{ kind: 'round', radius: '3' }])).toThrow('at .radius should be');
  expect(() => list(shape).read(facts)).toThrow('at [1].kind should be one of round, square, cube');
});

test('unknown kinds are also left out of a list that is a member', () => {
  type Plain = { readonly kind: 'square' };
  const plain = variants<Plain, 'kind'>('kind', { square: {} });
  const log = object<{ readonly facts: readonly Plain[] }>({ facts: listOfKnown(plain) });
  expect(log.read({ facts: [{ kind: 'square' }, { kind: 'star' }] })).toEqual({
    facts: [{ kind: 'square' }],
  });
});

test('a number that only identifies something may be too large to be exact', () => {
  expect(roughNumber.read(2 ** 60)).toBe(2 ** 60);
  expect(() => roughNumber.read(1.5)).toThrow('should be whole number');
});

test('the error does not contain the stored value', () => {
  const found = () => order.read({ ...stored, at: '4242424242424242' });
  expect(found).toThrow(expect.not.objectContaining({ message: expect.stringContaining('4242') }));
});

test('a list that needs an entry is refused when it is empty', () => {
  const some = notEmpty(list(minorUnits));
  expect(some.read([1])).toEqual([1n]);
  expect(written(some, [1n, 2n])).toEqual([1, 2]);
  expect(() => some.read([])).toThrow('should be list of at least one');
});

test('a codec that leaves out a member, a kind or a word does not compile', () => {
  // @ts-expect-error -- side is missing
  object<{ readonly id: string; readonly side: number }>({ id: text });
  // @ts-expect-error -- the member may be missing
  object<{ readonly id?: string }>({ id: text });
  // @ts-expect-error -- the member is always there
  object<{ readonly id: string }>({ id: optional(text) });
  // @ts-expect-error -- a member the type does not have
  object<{ readonly id: string }>({ id: text, side: wholeNumber });
  // @ts-expect-error -- cubes are missing
  variants<Shape, 'kind'>('kind', { round: { radius: minorUnits }, square: { side: optional(wholeNumber) } });
  // @ts-expect-error -- a word is missing
  object<{ readonly id: 'a' | 'b' }>({ id: oneOf('a') });
  expect(shape.read(stored.shapes[2])).toEqual({ kind: 'cube' });
});
