import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testCards } from '../../../test/support/worlds/cards.ts';
import { isNetwork } from '../../acquiring/domain/network-names.ts';
import { instantAt, parseInstant, type Instant } from '../../clock.ts';
import {
  checkCard,
  detailsOf,
  expiryOf,
  givesAnyNumberAway,
  givesAway,
  maskOf,
  passesLuhn,
  paymentSystemOf,
  paymentSystems,
  type EnteredCard,
  type PaymentSystem,
} from './card.ts';

const now = parseInstant('2026-01-19T10:00:00Z')!;
const good: EnteredCard = { number: '4242424242424242', expDate: '12/30', securityCode: '123' };

/** Appends the digit that makes the number pass the checksum. */
function withCheckDigit(digits: string): string {
  return Array.from({ length: 10 }, (_, last) => digits + last).find(passesLuhn)!;
}

/** A number of that length that begins with those digits. */
function numberOf(leading: string, length: number): string {
  return withCheckDigit(leading.padEnd(length - 1, '3'));
}

function complaintAbout(different: Partial<EnteredCard>): string | undefined {
  const checked = checkCard({ ...good, ...different }, now);
  return checked.ok ? undefined : checked.refusal.message;
}

describe('the network of a card', () => {
  test.each(Object.entries(testCards))('of test card %s is %s', (number, system) => {
    expect(paymentSystemOf(number)).toBe(system);
    expect(complaintAbout({ number })).toBeUndefined();
  });

  // The edges of every range, and the numbers next to them.
  test.each<[string, PaymentSystem | undefined]>([
    ['2199', undefined],
    ['2200', 'nspkmir'],
    ['2204', 'nspkmir'],
    ['2205', undefined],
    ['2220', undefined],
    ['2221', 'mastercard'],
    ['2720', 'mastercard'],
    ['2721', undefined],
    ['300', 'dinersclub'],
    ['305', 'dinersclub'],
    ['306', undefined],
    ['34', 'amex'],
    ['3527', undefined],
    ['3528', 'jcb'],
    ['3589', 'jcb'],
    ['3590', undefined],
    ['36', 'dinersclub'],
    ['37', 'amex'],
    ['38', 'dinersclub'],
    ['39', 'dinersclub'],
    ['4', 'visa'],
    ['50', 'maestro'],
    ['5018', 'maestro'],
    ['5019', 'dankort'],
    ['5020', 'maestro'],
    ['51', 'mastercard'],
    ['55', 'mastercard'],
    ['56', 'maestro'],
    ['58', 'maestro'],
    ['59', undefined],
    ['60', 'maestro'],
    ['6011', 'discover'],
    ['6012', 'maestro'],
    ['61', 'maestro'],
    ['62', 'unionpay'],
    ['63', 'maestro'],
    ['643', 'maestro'],
    ['644', 'discover'],
    ['649', 'discover'],
    ['65', 'discover'],
    ['66', 'maestro'],
    ['69', 'maestro'],
    ['0', undefined],
    ['1', undefined],
    ['7', undefined],
    ['8', undefined],
    ['9', undefined],
  ])('that begins with %s is %s', (leading, system) => {
    expect(paymentSystemOf(numberOf(leading, 16))).toBe(system);
  });
});

const edges: Record<PaymentSystem, [leading: string, lengths: number[]]> = {
  visa: ['4', [13, 16, 19]],
  mastercard: ['51', [16]],
  maestro: ['50', [12, 13, 14, 15, 16, 17, 18, 19]],
  nspkmir: ['2200', [16, 17, 18, 19]],
  amex: ['34', [15]],
  unionpay: ['62', [16, 17, 18, 19]],
  jcb: ['3528', [16, 17, 18, 19]],
  dinersclub: ['36', [14, 15, 16, 17, 18, 19]],
  discover: ['6011', [16, 17, 18, 19]],
  dankort: ['5019', [16]],
};

test.each(Object.keys(edges))('a bank can declare that it takes %s', (system) => {
  expect(isNetwork(system)).toBe(true);
});

describe('the check of a card', () => {
  test.each(Object.entries(edges))('accepts only the lengths of %s', (system, [leading, lengths]) => {
    expect(Object.keys(paymentSystems)).toContain(system);
    for (let length = 12; length <= 19; length++) {
      const complaint = complaintAbout({ number: numberOf(leading, length) });
      expect(complaint, `${length} digits`).toBe(
        lengths.includes(length) ? undefined : 'Invalid cardNumber length',
      );
    }
  });

  test('wants a security code of three digits, or for amex three or four', () => {
    expect(complaintAbout({ securityCode: '1234' })).toBe('Invalid cvv length');
    const amex = numberOf('34', 15);
    expect(complaintAbout({ number: amex, securityCode: '123' })).toBeUndefined();
    expect(complaintAbout({ number: amex, securityCode: '1234' })).toBeUndefined();
    const { securityCode: _, ...without } = good;
    expect(checkCard(without, now).ok).toBe(true);
  });

  test.each([
    ['12/25', 'Invalid expiration date'],
    ['01/26', undefined],
    ['01/2026', undefined],
    ['12/2025', 'Invalid expiration date'],
    ['00/30', 'Invalid expiration date'],
    ['13/30', 'Invalid expiration date'],
    ['12/99', undefined],
    ['12/2100', 'Invalid expiration date'],
    ['12/1999', 'Invalid expiration date'],
    ['12/0030', 'Invalid expiration date'],
  ])('of expiry %s in January 2026: %s', (expDate, complaint) =>
    expect(complaintAbout({ expDate })).toBe(complaint),
  );

  test('reports the first error in the order network, checksum, length, code, expiry', () => {
    const worst = { number: '9999999999999', expDate: '13/20', securityCode: '1234' };
    expect(complaintAbout(worst)).toBe('Unrecognized bank card issuer');
    expect(complaintAbout({ ...worst, number: '5111111111111' })).toBe('Invalid cardNumber checksum');
    expect(complaintAbout({ ...worst, number: numberOf('51', 13) })).toBe('Invalid cardNumber length');
    expect(complaintAbout({ ...worst, number: good.number })).toBe('Invalid cvv length');
    expect(complaintAbout({ ...worst, number: good.number, securityCode: '123' })).toBe(
      'Invalid expiration date',
    );
  });

  test('returns the number, the expiry with the year first, and the holder', () => {
    expect(checkCard({ ...good, holder: 'A B' }, now)).toEqual({
      ok: true,
      value: { number: good.number, expiry: '2030-12', holder: 'A B' },
    });
  });
});

