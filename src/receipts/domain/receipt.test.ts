// Receipts in every language, for every kind of mandate: the required parts, the linter, and foreign text.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { scheduleProblem } from '../../recurring/domain/mandate.ts';
import {
  escaped,
  receiptLanguages,
  receiptOf,
  receiptProblems,
  type ReceiptFacts,
  type ReceiptKind,
} from './receipt.ts';
import { defined } from '../../defined.ts';
import type { AmountRule } from './terms.ts';

const cancelUrl = 'https://pay.example/recurring/withdraw/x/y';
const facts: ReceiptFacts = {
  language: 'en',
  merchant: { name: 'A & B <Books>', site: 'https://books.example', contact: 'help@books.example' },
  amount: { minor: 49_905n, currency: 'RUB' as Currency },
  at: '2026-01-19T22:00:00.123000Z' as Instant,
  timeZone: 'Europe/Moscow',
  product: 'A year of <Books>',
  card: { paymentSystem: 'visa', lastDigits: '4242' },
  invoiceId: '1Cg2mCUVy4m',
  paymentId: '1',
  reference: '900000000017',
  approvalCode: '134623',
  recurring: { mandate: { schedule: 'P1M' }, cancelUrl },
};
const rules: (AmountRule | undefined)[] = [
  undefined,
  { kind: 'fixed', amountMinor: 100 },
  { kind: 'upTo', amountMinor: 100_000 },
  { kind: 'variable', text: 'by the meter' },
];

describe.each(receiptLanguages)('a receipt in %s', (language) => {
  const mandates = ['P1M', 'P2W', 'P1Y', 'as agreed with the merchant', 'on the 15th'].flatMap((schedule) =>
    [undefined, '2030-12-31'].flatMap((validUntil) =>
      rules.map((amountRule) => ({
        schedule,
        ...defined({ validUntil, amountRule }),
      })),
    ),
  );

  test.each(mandates)('has the three parts for %o', (mandate) => {
    const { text, html } = receiptOf({ ...facts, language, recurring: { mandate, cancelUrl } });
    expect(receiptProblems({ text, html }, language, 'recurring')).toEqual([]);
    for (const receipt of [text, html]) {
      expect(receipt).toContain('recurring transaction');
      expect(receipt).toMatch(mandate.validUntil === undefined ? /until cancelled/ : /until 2030-12-31/);
    }
    expect(text).toMatch(/^(Schedule|Расписание): \S/m);
    expect(text).toContain(language === 'ru' ? '499,05 ₽' : 'RUB 499.05');
  });

  test.each([
    [
      { firstChargeOn: '2028-02-15', charges: 6 },
      /^(Agreed charges: 6, from|Согласованные списания: 6, с) 2028-02-15$/m,
    ],
    [{ charges: 0 }, /^(Agreed charges|Согласованные списания): 0$/m],
    [{ firstChargeOn: '2028-02-15' }, /^(Agreed charges: from|Согласованные списания: с) 2028-02-15$/m],
  ])('names the agreed charges of %j', (more, line) => {
    const mandate = { schedule: 'P1M', ...more };
    expect(receiptOf({ ...facts, language, recurring: { mandate, cancelUrl } }).text).toMatch(line);
  });

  test('fails the linter for each missing part', () => {
    const { text, html } = receiptOf({ ...facts, language });
    const [marker, , schedule, lifetime] = text.split('\n') as [string, string, string, string];
    const cancel = text.trimEnd().split('\n').at(-1) as string;
    for (const line of [marker, schedule, lifetime, cancel]) {
      expect(
        receiptProblems({ text: text.replace(line, ''), html }, language, 'recurring'),
        line,
      ).toHaveLength(1);
    }
    const rows = html.match(/(?<=<h1>).*(?=<\/h1>)|<tr>.*Schedule.*|<tr>.*Valid.*|<tr>.*cancel<.*/g) ?? [];
    for (const row of language === 'en' ? rows : []) {
      expect(
        receiptProblems({ text, html: html.replaceAll(row, '') }, language, 'recurring'),
        row,
      ).toHaveLength(1);
    }
    expect(rows).toHaveLength(language === 'en' ? 4 : 1);
  });

  test('is complete whatever text the merchant and payer wrote', () => {
    const odd = fc.constantFrom(
      '',
      ' ',
      '\n',
      '\u2028',
      '<',
      '>',
      '&',
      '$&',
      '<b>',
      '</th>',
      'Valid: ',
      'P1M',
    );
    const said = fc.array(fc.oneof(odd, fc.string({ unit: 'binary' }))).map((parts) => parts.join(''));
    fc.assert(
      fc.property(said, said, said, said, (schedule, text, name, contact) => {
        const mandate = { schedule, amountRule: { kind: 'variable', text } } as const;
        const merchant = { name, site: 'https://books.example', contact };
        const { text: written, html } = receiptOf({
          ...facts,
          language,
          recurring: { mandate, cancelUrl },
          merchant,
        });
        expect(written.split('\n')).toHaveLength(14);
        expect(html.match(/<tr>/g)).toHaveLength(11);
      }),
    );
  });
});

