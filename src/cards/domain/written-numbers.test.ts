import { describe, expect, test } from 'vitest';
import { holdsCardNumber, mayHoldCardNumber } from './written-numbers.ts';

const visa = '4242424242424242';
const grouped = '4242 4242 4242 4242';
const amex = '3782 822463 10005';

describe('a text that is kept', () => {
  test.each([
    ['two numbers', `${visa} 5555341244441115`],
    ['two numbers in groups', `${grouped} 5555 3412 4444 1115`],
    ['two numbers on two lines', `${grouped}\n5555-3412-4444-1115`],
    ['a number and its expiry', `${visa} 12/30 123`],
    ['an expiry before a number', `12/30 ${grouped}`],
    ['a number and its code', `${grouped} 123`],
    ['a list', `1 ${visa} 2 ${visa}`],
    ['an order before a number', `2026 1002 ${amex}`],
    ['single digits next to a number', `17 ${visa.split('').join(' ')} 12/30`],
    ['spaces without a width', visa.split('').join('\u200b')],
  ])('holds a number: %s', (_, text) => {
    expect(holdsCardNumber(text)).toBe(true);
  });

  test.each([
    ['a longer number', `${visa}4242`],
    ['times', '2026-11-23 16:41:03, 2026-11-24 08:00:00'],
    ['days', '2026-11-23 2026-11-24 2026-11-25 2026-11-26'],
    ['telephone numbers', '+7 495 123-45-67, +49 30 1234 5678'],
    ['identifiers of other lengths', '17 424242 424242 4242 170017'],
    ['sizes', '36 38 40 42 44 46 48 50 52 54'],
    ['an identifier', '4f5a2b90-1c3d-4242-9e4b-424242424242'],
    ['an amount', '4 242 424 242.42 and 4 242 424 242.43'],
    ['a wrong checksum next to others', `12 4242424242424241 12`],
  ])('holds none: %s', (_, text) => expect(holdsCardNumber(text)).toBe(false));
});

describe('a text that is stored', () => {
  test.each([
    ['dots', visa.replace(/(?=(\d{4})+$)/g, '.')],
    ['slashes', '4242/4242/4242/4242'],
    ['tabs between columns', `17\t${visa}\t250`],
    ['tabs inside', '4242\t4242\t4242\t4242'],
    ['neighbouring columns', `17,4242 4242 4242 4242,250`],
    ['line breaks', 'number 4242 4242\r\n    4242 4242 of a card'],
    ['no-break spaces', grouped.replaceAll(' ', '\u00a0')],
    ['narrow spaces', grouped.replaceAll(' ', '\u202f')],
    ['zero bytes', visa.split('').join('\0')],
    ['a line break inside digits', '42424242\n42424242'],
    ['a line break anywhere', '12\n4242424242\n  424242 and 12'],
    ['pairs', visa.replace(/(?=(\d{2})+$)/g, ' ')],
    ['two numbers', `${grouped} 5555 3412 4444 1115`],
    ['three groups', amex.replaceAll(' ', '.')],
  ])('may hold a number: %s', (_, text) => expect(mayHoldCardNumber(text)).toBe(true));

  test.each([
    ['a decimal fraction', '4242424.242424242'],
    ['columns of counts', '4500,120,3650,45,8800,210,17'],
    ['network addresses', '36.12.100.200 4.4.8.8 62.113.200.10'],
    ['times', '23/11/2026 16:41:03.123456 23/11/2026 16:41:03.123457'],
  ])('holds none: %s', (_, text) => expect(mayHoldCardNumber(text)).toBe(false));
});

/** Numbers of a log or a table, from a fixed seed. */
function table(rows: number): string {
  let seed = 42;
  const next = (below: number) => (seed = (seed * 16_807) % 2_147_483_647) % below;
  return Array.from({ length: rows }, (_, row) =>
    [
      row,
      next(90_000),
      `2026-11-23T16:41:${next(60)}.${next(1_000_000)}Z`,
      next(600),
      next(3),
      next(5_000),
    ].join('\t'),
  ).join('\n');
}

test('few lines of numbers pass for a card number', () => {
  const lines = table(20_000).split('\n');
  expect(lines.filter(mayHoldCardNumber).length).toBeLessThan(20);
});
