// Emails about subscriptions in both languages, as payers read them.
import { describe, expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { receiptLanguages } from '../../../receipts/domain/receipt.ts';
import { writeEmail, type EmailContent } from './email-text.ts';
import { emailKinds } from './emails.ts';

const content: EmailContent = {
  kind: 'declined',
  product: 'Tea of the month',
  currency: 'RUB' as Currency,
  every: 'P1M',
  timeZone: 'Europe/Moscow',
  priceMinor: 49_900n,
  amountMinor: 49_900n,
  period: { startsOn: '2027-01-31', endsOn: '2027-02-28' },
  chargeAt: '2027-02-01T03:00:12.000000Z' as Instant,
  declineClass: 'funds',
  invoiceId: 'I',
  shopId: 'S',
  language: 'en',
  seriesId: 'C',
};
const merchant = { name: 'Tea House', site: 'https://tea.example' };
const frame = { merchant, pageUrl: 'https://pay.example/page' };

test('a decline says what, how much, why, the next try, and where to pay', () => {
  expect(writeEmail(content, frame).text).toMatchInlineSnapshot(`
    "Your payment could not be charged

    A charge of your saved card has failed.
    Your bank says that there is not enough money, or that a limit is reached.
    The next attempt is on February 1, 2027.
    You can pay now by the link below, also with another card.

    For: Tea of the month
    Amount: RUB 499.00
    Period: January 31, 2027 – February 27, 2027
    Price: RUB 499.00, every month
    Merchant: Tea House, https://tea.example
    To pay: open https://pay.example/page
    To cancel: open https://pay.example/page
    "
  `);
  expect(writeEmail({ ...content, language: 'ru' }, frame).text).toMatchInlineSnapshot(`
    "Платёж не прошёл

    Списание с сохранённой карты не удалось.
    Банк сообщает, что не хватает денег или превышен лимит.
    Дата следующей попытки: 1 февраля 2027 г.
    Оплатить сейчас, в том числе другой картой, можно по ссылке ниже.

    За что: Tea of the month
    Сумма: 499,00 ₽
    Период: 31 января 2027 г. – 27 февраля 2027 г.
    Цена: 499,00 ₽, каждый месяц
    Продавец: Tea House, https://tea.example
    Чтобы оплатить: откройте https://pay.example/page
    Чтобы отказаться: откройте https://pay.example/page
    "
  `);
});

test('a confirmation says the terms, the dates and how to cancel', () => {
  const { declineClass: _, invoiceId: __, ...rest } = content;
  const started = { ...rest, kind: 'started', trialUntil: '2027-01-31' } as const;
  expect(writeEmail(started, frame).text).toMatchInlineSnapshot(`
    "Your subscription has started

    Your saved card is charged as follows.

    For: Tea of the month
    Amount: RUB 499.00
    Date of charge: February 1, 2027
    Period: January 31, 2027 – February 27, 2027
    Trial: until January 30, 2027
    Price: RUB 499.00, every month
    Valid: until cancelled
    Merchant: Tea House, https://tea.example
    To cancel: open https://pay.example/page
    "
  `);
  expect(writeEmail({ ...started, language: 'ru' }, frame).text).toMatchInlineSnapshot(`
    "Подписка началась

    С сохранённой карты будут списываться следующие суммы.

    За что: Tea of the month
    Сумма: 499,00 ₽
    Дата списания: 1 февраля 2027 г.
    Период: 31 января 2027 г. – 27 февраля 2027 г.
    Пробный период: до 30 января 2027 г. включительно
    Цена: 499,00 ₽, каждый месяц
    Срок действия: до отмены
    Продавец: Tea House, https://tea.example
    Чтобы отказаться: откройте https://pay.example/page
    "
  `);
});

describe.each(receiptLanguages)('in %s', (language) => {
  test.each(emailKinds)('%s has text and HTML without foreign tags or lines', (kind) => {
    const hostile = '<script>alert(1)</script>\r\nBcc: all@example.com';
    const named = { merchant: { name: hostile, site: hostile }, pageUrl: '"><b>' };
    const { subject, text, html } = writeEmail({ ...content, kind, language, product: hostile }, named);
    expect(subject).not.toMatch(/[\r\n]/);
    expect(text).not.toMatch(/^Bcc/m);
    expect(html).not.toContain('<script>');
    expect(html).not.toContain('<b>');
    expect(html).toContain(`<html lang="${language}">`);
  });

  test('a last try is not promised', () => {
    const { chargeAt: _, ...last } = { ...content, language };
    const said = writeEmail(last, frame).text;
    expect(said).toContain({ en: 'no further attempt', ru: 'Новых попыток не будет' }[language]);
  });

  test('a refusal that may be of Mandate is not blamed on the bank', () => {
    for (const declineClass of ['payerPresent', 'newCard', 'stopped'] as const)
      for (const kind of ['declined', 'reminder', 'lastWarning'] as const)
        expect(writeEmail({ ...content, language, kind, declineClass }, frame).text).not.toMatch(
          /your bank (has|wants|no longer)|банк (отклонил|просит|больше)/i,
        );
    const above = writeEmail({ ...content, language, declineClass: 'payerPresent' }, frame).text;
    expect(above).toContain({ en: 'above what you agreed to', ru: 'выше той, на которую' }[language]);
  });

  test('a recovery promises that it continues only with a next charge', () => {
    const { declineClass: _, ...paid } = { ...content, language, kind: 'recovered' as const };
    const { chargeAt: __, ...last } = paid;
    const continues = { en: 'Your subscription continues', ru: 'Подписка продолжается' }[language];
    expect(writeEmail(paid, frame).text).toContain(continues);
    expect(writeEmail(last, frame).text).not.toContain(continues);
  });

  test('a last reminder announces no attempts of its own', () => {
    const { chargeAt: _, ...last } = { ...content, language, kind: 'lastWarning' as const };
    expect(writeEmail(last, frame).text).not.toMatch(/attempts|попытки/);
  });

  test('a product that is a card number is not repeated', () => {
    const { text, html } = writeEmail({ ...content, language, product: '4242424242424242' }, frame);
    expect(text + html).not.toContain('4242424242424242');
  });
});
