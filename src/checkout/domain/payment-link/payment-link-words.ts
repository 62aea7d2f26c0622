// The texts of a payment link's page. It shares all others with the checkout.
import type { Locale } from '../checkout-request.ts';

const english = {
  amount: 'Amount',
  bounds: 'From {least} to {most}',
  onward: 'Continue to payment',
  missing: 'Enter an amount',
  wrong: 'Enter an amount such as {example}',
  low: 'Enter {least} or more',
  high: 'Enter {most} or less',
  changed: 'The shop has just changed what this costs. Nothing was charged. Check the amount and continue.',
  deadHead: 'This link no longer works',
  deadLead:
    'The shop has taken it back, or it is incomplete. Nothing was charged here. Ask the shop for a new one.',
};

export type PaymentLinkWords = Readonly<Record<keyof typeof english, string>>;

const russian: PaymentLinkWords = {
  amount: 'Сумма',
  bounds: 'От {least} до {most}',
  onward: 'Перейти к оплате',
  missing: 'Введите сумму',
  wrong: 'Введите сумму, например {example}',
  low: 'Введите сумму не меньше {least}',
  high: 'Введите сумму не больше {most}',
  changed: 'Магазин только что изменил цену. Ничего не списано. Проверьте сумму и продолжите.',
  deadHead: 'Эта ссылка больше не работает',
  deadLead: 'Магазин отозвал её, или она неполная. Здесь ничего не списано. Попросите у магазина новую.',
};

export const paymentLinkWords: Readonly<Record<Locale, PaymentLinkWords>> = { en: english, ru: russian };
