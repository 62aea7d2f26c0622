import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { passesLuhn, paymentSystems, type PaymentSystem } from './card.ts';
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
    ['wide digits', '４２４２ ４２４２ ４２４２ ４２４２'],
    ['Arabic digits', '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢'],
    ['Hindi digits', '४२४२४२४२४२४२४२४२'],
    ['digits of several kinds', '4２٤२4２٤२4２٤२4２٤२'],
    ['a number after a UUID', `4f5a2b90-1c3d-4242-9e4b-424242424242 ${visa}`],
    ['a number after an IBAN', `DE89 3704 0044 0532 0130 00 ${grouped}`],
    ['a number after a telephone number', `+49 151 12345678 ${grouped}`],
    ['a number like an IBAN of wrong check digits', `AT00 ${grouped}`],
    ['a number longer than a telephone number', `+${visa}`],
    ['a number after + for a space', 'text=card+378282246310005'],
    ['spaces of an address', `https://shop.example/${encodeURIComponent(grouped)}/x`],
    ['spaces of a form', `https://shop.example/?card=${grouped.replaceAll(' ', '+')}`],
    ['digits of an address', `https://shop.example/${visa.replace(/./g, (digit) => `%3${digit}`)}`],
    ['what is no encoding next to one', `100%ff %zz ${encodeURIComponent(grouped)}`],
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
    ['a UUID', 'id c402a265-5758-4285-8289-2d566e1db034'],
    ['a UUID without dashes', 'a4242424242424242b4c5d6e7f809afb'],
    ['an IBAN in groups', 'IBAN DE65 4242 4242 4242 4242 00, please'],
    ['a telephone number', 'tel. +49 1511 2422956'],
    ['a telephone number in an address', 'https://shop.example/?tel=+4915112422956'],
    ['the number of a device', '356715618490711'],
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

/** Leading digits of every range, of every length its network has. */
const leadings: Record<PaymentSystem, readonly string[]> = {
  visa: ['4'],
  mastercard: ['51', '55', '2221', '2720'],
  maestro: ['5018', '5020', '56', '58', '6012', '69'],
  nspkmir: ['2200', '2204'],
  amex: ['34', '37'],
  unionpay: ['62'],
  jcb: ['3528', '3589'],
  dinersclub: ['300', '305', '36', '38', '39'],
  discover: ['6011', '644', '649', '65'],
  dankort: ['5019'],
};
const beginnings = Object.entries(leadings).flatMap(([system, all]) =>
  paymentSystems[system as PaymentSystem].lengths
    .filter((length) => length >= 13)
    .flatMap((length) => all.map((leading) => ({ leading, length }))),
);
const digits = (count: number) => fc.stringMatching(new RegExp(`^\\d{${count}}$`));
const withCheckDigit = (start: string) =>
  Array.from({ length: 10 }, (_, last) => start + last).find(passesLuhn)!;
const numbers = fc
  .constantFrom(...beginnings)
  .chain(({ leading, length }) =>
    digits(length - 1 - leading.length).map((middle) => withCheckDigit(leading + middle)),
  );
const asPrinted = (number: string, by: string) =>
  (number.length < 16
    ? [number.slice(0, 4), number.slice(4, 10), number.slice(10)]
    : (number.match(/\d{1,4}/g) ?? [])
  ).join(by);

describe('any card number', () => {
  // A digit or + before a number makes it another one.
  const texts = fc
    .tuple(fc.string(), fc.string())
    .map(([before, after]) => [before.replace(/[\d+]/g, ''), after.replace(/\d/g, '')] as const);
  const neighbours = fc.constantFrom(
    '',
    'order 17: ',
    'IBAN DE89 3704 0044 0532 0130 00, ',
    '4f5a2b90-1c3d-4242-9e4b-424242424242,',
    '+49 151 12345678; ',
  );

  test('is found inside any text, as one number, and with spaces or dashes in any place', () => {
    fc.assert(
      fc.property(
        numbers,
        texts,
        neighbours,
        fc.constantFrom('', ' ', '-'),
        (number, [before, after], by, mark) => {
          const at = 1 + (before.length % (number.length - 1));
          const written = number.slice(0, at) + mark + number.slice(at);
          expect(holdsCardNumber(`${by}${before}${written}${after}`)).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('is found as cards print it, next to other numbers', () => {
    const printed = numbers.filter(({ length }) => [14, 15, 16, 19].includes(length));
    fc.assert(
      fc.property(printed, fc.constantFrom(' ', '-'), digits(3), neighbours, (number, by, code, before) => {
        const text = `${before}${asPrinted(number, by)} ${code}`;
        expect(holdsCardNumber(text)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('numbers that are no card', () => {
  const uuids = fc.stringMatching(/^[0-9a-f]{2}\d{6}-\d{4}-4\d{3}-[89]\d{3}-\d[0-9a-f]{11}$/);

  test('UUIDs are passed over, with and without dashes', () => {
    fc.assert(
      fc.property(uuids, fc.constantFrom('-', ''), (uuid, dash) => {
        expect(holdsCardNumber(`for ${uuid.replaceAll('-', dash)}.`)).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });

  /** Built as ISO 13616 says, apart from the code. */
  function ibanOf(country: string, account: string): string {
    const asDigits = (text: string) => text.replace(/[A-Z]/g, (each) => String(each.charCodeAt(0) - 55));
    const check = 98n - (BigInt(asDigits(`${account}${country}`) + '00') % 97n);
    return country + String(check).padStart(2, '0') + account;
  }
  const countries = { AT: 16, BE: 12, CH: 17, DE: 18, ES: 20, HU: 24, PL: 24, RU: 29, LT: 16 };
  const ibans = fc
    .constantFrom(...Object.entries(countries))
    .chain(([country, length]) => digits(length).map((account) => ibanOf(country, account)));

  test('IBANs are passed over, in groups of four and without spaces', () => {
    fc.assert(
      fc.property(ibans, fc.boolean(), (iban, isGrouped) => {
        const written = isGrouped ? iban.replace(/(.{4})(?=.)/g, '$1 ') : iban;
        expect(holdsCardNumber(`pay to ${written}, or tell us`)).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });
});
