// What the address of a checkout says: every member, what is passed over, and whose language is spoken.
import { describe, expect, test } from 'vitest';
import { checkoutPage } from './checkout-page.ts';
import { consentTextOf, withShopTerms } from './consent-text.ts';
import { isReturnAllowed, readCheckoutRequest } from './checkout-request.ts';
import { printMoney, sizeOfPrinted } from './format-money.ts';
import { wordsIn } from './translations.ts';

const plain = {
  kind: 'invoice',
  id: 'I1',
  locale: 'en',
  theme: 'main',
  obscureCardCvv: false,
  requireCardHolder: false,
  recurring: false,
};

describe('an address', () => {
  test('with an invoice alone asks for a plain page', () => {
    expect(readCheckoutRequest({ invoiceID: 'I1' })).toEqual(plain);
  });

  test('says all there is to say', () => {
    const query = {
      invoiceID: 'I1',
      invoiceAccessToken: 'a.b.c',
      name: 'Shop',
      description: 'Thing',
      locale: 'ru',
      theme: 'coral',
      obscureCardCvv: 'true',
      requireCardHolder: 'true',
      recurring: 'true',
      recurringSchedule: 'P1M',
      recurringUntil: '2030-12-31',
      paymentFlowHold: 'true',
      holdExpiration: 'capture',
      redirectUrl: 'https://shop.example/thanks',
      payButtonLabel: 'Go',
      shopOrigin: 'https://shop.example',
      somethingElse: 'x',
    };
    expect(readCheckoutRequest(query)).toEqual({
      kind: 'invoice',
      id: 'I1',
      token: 'a.b.c',
      name: 'Shop',
      description: 'Thing',
      locale: 'ru',
      theme: 'coral',
      obscureCardCvv: true,
      requireCardHolder: true,
      recurring: true,
      schedule: 'P1M',
      until: '2030-12-31',
      hold: 'capture',
      redirectUrl: 'https://shop.example/thanks',
      payButtonLabel: 'Go',
      shopOrigin: 'https://shop.example',
    });
  });

  test('is for the invoice when both are named, and for nothing when neither is', () => {
    expect(readCheckoutRequest({ invoiceID: 'I1', customerID: 'C1' })).toMatchObject({ kind: 'invoice' });
    expect(readCheckoutRequest({ customerID: 'C1', recurring: 'true' })).toMatchObject({
      kind: 'customer',
      id: 'C1',
      recurring: false,
    });
    for (const query of [{}, { invoiceID: '' }, { invoiceID: 'x'.repeat(41) }, { invoiceID: ['I1', 'I2'] }]) {
      expect(readCheckoutRequest(query)).toBeUndefined();
    }
  });

  test.each([
    ['2030-12-31', '2030-12-31'],
    ['2028-02-29', '2028-02-29'],
    ['2030-02-30', undefined],
    ['2030-2-3', undefined],
  ])('until %s is until %s', (recurringUntil, until) => {
    expect(readCheckoutRequest({ invoiceID: 'I1', recurringUntil })?.until).toBe(until);
  });

  test('with nonsense in it is as if that had not been said', () => {
    const nonsense = {
      invoiceID: 'I1',
      theme: 'neon',
      locale: 'tlh',
      recurring: 'yes',
      recurringUntil: '2030-02-31T',
      redirectUrl: 'javascript:alert(1)',
      shopOrigin: 'null',
      name: 'x'.repeat(201),
      invoiceAccessToken: 'x'.repeat(3_000),
    };
    expect(readCheckoutRequest(nonsense)).toEqual(plain);
  });

  test.each([
    ['auto', 'ru-RU,ru;q=0.9,en;q=0.8', 'ru'],
    ['auto', 'de-DE,en;q=0.5,ru;q=0.3', 'en'],
    ['auto', 'de, ru;q=0.5', 'ru'],
    ['en', 'ru', 'en'],
    ['ru', 'en', 'ru'],
    [undefined, '', 'en'],
  ])('in the locale %s, from a browser that speaks %s, is in %s', (locale, accepted, spoken) => {
    expect(readCheckoutRequest({ invoiceID: 'I1', locale }, accepted)?.locale).toBe(spoken);
  });
});

test.each([
  ['https://shop.example/thanks?x=1', true],
  ['https://shop.example', true],
  ['https://SHOP.example/', true],
  ['https://shop.example.evil.example/', false],
  ['https://shop.example@evil.example/', false],
  ['http://shop.example/', false],
  ['https://shop.example:8443/', false],
  ['//shop.example/', false],
  ['javascript:alert(1)', false],
  ['', false],
  [undefined, false],
])('a payer may be sent back to %s: %s', (address, isAllowed) => {
  expect(isReturnAllowed(address, ['https://shop.example'])).toBe(isAllowed);
});

