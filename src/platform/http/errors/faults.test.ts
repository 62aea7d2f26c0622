import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { compileCheck, validationMessageOf } from './validate.ts';

const Line = Type.Object({ product: Type.String({ maxLength: 5 }), price: Type.Integer({ minimum: 1 }) });
const Order = Type.Object({
  shop: Type.String(),
  lines: Type.Array(Line, { minItems: 1, maxItems: 3 }),
  payer: Type.Optional(
    Type.Union([
      Type.Object({ kind: Type.Literal('card'), cards: Type.Array(Line) }),
      Type.Object({ kind: Type.Literal('saved'), customer: Line }),
    ]),
  ),
});
const check = compileCheck(Order);
const good = { product: 'Tea', price: 1 };

function faultOf(value: unknown): string | undefined {
  const error = check(value)?.next().value;
  return error && validationMessageOf(error).replace('Request parameter: ', '');
}

test('the first fault is named with its path', () => {
  expect(faultOf({ shop: 'S', lines: [good, { product: 'Tea' }] })).toMatch(
    /^lines\[1\]\.price, error type: not_found/,
  );
  expect(faultOf({ shop: 'S', lines: [good, { ...good, product: 'Coffee' }] })).toMatch(
    /^lines\[1\]\.product, error type: wrong_length/,
  );
  expect(faultOf({ shop: 'S', lines: [1] })).toMatch(/^lines\[0\], error type: wrong_type/);
  expect(faultOf({ shop: 1, lines: [] })).toMatch(/^shop, error type: wrong_type/);
  expect(faultOf([])).toMatch(/^body, error type: wrong_type/);
  expect(faultOf({ lines: [] })).toMatch(/^shop, error type: not_found/);
});

test('a list of the wrong size is named without a look at its items', () => {
  const trap = Object.defineProperty({}, 'product', {
    enumerable: true,
    get: () => expect.unreachable('an item was read'),
  });
  expect(faultOf({ shop: 'S', lines: [1, trap, trap, trap] })).toMatch(/^lines, error type: wrong_size/);
  expect(faultOf({ shop: 'S', lines: [] })).toMatch(/^lines, error type: wrong_size/);
});

test('nothing is read after the first fault', () => {
  const trap = Object.defineProperty({ price: 1 }, 'product', {
    enumerable: true,
    get: () => expect.unreachable('it was read'),
  });
  expect(faultOf({ shop: 'S', lines: [1, trap] })).toMatch(/^lines\[0\], error type: wrong_type/);
  const payer = { kind: 'card', cards: [{}, trap] };
  expect(faultOf({ shop: 'S', lines: [good], payer })).toMatch(
    /^payer\.cards\[0\]\.product, error type: not_found/,
  );
  expect(faultOf({ shop: 'S', lines: [good], payer: { kind: 'none', cards: [trap], customer: trap } })).toBe(
    'payer.kind, error type: no_match, description: must be equal to one of the allowed values: card, saved',
  );
});
