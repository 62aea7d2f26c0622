import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { declaredReader, noUnknownMembers, type DeclaredOnly } from './declared-members.ts';

const schema = Type.Object({
  amount: Type.Integer(),
  payer: Type.Optional(
    Type.Union([
      Type.Object({
        payerType: Type.Literal('Card'),
        token: Type.String(),
        contact: Type.Object({ email: Type.String() }),
      }),
      Type.Object({ payerType: Type.Enum(['Customer', 'Guest']), id: Type.String() }),
    ]),
  ),
  cart: Type.Optional(Type.Array(Type.Object({ price: Type.Integer() }))),
  words: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(Type.Object({}, { additionalProperties: true })),
  allocation: Type.Optional(Type.Unknown()),
});

function read(value: unknown) {
  const unknown = noUnknownMembers();
  const declared = declaredReader(schema)(value, unknown);
  return { declared, unknown: unknown.first.map(({ within, name }) => [within, name]), count: unknown.count };
}

describe('of a value from a client', () => {
  test('a right one is read as it is, in its order', () => {
    const value = {
      words: ['a'],
      payer: { contact: { email: 'a@b.example' }, token: 't', payerType: 'Card' },
      cart: [{ price: 1 }],
      amount: 5,
    };
    const { declared, count } = read(value);
    expect(JSON.stringify(declared)).toBe(JSON.stringify(value));
    expect(count).toBe(0);
  });

  test('undeclared members are left out and listed, at every level', () => {
    const value = {
      amount: 5,
      amountMinor: -1,
      payer: { payerType: 'Card', token: 't', contact: { email: 'e', mail: 'm' }, id: 'of another branch' },
      cart: [{ price: 1 }, { price: 2, cost: 3 }],
      constructor: 1,
    };
    expect(read(value)).toEqual({
      declared: {
        amount: 5,
        payer: { payerType: 'Card', token: 't', contact: { email: 'e' } },
        cart: [{ price: 1 }, { price: 2 }],
      },
      unknown: [
        ['', 'amountMinor'],
        ['payer.contact', 'mail'],
        ['payer', 'id'],
        ['cart[1]', 'cost'],
        ['', 'constructor'],
      ],
      count: 5,
    });
  });

  test('data of the client’s own is kept whole', () => {
    const value = { amount: 1, metadata: { amountMinor: 1, deep: { id: [{}] } }, allocation: { shopId: 1 } };
    expect(read(value)).toEqual({ declared: value, unknown: [], count: 0 });
  });

  test('the first twenty unknown members are listed and all are counted', () => {
    const value = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1]));
    const { declared, unknown, count } = read(value);
    expect({ declared, listed: unknown.length, count }).toEqual({ declared: {}, listed: 20, count: 5_000 });
  });

  test.each([
    null,
    1,
    'text',
    [],
    { payer: 1 },
    { payer: { payerType: 'None' } },
    { cart: {} },
    { cart: [1] },
  ])('what does not fit, such as %j, hides no member', (value) => {
    expect(JSON.stringify(read(value).declared) ?? 'undefined').not.toMatch(/None|text|1/);
  });
});

test.each<[string, object]>([
  ['branches nothing tells apart', Type.Union([Type.Object({ a: Type.String() }), Type.Object({})])],
  ['an intersection', { allOf: [Type.Object({ a: Type.String() })] }],
  ['members by a pattern', { type: 'object', patternProperties: { '^a': {} } }],
])('a schema with %s is refused', (_, unreadable) => {
  expect(() => declaredReader(unreadable)).toThrow(/request/);
});

test('only a reader makes what an endpoint takes', () => {
  const sent = { amount: 1 } as object;
  // @ts-expect-error: a body that was not read may have undeclared members.
  const taken: DeclaredOnly = sent;
  expect(taken).toBe(sent);
});
