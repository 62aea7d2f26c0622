// The amount that a payer types on the page of a payment link.
import { describe, expect, test } from 'vitest';
import { amountProblem, minorIn, typedAmount } from '../../../pages/payment-link/amount-text.ts';

describe('a typed amount', () => {
  test.each<[string, number, number | undefined]>([
    ['600', 2, 60_000],
    ['600,5', 2, 60_050],
    ['600.50', 2, 60_050],
    ['600.', 2, 60_000],
    [' 1\u00a0234\u202f567,89 ', 2, 123_456_789],
    ['0012', 2, 1_200],
    ['5', 0, 5],
    ['5.250', 3, 5_250],
    // Thousands, or a fraction too fine: the payer has to say which.
    ['1,000', 2, undefined],
    ['1.000,50', 2, undefined],
    ['5.5', 0, undefined],
    ['-5', 2, undefined],
    ['+5', 2, undefined],
    ['1e3', 2, undefined],
    ['.5', 2, undefined],
    ['5 RUB', 2, undefined],
    ['9'.repeat(20), 2, undefined],
    ['', 2, undefined],
  ])('“%s” with %i digits of minor units is %s', (text, digits, amount) =>
    expect(minorIn(text, digits)).toBe(amount),
  );

  test.each([
    ['  ', 'missing'],
    ['ten', 'wrong'],
    ['9,99', 'low'],
    ['10', undefined],
    ['50,00', undefined],
    ['50,01', 'high'],
  ])('“%s” between 10 and 50 has the problem %s', (text, problem) =>
    expect(amountProblem(text, 2, { leastMinor: 1_000, mostMinor: 5_000 })).toBe(problem),
  );

  test.each([
    [2_550, 2, 'en', '25.50'],
    [123_456_700, 2, 'ru', '1234567,00'],
    [7, 0, 'en', '7'],
  ])('%i with %i digits is written back so that it reads the same', (amount, digits, locale, text) => {
    expect(typedAmount(amount, digits, locale)).toBe(text);
    expect(minorIn(text, digits)).toBe(amount);
  });
});
