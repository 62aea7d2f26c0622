// A source gets every small mistake, and none in types, which are gone when the program runs.
import { expect, test } from 'vitest';
import { mutantsOf } from './mutants.ts';

const changesOf = (source: string) => mutantsOf(source).map(({ change }) => change);

test('mutants replace operators, numbers, booleans and conditions, and remove throws', () => {
  expect(changesOf('const a = b === c && d < 2;')).toEqual(['&& → ||', '=== → !==', '< → <=', '2 → 3']);
  expect(changesOf('const a = b ? true : 1n;')).toEqual(['b → true', 'b → false', 'true → false', '1n → 2n']);
  expect(changesOf("if (a) throw new Error('no');")).toEqual([
    'a → true',
    'a → false',
    "throw new Error('no'); → ;",
  ]);
});

test('mutants remove each entry of a table once, and the table stays valid', () => {
  const mutants = mutantsOf("const moves = {\n  unpaid: { paid: 'paid', ended: 'ended' },\n  paid: {},\n};");
  expect(mutants.map(({ line, code }) => [line, code.replace(/\s+/g, ' ')])).toEqual([
    [2, 'const moves = { paid: {}, };'],
    [3, "const moves = { unpaid: { paid: 'paid', ended: 'ended' }, };"],
    [2, "const moves = { unpaid: { ended: 'ended' }, paid: {}, };"],
    [2, "const moves = { unpaid: { paid: 'paid', }, paid: {}, };"],
  ]);
});

test('types, imports and comments have no mutants', () => {
  expect(
    changesOf(`import { one } from 'two';
      // 1 === 2
      type Yes = { readonly ok: true; readonly least: 1 | 2 };
      export function f(a: Yes & { readonly b: false }): a is Yes { return a as Yes satisfies Yes; }`),
  ).toEqual([]);
});