test.each([
  ['en', 'For: A year of <Books>', 'Date: January 20, 2026, 1:00 AM GMT+3', 'End recurring charges'],
  ['ru', 'За что: A year of <Books>', 'Дата: 20 января 2026 г., 01:00 GMT+3', 'Прекратить списания'],
] as const)('names the product and the time in the shop, and has a button, in %s', (language, ...said) => {
  const [product, time, button] = said;
  const { text, html } = receiptOf({ ...facts, language });
  expect(text.split('\n')).toEqual(expect.arrayContaining([product, time]));
  expect(text).toContain(': Visa •••• 4242\n');
  expect(html).toContain(`<a class="button" href="${escaped(cancelUrl)}">${button}</a>`);
});

describe.each(receiptLanguages)('a one-off receipt in %s', (language) => {
  const { recurring: _recurring, ...oneOff } = facts;
  const shop = { ...facts.merchant, name: 'recurring transaction' };

  test('has no part of a recurring one, whatever the shop and the product are called', () => {
    const receipt = receiptOf({ ...oneOff, language, merchant: shop, product: 'recurring transaction' });
    expect(receiptProblems(receipt, language, 'oneOff')).toEqual([]);
    expect(receipt.text).not.toMatch(/^(recurring|Schedule|Расписание|Valid|Срок|To cancel|Чтобы)/m);
    expect(receipt.html).not.toContain('<a ');
    expect(receipt.text).toMatch(language === 'ru' ? /^Чек\n\nЗа что: / : /^Receipt\n\nFor: /);
    expect(receipt.text).toContain('900000000017');
  });

  test('is no recurring receipt to the linter, and the other way round', () => {
    const wrong = (shown: ReceiptFacts, kind: ReceiptKind) =>
      receiptProblems(receiptOf({ ...shown, language, merchant: shop }), language, kind);
    // Marker, schedule, lifetime and the way to cancel, in the text and in the page.
    expect(wrong(oneOff, 'recurring')).toHaveLength(8);
    expect(wrong(facts, 'oneOff')).toHaveLength(8);
  });
});

test('a receipt that an older node has stored has the time in UTC, and one without an invoice no product', () => {
  const { timeZone: _zone, product: _product, ...bare } = facts;
  const { text } = receiptOf(bare);
  expect(text).toContain('Date: January 19, 2026, 10:00 PM UTC');
  expect(text).not.toContain('For:');
});

test('foreign text is escaped in the page', () => {
  const { html } = receiptOf(facts);
  expect(html).toContain('A &#38; B &#60;Books&#62;');
  expect(html).not.toContain('<Books>');
});

test.each([
  ['JPY', 500n, '¥500'],
  ['KWD', 1n, 'KWD 0.001'],
  ['EUR', 5n, '€0.05'],
])('an amount in %s has the digits of its currency', (currency, minor, shown) => {
  const { text } = receiptOf({ ...facts, amount: { minor, currency: currency as Currency } });
  expect(text).toContain(`Amount: ${shown}`);
});

test('a bank reference may look like a card number', () => {
  expect(receiptOf({ ...facts, reference: '4242424242424242' }).text).toContain('4242424242424242');
});

test.each(['<monthly>', ' monthly', 'monthly\nor so', 'P1M or <'])(
  'the schedule %j is shown as it is',
  (schedule) => {
    const { text, html } = receiptOf({ ...facts, recurring: { mandate: { schedule }, cancelUrl } });
    const shown = schedule.replace('\n', ' ').trim();
    expect(text).toContain(`\nSchedule: ${shown}\n`);
    expect(html).toContain(`>${escaped(shown)}<`);
  },
);

test.each([' ', '\n', 'card 4242 4242 4242 4242', '600000000007'])(
  'stored words that must not be shown, %j, are replaced',
  (words) => {
    const mandate = { schedule: words, amountRule: { kind: 'variable', text: words } } as const;
    const { text } = receiptOf({ ...facts, recurring: { mandate, cancelUrl }, product: words });
    expect(text).not.toContain('\nFor:');
    expect(text).toContain('\nSchedule: as agreed with the merchant\n');
    expect(text).toContain('\nLater amounts: as agreed with the merchant\n');
    expect(scheduleProblem(words)).toMatch(/^must not /);
  },
);
