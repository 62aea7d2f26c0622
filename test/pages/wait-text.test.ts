// The waiting time that a payer reads after trying too many cards.
import { expect, test } from 'vitest';
import { waitInWords } from '../../pages/checkout/views/wait-text.ts';

test.each([
  [1, 'in 1 second', 'через 1 секунду'],
  [60, 'in 60 seconds', 'через 60 секунд'],
  [61, 'in 2 minutes', 'через 2 минуты'],
  [1_201, 'in 21 minutes', 'через 21 минуту'],
  [3_600, 'in 60 minutes', 'через 60 минут'],
  [3_601, 'in 2 hours', 'через 2 часа'],
  [72 * 3_600, 'in 72 hours', 'через 72 часа'],
])('%d seconds', (seconds, english, russian) => {
  expect(waitInWords(seconds, 'en')).toBe(english);
  expect(waitInWords(seconds, 'ru')).toBe(russian);
});