test.each([
  [6_000, 'RUB', 2, 'en', 'RUB\u00a060.00', 'large'],
  [6_000, 'RUB', 2, 'ru', '60,00\u00a0₽', 'large'],
  [123_456_789, 'USD', 2, 'en', '$1,234,567.89', 'middle'],
  [123_456_789, 'EUR', 2, 'ru', '1\u00a0234\u00a0567,89\u00a0€', 'small'],
  [500, 'JPY', 0, 'en', '¥500', 'large'],
  [1_500, 'KWD', 3, 'en', 'KWD\u00a01.500', 'large'],
  [999_999_999_999, 'RUB', 2, 'ru', '9\u00a0999\u00a0999\u00a0999,99\u00a0₽', 'small'],
])(
  '%i of %s with %i digits is printed in %s as %s, %s',
  (amountMinor, currency, minorDigits, locale, printed, size) => {
    expect(printMoney({ amountMinor, currency, minorDigits }, locale)).toBe(printed);
    expect(sizeOfPrinted(printed)).toBe(size);
  },
);

test('both languages leave the same gaps to be filled', () => {
  const gaps = (locale: 'en' | 'ru') =>
    Object.entries(wordsIn(locale)).flatMap(([part, sentences]) =>
      Object.entries(sentences).map(([name, text]) => {
        return [`${part}.${name}`, [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort()];
      }),
    );
  expect(gaps('ru')).toEqual(gaps('en'));
  expect(gaps('en').length).toBeGreaterThan(80);
});

describe('the sentence at the box', () => {
  const textOf = (query: Record<string, string>) => {
    const request = readCheckoutRequest(query);
    return request && consentTextOf(request, 'Bean & Leaf');
  };

  test.each([
    [{}, 'as agreed with the shop', 'until I cancel'],
    [{ recurringSchedule: ' ' }, 'as agreed with the shop', 'until I cancel'],
    [{ recurringSchedule: 'P1M' }, 'every month', 'until I cancel'],
    [{ recurringSchedule: 'P4W' }, 'every 4 weeks', 'until I cancel'],
    [{ locale: 'ru', recurringSchedule: 'P6M' }, 'каждые 6 месяцев', 'пока не отменю'],
    [{ locale: 'ru', recurringSchedule: 'P2Y' }, 'каждые 2 года', 'пока не отменю'],
    [{ locale: 'ru', recurringSchedule: 'P21D' }, 'каждые 21 день', 'пока не отменю'],
    [
      { recurringSchedule: 'on delivery', recurringUntil: '2030-12-31' },
      'on delivery',
      'until December 31, 2030',
    ],
    [
      { locale: 'ru', recurringSchedule: 'P1Y', recurringUntil: '2030-12-31' },
      'каждый год',
      'до 31 декабря 2030 г.',
    ],
  ])('of %j says how often and for how long', (more, schedule, until) => {
    const consent = textOf({ invoiceID: 'I1', recurring: 'true', ...more });
    expect(consent).toMatchObject({ schedule, until });
    expect(consent?.text).toContain(`Bean & Leaf`);
    expect(consent?.text).toContain(`: ${schedule}, ${until}.`);
    expect(consent?.howToStop).toContain('Bean & Leaf');
  });

  test.each([
    [{}, 'P2W', '2027-12-31'],
    [{ recurringSchedule: 'P1M' }, 'P1M', undefined],
    [{ recurringUntil: '2030-12-31' }, undefined, '2030-12-31'],
  ])('of %j is of the shop’s terms where it says none of its own', (more, schedule, until) => {
    const request = readCheckoutRequest({ customerID: 'C1', ...more });
    const agreed = request && withShopTerms(request, { schedule: 'P2W', validUntil: '2027-12-31' });
    expect([agreed?.schedule, agreed?.until]).toEqual([schedule, until]);
  });

  test('is there for a binding, and for no other payment', () => {
    expect(textOf({ customerID: 'C1' })?.text).toContain('when I buy again');
    expect(textOf({ invoiceID: 'I1' })).toBeUndefined();
  });
});

describe('the field for an e-mail', () => {
  const labelOf = (query: Record<string, string>, sendsEmail: boolean) => {
    const request = readCheckoutRequest({ invoiceID: 'I1', ...query });
    if (!request) throw new Error('it asks for nothing');
    const page = checkoutPage({ request, view: 'form', sendsEmail }, { script: '', style: '' });
    return /<label for="email">(.*?)<\/label>/.exec(page)?.[1];
  };

  test.each([
    [{ recurring: 'true' }, true, 'E-mail for the receipt'],
    [{ recurring: 'true' }, false, 'E-mail for the shop'],
    [{}, true, 'E-mail for the shop (optional)'],
    [{}, false, 'E-mail for the shop (optional)'],
    [{ locale: 'ru', recurring: 'true' }, true, 'E-mail для чека'],
    [{ locale: 'ru', recurring: 'true' }, false, 'E-mail для магазина'],
    [{ locale: 'ru' }, true, 'E-mail для магазина (необязательно)'],
  ])('of %j promises a receipt only where one is sent: %s', (query, sendsEmail, label) => {
    expect(labelOf(query, sendsEmail)).toBe(label);
  });
});