describe('any card', () => {
  const digits = (length: number) =>
    fc
      .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
      .map((all) => all.join(''));
  const numbers = fc
    .constantFrom(
      ...Object.values(edges).flatMap(([leading, lengths]) => lengths.map((length) => ({ leading, length }))),
    )
    .chain(({ leading, length }) =>
      digits(length - 1 - leading.length).map((middle) => withCheckDigit(leading + middle)),
    );

  test('with one wrong digit fails the checksum', () => {
    fc.assert(
      fc.property(numbers, fc.nat(), fc.integer({ min: 1, max: 9 }), (number, at, more) => {
        const place = at % number.length;
        const wrong = (Number(number[place]) + more) % 10;
        expect(passesLuhn(number)).toBe(true);
        expect(passesLuhn(number.slice(0, place) + wrong + number.slice(place + 1))).toBe(false);
      }),
    );
  });

  test('shows six digits, four digits, and a star for each of the others', () => {
    fc.assert(
      fc.property(numbers, (number) => {
        const mask = maskOf(number);
        expect(mask).toHaveLength(number.length);
        expect(mask.replace(/\*/g, '')).toBe(number.slice(0, 6) + number.slice(-4));
        const { bin, lastDigits } = detailsOf(mask, 'visa');
        expect([bin, lastDigits]).toEqual([number.slice(0, 6), number.slice(-4)]);
      }),
    );
  });

  test('is valid until the last moment of its month in UTC, and not longer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2000, max: 2099 }), fc.integer({ min: 1, max: 12 }), (year, month) => {
        const end = Date.UTC(year, month, 1);
        const expDate = `${String(month).padStart(2, '0')}/${String(year).slice(2)}`;
        expect(checkCard({ ...good, expDate }, instantAt(end - 1)).ok).toBe(true);
        expect(checkCard({ ...good, expDate }, instantAt(end)).ok).toBe(false);
        const lastMicrosecond = `${instantAt(end - 1).slice(0, 19)}.999999Z` as Instant;
        expect(checkCard({ ...good, expDate }, lastMicrosecond).ok).toBe(true);
      }),
    );
  });

  test('has the same expiry however its year is written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 12 }), (year, month) => {
        const [YY, MM] = [year, month].map((part) => String(part).padStart(2, '0'));
        expect(expiryOf(`${MM}/20${YY}`)).toBe(expiryOf(`${MM}/${YY}`));
      }),
    );
  });

  test('is recognised in a text with any separators', () => {
    fc.assert(
      fc.property(numbers, fc.constantFrom('', ' ', '-', '.'), (number, separator) => {
        const written = number.replace(/(.{4})(?=.)/g, `$1${separator}`);
        expect(givesAway(`my card is ${written}, thanks`, number)).toBe(true);
        expect(givesAway(`my card is ${maskOf(number)}, thanks`, number)).toBe(false);
        // Only for cards that would be accepted.
        const behind = checkCard({ ...good, number }, now).ok
          ? ['', ' 12/30', ' 12 30 123', '. 2030-12-31']
          : [];
        for (const more of behind) expect(givesAnyNumberAway(`1 year: ${written}${more}`)).toBe(true);
        expect(givesAnyNumberAway(`my card is ${maskOf(number)}, thanks`)).toBe(false);
      }),
    );
  });

  test('is not recognised in dates, amounts, telephone numbers and longer numbers', () => {
    const day = fc
      .date({ min: new Date(0), max: new Date(Date.UTC(2100, 0)), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10));
    const printed = (date: string) => date.split('-').toReversed().join('.');
    fc.assert(
      fc.property(day, day, fc.nat(), (from, to, number) => {
        for (const text of [`${from} - ${to}`, `${printed(from)} - ${printed(to)}`, `${from} 10:00:00`])
          expect(givesAnyNumberAway(text), text).toBe(false);
        const amount = (number / 100).toFixed(2).replace(/\B(?=(\d{3})+\b(?=\.))/g, ' ');
        expect(givesAnyNumberAway(`${from} ${amount} ${to}`), amount).toBe(false);
        const tail = String(number).padStart(10, '0').slice(-10);
        for (const phone of [
          `+7 ${tail}`,
          `8-800-${tail.slice(3)}`,
          `+63 ${tail.slice(0, 3)} ${tail.slice(3)}`,
        ])
          expect(givesAnyNumberAway(phone), phone).toBe(false);
      }),
    );
    expect(givesAnyNumberAway('account 42424242424242424242')).toBe(false);
    // Not card numbers: no network has this prefix or this length.
    expect(['9'.repeat(17) + '6', '42424242424242'].map(givesAnyNumberAway)).toEqual([false, false]);
  });
});
