// The text of card fields: how it is grouped, where the caret goes, and which problem it has.
import fc from 'fast-check';
import { IsEmail } from 'typebox/format';
import { describe, expect, test } from 'vitest';
import {
  caretBehind,
  codeProblem,
  emailProblem,
  expiryOf,
  expiryProblem,
  groupedExpiry,
  groupedNumber,
  holderProblem,
  networkOf,
  numberProblem,
} from '../../pages/checkout/views/card-text.ts';
import { testCards } from '../../src/sandbox/bank/test-cards.ts';

describe('a number', () => {
  test.each([
    ['', ''],
    ['4', '4'],
    ['42424', '4242 4'],
    ['4242-4242-4242-4242', '4242 4242 4242 4242'],
    ['Card: 4242 4242 4242 4242!', '4242 4242 4242 4242'],
    ['378282246310005', '3782 822463 10005'],
    ['30569309025904', '3056 930902 5904'],
    ['586824160825533338', '5868 2416 0825 5333 38'],
    ['42424242424242424242424', '4242 4242 4242 4242 424'],
  ])('%s is shown as %s', (typed, shown) => expect(groupedNumber(typed)).toBe(shown));

  test('keeps the caret behind the same digit when groups move', () => {
    expect(caretBehind('4242 4242', 0)).toBe(0);
    expect(caretBehind('4242 4242', 4)).toBe(4);
    expect(caretBehind('4242 4242', 5)).toBe(6);
    expect(caretBehind('4242 4242', 8)).toBe(9);
  });

  test.each([
    ['', undefined],
    ['4', 'visa'],
    ['2202', 'nspkmir'],
    ['51', 'mastercard'],
    ['37', 'amex'],
    ['9', undefined],
  ])('%s is of the network %s', (typed, network) => expect(networkOf(typed)).toBe(network));

  test.each([
    ['', 'numberMissing'],
    ['9', 'numberShort'],
    ['9999', 'numberUnknown'],
    ['4242', 'numberShort'],
    ['4242 4242 4242 4241', 'numberWrong'],
    ['4242 4242 4242 424', 'numberShort'],
    ['5555 5555 5555 44444', 'numberWrong'],
    ['4242 4242 4242 4242', undefined],
  ])('%s has the problem %s', (typed, problem) => expect(numberProblem(typed)).toBe(problem));

  test('of every test card is valid', () => {
    const numbers = testCards.map(({ number }) => number);
    expect(numbers.length).toBeGreaterThan(20);
    expect(numbers.filter((number) => numberProblem(groupedNumber(number)) !== undefined)).toEqual([]);
  });
});

describe('an expiry', () => {
  test.each([
    ['1', '1'],
    ['0', '0'],
    ['5', '05 / '],
    ['12', '12 / '],
    ['12/', '12 / '],
    ['1/', '01 / '],
    ['1/30', '01 / 30'],
    ['1230', '12 / 30'],
    ['12/30', '12 / 30'],
    ['12/2030', '12 / 30'],
    ['12 / 2030', '12 / 30'],
    ['2030-12', '12 / 30'],
    ['122030', '12 / 30'],
    ['12 / 20', '12 / 20'],
    ['5/27', '05 / 27'],
    ['13', '01 / 3'],
    ['130', '01 / 30'],
    ['1930', '01 / 93'],
    ['13/30', '13 / 30'],
  ])('%s is shown as %s', (typed, shown) => expect(groupedExpiry(typed)).toBe(shown));

  test.each([
    ['12 /', '12'],
    ['12 / 3', '12 / 3'],
    ['1', '1'],
    ['', ''],
  ])('%s, while it is being deleted, stays deletable as %s', (typed, shown) =>
    expect(groupedExpiry(typed, true)).toBe(shown),
  );

  const today = new Date('2026-11-21T12:00:00Z');
  test.each([
    ['', 'expiryMissing', undefined],
    ['12 / ', 'expiryWrong', undefined],
    ['13 / 30', 'expiryWrong', undefined],
    ['00 / 30', 'expiryWrong', undefined],
    ['10 / 26', 'expiryPast', '10/26'],
    ['11 / 26', undefined, '11/26'],
    ['01 / 27', undefined, '01/27'],
    ['11 / 46', undefined, '11/46'],
    ['12 / 46', 'expiryFar', '12/46'],
    ['12 / 99', 'expiryFar', '12/99'],
  ])('%s has the problem %s and goes out as %s', (typed, problem, sent) => {
    expect(expiryProblem(typed, today)).toBe(problem);
    expect(expiryOf(typed)).toBe(sent);
  });
});

test.each([
  ['', '4242', 'codeMissing'],
  ['12', '4242', 'codeWrong'],
  ['123', '4242', undefined],
  ['1234', '4242', 'codeWrong'],
  ['1234', '3782', undefined],
])('the code %s on a card %s… has the problem %s', (code, number, problem) =>
  expect(codeProblem(code, number)).toBe(problem),
);

test.each([
  ['', 'holderMissing'],
  [' ', 'holderMissing'],
  ['ANNA-MARIA O’NEILL', undefined],
  ['Пётр Ильич', undefined],
  ['J0HN', 'holderWrong'],
])('the name %s has the problem %s', (name, problem) => expect(holderProblem(name)).toBe(problem));

test.each([
  ['', true, 'emailMissing'],
  ['', false, undefined],
  ['me@example.com', true, undefined],
  ['me@example', false, 'emailWrong'],
  ['me example.com', false, 'emailWrong'],
  ['a,b@example.com', false, 'emailWrong'],
  ['иван@example.com', true, 'emailWrong'],
  ['a..b@example.com', true, 'emailWrong'],
  ['.a@example.com', false, 'emailWrong'],
  ['a@-example.com', false, 'emailWrong'],
  [`${'a'.repeat(89)}@example.com`, false, 'emailWrong'],
  [" first.o'last+shop@mail.example.com ", true, undefined],
])('the address %s, needed: %s, has the problem %s', (address, isRequired, problem) =>
  expect(emailProblem(address, isRequired)).toBe(problem),
);

test('the service accepts every address that the page accepts', () => {
  const text = fc.string({
    unit: fc.constantFrom(...'aZ0..--_+"@ йé'.split('')),
    minLength: 1,
    maxLength: 6,
  });
  const address = fc.tuple(text, text).map(([name, host]) => `${name}@${host}.example`);
  const taken = fc
    .sample(address, { seed: 1, numRuns: 20_000 })
    .filter((typed) => !emailProblem(typed, true));
  expect(taken.length).toBeGreaterThan(100);
  expect(taken.filter((typed) => !IsEmail(typed.trim()))).toEqual([]);
});
