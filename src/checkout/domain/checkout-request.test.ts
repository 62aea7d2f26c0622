// What the address of a checkout says: every member, what is passed over, and whose language is spoken.
import { describe, expect, test } from 'vitest';
import { checkoutPage } from './checkout-page.ts';
import { consentTextOf } from './consent-text.ts';
import { isReturnAllowed, readCheckoutRequest } from './checkout-request.ts';
import { sizeOfPrinted } from './amount-size.ts';
import { printMoney } from '../../receipts/domain/format-money.ts';
import { firstStated, type MandateTerms } from '../../receipts/domain/terms.ts';
import { wordsIn } from './translations.ts';

const plain = {
  kind: 'invoice',
  id: 'I1',
  locale: 'en',
  theme: 'main',
  obscureCardCvv: false,
  privateReturn: false,
  requireCardHolder: false,
  recurring: false,
  terms: {},
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
      recurringAmountRule: 'fixed:29900',
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
      privateReturn: false,
      requireCardHolder: true,
      recurring: true,
      terms: {
        schedule: 'P1M',
        validUntil: '2030-12-31',
        amountRule: { kind: 'fixed', amountMinor: 29_900 },
      },
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
  ])('recurringUntil %s is read as the day %s, or as none', (recurringUntil, until) => {
    expect(readCheckoutRequest({ invoiceID: 'I1', recurringUntil })?.terms.validUntil).toBe(until);
  });

  test.each<[string, object | undefined]>([
    ['fixed:1', { kind: 'fixed', amountMinor: 1 }],
    ['upTo:999999999999', { kind: 'upTo', amountMinor: 999_999_999_999 }],
    ['variable:the price of each order', { kind: 'variable', text: 'the price of each order' }],
    ['29900', undefined],
    ['fixed:0', undefined],
    ['fixed:299.00', undefined],
    ['fixed:-1', undefined],
    ['upTo:1000000000000', undefined],
    ['upto:5', undefined],
    ['variable: ', undefined],
  ])('an amount rule %s is %j', (recurringAmountRule, rule) => {
    expect(readCheckoutRequest({ invoiceID: 'I1', recurringAmountRule })?.terms.amountRule).toEqual(rule);
  });

  test('with nonsense in it is as if that had not been said', () => {
    const nonsense = {
      invoiceID: 'I1',
      theme: 'neon',
      locale: 'tlh',
      recurring: 'yes',
      recurringUntil: '2030-02-31T',
      recurringAmountRule: 'a lot',
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
  const textOf = (
    query: Record<string, string>,
    more: MandateTerms = {},
    paid: number | undefined = 6_000,
    isMailed = true,
  ) => {
    const request = readCheckoutRequest(query);
    if (!request) throw new Error('it asks for nothing');
    const { kind, locale, terms } = request;
    const asked = { kind, locale, shop: 'Bean & Leaf', currency: 'RUB', minorDigits: 2, isMailed };
    const amount = kind === 'invoice' && paid !== undefined ? { amountMinor: paid } : {};
    return consentTextOf({ ...asked, ...amount, terms: { ...terms, ...more } }, wordsIn(locale).consent);
  };
  const recurring = { invoiceID: 'I1', recurring: 'true' };

  test.each([
    [{}, 'as agreed with the shop, until I cancel'],
    [{ recurringSchedule: ' ' }, 'as agreed with the shop, until I cancel'],
    [{ recurringSchedule: 'P1M' }, 'every month, until I cancel'],
    [{ recurringSchedule: 'P4W' }, 'every 4 weeks, until I cancel'],
    [{ locale: 'ru', recurringSchedule: 'P6M' }, 'каждые 6 месяцев, пока не отменю'],
    [{ locale: 'ru', recurringSchedule: 'P2Y' }, 'каждые 2 года, пока не отменю'],
    [{ locale: 'ru', recurringSchedule: 'P21D' }, 'каждые 21 день, пока не отменю'],
    [
      { recurringSchedule: 'on delivery', recurringUntil: '2030-12-31' },
      'on delivery, until December 31, 2030',
    ],
    [
      { recurringSchedule: 'P1M', recurringAmountRule: 'fixed:29900' },
      'RUB\u00a0299.00 every month, until I cancel',
    ],
    [
      { recurringSchedule: 'P1M', recurringAmountRule: 'upTo:100000' },
      'up to RUB\u00a01,000.00 every month, until I cancel',
    ],
    [
      { recurringSchedule: 'on delivery', recurringAmountRule: 'fixed:29900' },
      'RUB\u00a0299.00, on delivery, until I cancel',
    ],
    [{ recurringAmountRule: 'fixed:29900' }, 'RUB\u00a0299.00, as agreed with the shop, until I cancel'],
    [
      { recurringSchedule: 'P1M', recurringAmountRule: 'variable:the price of my order' },
      'the price of my order, every month, until I cancel',
    ],
    [
      { locale: 'ru', recurringSchedule: 'P1M', recurringAmountRule: 'upTo:100000' },
      'до 1\u00a0000,00\u00a0₽ каждый месяц, пока не отменю',
    ],
  ])('of %j says how much, how often and for how long: %s', (more, terms) => {
    const consent = textOf({ ...recurring, ...more });
    // The receipt speaks to the payer.
    const told = terms.replace('until I cancel', 'until you cancel').replace('не отменю', 'вы не отмените');
    expect(consent.terms).toBe(told);
    expect(consent.text).toContain('Bean & Leaf');
    expect(consent.text).toContain(`: ${terms}.`);
  });

  test('of terms with an amount says nothing of what is paid now', () => {
    const fixed = { recurringSchedule: 'P1M', recurringAmountRule: 'fixed:29900' };
    expect(textOf({ ...recurring, ...fixed }).text).toMatch(
      /: RUB\u00a0299\.00 every month, until I cancel\.$/,
    );
    const until = { locale: 'ru', recurringUntil: '2030-12-31' };
    expect(textOf({ ...recurring, ...fixed, ...until }).text).toMatch(
      /каждый месяц, до 31 декабря 2030 г\.$/,
    );
  });

  test('of terms without an amount says what is paid now, and that later amounts are as agreed', () => {
    const later = 'This payment is RUB\u00a060.00. Later amounts are as agreed with the shop.';
    expect(textOf({ ...recurring, recurringSchedule: 'P1M' }).text).toMatch(
      new RegExp(`: every month, until I cancel\\. ${later}$`),
    );
    expect(textOf({ ...recurring, locale: 'ru' }).text).toMatch(
      /\. Этот платёж: 60,00\u00a0₽\. Следующие суммы: как договорились с магазином\.$/,
    );
    expect(textOf({ customerID: 'C1' }).text).toMatch(/\. Amounts are as agreed with the shop\.$/);
    expect(textOf({ customerID: 'C1', locale: 'ru' }).text).toMatch(
      /\. Суммы: как договорились с магазином\.$/,
    );
  });

  test('names the trial and what follows', () => {
    const trial = { trialEnd: '2030-02-28', amountAfterTrialMinor: 49_900 };
    const asked = { ...recurring, recurringSchedule: 'P1M', recurringAmountRule: 'fixed:100' };
    expect(textOf(asked, trial).text).toMatch(
      /: RUB\u00a01\.00 every month, until I cancel\. The trial or first price ends on February 28, 2030, then it is RUB\u00a0499\.00\.$/,
    );
    expect(textOf(asked, { trialEnd: '2030-02-28' }).text).toMatch(/ends on February 28, 2030\.$/);
    expect(textOf({ ...asked, locale: 'ru' }, trial).text).toMatch(
      /Пробный период или первая цена: до 28 февраля 2030 г\., затем 499,00\u00a0₽\.$/,
    );
    expect(textOf({ ...asked, locale: 'ru' }, { trialEnd: '2030-02-28' }).text).toMatch(/2030 г\.$/);
  });

  test('says what is paid now, when and how much the next charge is, and how many follow', () => {
    const asked = { ...recurring, recurringSchedule: 'P1M', recurringAmountRule: 'fixed:49900' };
    const trial = { trialEnd: '2028-02-14', amountAfterTrialMinor: 49_900 };
    const more = { ...trial, firstChargeOn: '2028-02-15', charges: 6 };
    const inEnglish = textOf(asked, more, 100);
    expect(inEnglish.text).toMatch(
      /: RUB\u00a0499\.00 every month, further charges: 6\. This payment is RUB\u00a01\.00\. The trial or first price ends on February 14, 2028\. Next charge: February 15, 2028, RUB\u00a0499\.00\.$/,
    );
    expect(inEnglish.terms).toBe('RUB\u00a0499.00 every month, further charges: 6');
    expect(textOf({ ...asked, locale: 'ru' }, more, 100).text).toMatch(
      /: 499,00\u00a0₽ каждый месяц, следующих списаний: 6\. Этот платёж: 1,00\u00a0₽\. Пробный период или первая цена: до 14 февраля 2028 г\. Следующее списание: 15 февраля 2028 г\., 499,00\u00a0₽\.$/,
    );
    expect(textOf(asked, { ...trial, firstChargeOn: '2028-02-01' }, 100).text).toMatch(
      /every month, until I cancel\. .* 14, 2028, then it is RUB\u00a0499\.00\. Next charge: February 1, 2028, RUB\u00a0499\.00\.$/,
    );
    const upTo = { ...recurring, recurringSchedule: 'P1M', recurringAmountRule: 'upTo:100000' };
    expect(textOf(upTo, { firstChargeOn: '2028-02-15' }).text).toMatch(
      /Next charge: February 15, 2028, up to RUB\u00a01,000\.00\.$/,
    );
    const until = { validUntil: '2028-12-31', charges: 0 };
    expect(textOf(asked, until).text).toMatch(/every month, further charges: 0, until December 31, 2028\.$/);
  });

  test('of terms without an amount says the next charge without one', () => {
    expect(textOf(recurring, { firstChargeOn: '2028-02-15' }).text).toMatch(
      /This payment is RUB\u00a060\.00\. Later amounts are as agreed with the shop\. Next charge: February 15, 2028\.$/,
    );
  });

  test('names the link in the receipt and the shop as the ways to end it', () => {
    expect(textOf(recurring).howToStop).toMatch(
      /at any time: open the link in the receipt, or tell Bean & Leaf\./,
    );
    expect(textOf({ ...recurring, locale: 'ru' }).howToStop).toMatch(
      /ссылку в чеке или сообщите Bean & Leaf\./,
    );
  });

  test('names the shop alone to a payer who gets no receipts by e-mail', () => {
    const customer = { customerID: 'C1' };
    expect(textOf(customer, {}, undefined, false).howToStop).toBe(
      'You can end this at any time: tell Bean & Leaf. Then no further payment is taken.',
    );
    expect(textOf({ ...customer, locale: 'ru' }, {}, undefined, false).howToStop).toBe(
      'Это можно прекратить в любой момент: сообщите Bean & Leaf. Списаний больше не будет.',
    );
  });

  test('of a binding says that the card is charged when the payer buys again, or on schedule without them', () => {
    expect(textOf({ customerID: 'C1' }).text).toContain('when I buy again');
    const monthly = { customerID: 'C1', recurringSchedule: 'P1M' };
    expect(textOf(monthly).text).toContain('for further payments without asking me each time: every month,');
    expect(textOf({ ...monthly, locale: 'ru' }).text).toContain(
      'без отдельного запроса каждый раз: каждый месяц,',
    );
  });
});

test('terms come as one block from the first source that states any', () => {
  const [invoice, link, shop] = [{ schedule: 'P1Y' }, { validUntil: '2030-12-31' }, { schedule: 'P2W' }];
  expect(firstStated(invoice, link, shop)).toEqual(invoice);
  expect(firstStated(undefined, link, shop)).toEqual(link);
  expect(firstStated({}, {}, shop)).toEqual(shop);
  expect(firstStated({}, undefined)).toEqual({});
});

describe('the field for an e-mail', () => {
  test.each([
    [{ recurring: 'true' }, 'E-mail for the receipt'],
    [{}, 'E-mail for the receipt (optional)'],
    [{ locale: 'ru', recurring: 'true' }, 'E-mail для чека'],
    [{ locale: 'ru' }, 'E-mail для чека (необязательно)'],
  ])('of %j says what the address is for: %s', (query, label) => {
    const request = readCheckoutRequest({ invoiceID: 'I1', ...query });
    if (!request) throw new Error('it asks for nothing');
    const page = checkoutPage({ request, view: 'form' }, { script: '', style: '' });
    expect(/<label for="email">(.*?)<\/label>/.exec(page)?.[1]).toBe(label);
  });
});
