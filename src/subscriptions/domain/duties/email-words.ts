// What emails about subscriptions say, in English and Russian.
import type { DeclineClass } from '../../../acquiring/domain/decline-class.ts';
import type { ReceiptLanguage } from '../../../receipts/domain/receipt.ts';
import type { AnnouncementReason } from './terms.ts';
import type { EmailKind } from './emails.ts';

export type EmailLabel =
  | 'product'
  | 'amount'
  | 'chargeAt'
  | 'period'
  | 'trial'
  | 'price'
  | 'lifetime'
  | 'paidThrough'
  | 'merchant'
  | 'pay'
  | 'cancel';

type Words = {
  readonly headings: Readonly<Record<EmailKind, string>>;
  readonly labels: Readonly<Record<EmailLabel, string>>;
  readonly started: string;
  readonly announced: Readonly<Record<AnnouncementReason, string>>;
  readonly howToStop: string;
  readonly unpaid: Readonly<Record<'declined' | 'reminder' | 'lastWarning', string>>;
  /** What the payer can do about it. Nothing for those that only time heals, or others. */
  readonly declined: Readonly<Partial<Record<DeclineClass, string>>>;
  readonly nextTry: (date: string) => string;
  readonly noTry: string;
  readonly pay: string;
  readonly notCollected: string;
  readonly recovered: string;
  readonly newDates: string;
  /** The payment is made, and what follows is open. */
  readonly paid: string;
  readonly trial: (lastDay: string) => string;
  readonly untilCancelled: string;
  readonly charges: (count: number) => string;
  readonly open: (url: string) => string;
  readonly payButton: string;
  readonly cancelButton: string;
};

export const emailWords: Record<ReceiptLanguage, Words> = {
  en: {
    headings: {
      started: 'Your subscription has started',
      announced: 'Your next charge',
      declined: 'Your payment could not be charged',
      reminder: 'Your payment is still open',
      lastWarning: 'Last reminder: your payment is open',
      notCollected: 'Your payment could not be collected',
      recovered: 'Your payment has arrived',
      newDates: 'Your subscription has new dates',
      ended: 'Your subscription has ended',
    },
    labels: {
      product: 'For',
      amount: 'Amount',
      chargeAt: 'Date of charge',
      period: 'Period',
      trial: 'Trial',
      price: 'Price',
      lifetime: 'Valid',
      paidThrough: 'Paid until',
      merchant: 'Merchant',
      pay: 'To pay',
      cancel: 'To cancel',
    },
    started: 'Your saved card is charged as follows.',
    announced: {
      trialEnding: 'Your trial ends. Your saved card is charged after it, unless you cancel before.',
      newPrice: 'The price of your subscription changes with the next charge of your saved card.',
      rareCharge: 'Your saved card is charged soon for the next period.',
      eachCharge: 'Your saved card is charged soon for the next period.',
    },
    howToStop: 'If you do not want this, cancel before that date.',
    unpaid: {
      declined: 'A charge of your saved card has failed.',
      reminder: 'A charge of your saved card has failed, and the payment is still open.',
      lastWarning: 'The payment is still open. This is the last reminder.',
    },
    declined: {
      funds: 'Your bank says that there is not enough money, or that a limit is reached.',
      issuer: 'Please ask your bank about it.',
      newCard: 'This card cannot be charged any more. Please use another one.',
      payerPresent:
        'It needs your confirmation: your bank asks for it, or the price is above what you agreed to.',
      stopped: 'These charges are no longer allowed.',
    },
    nextTry: (date) => `The next attempt is on ${date}.`,
    noTry: 'There is no further attempt.',
    pay: 'You can pay now by the link below, also with another card.',
    notCollected: 'There is no further attempt.',
    newDates:
      'It continues after the pause, which is not charged. Periods are counted from its first charge on.',
    recovered: 'Nothing is due any more. Your subscription continues.',
    paid: 'This payment is made.',
    trial: (lastDay) => `until ${lastDay}`,
    untilCancelled: 'until cancelled',
    charges: (count) => (count === 1 ? 'one charge' : `${count} charges`),
    open: (url) => `open ${url}`,
    payButton: 'Pay now',
    cancelButton: 'My subscription',
  },
  ru: {
    headings: {
      started: 'Подписка началась',
      announced: 'Предстоящее списание',
      declined: 'Платёж не прошёл',
      reminder: 'Платёж всё ещё не оплачен',
      lastWarning: 'Последнее напоминание: платёж не оплачен',
      notCollected: 'Платёж не удалось списать',
      recovered: 'Платёж получен',
      newDates: 'Новые даты подписки',
      ended: 'Подписка завершена',
    },
    labels: {
      product: 'За что',
      amount: 'Сумма',
      chargeAt: 'Дата списания',
      period: 'Период',
      trial: 'Пробный период',
      price: 'Цена',
      lifetime: 'Срок действия',
      paidThrough: 'Оплачено до',
      merchant: 'Продавец',
      pay: 'Чтобы оплатить',
      cancel: 'Чтобы отказаться',
    },
    started: 'С сохранённой карты будут списываться следующие суммы.',
    announced: {
      trialEnding:
        'Пробный период заканчивается. После него сумма будет списана с сохранённой карты, если вы не откажетесь раньше.',
      newPrice: 'Цена подписки меняется со следующего списания с сохранённой карты.',
      rareCharge: 'Скоро с сохранённой карты будет списана оплата следующего периода.',
      eachCharge: 'Скоро с сохранённой карты будет списана оплата следующего периода.',
    },
    howToStop: 'Если вы этого не хотите, откажитесь до этой даты.',
    unpaid: {
      declined: 'Списание с сохранённой карты не удалось.',
      reminder: 'Списание с сохранённой карты не удалось, и платёж всё ещё не оплачен.',
      lastWarning: 'Платёж всё ещё не оплачен. Это последнее напоминание.',
    },
    declined: {
      funds: 'Банк сообщает, что не хватает денег или превышен лимит.',
      issuer: 'Пожалуйста, обратитесь в свой банк.',
      newCard: 'С этой карты списать больше нельзя. Пожалуйста, используйте другую.',
      payerPresent:
        'Нужно ваше подтверждение: его просит банк, или цена выше той, на которую вы согласились.',
      stopped: 'Эти списания больше не разрешены.',
    },
    nextTry: (date) => `Дата следующей попытки: ${date}`,
    noTry: 'Новых попыток не будет.',
    pay: 'Оплатить сейчас, в том числе другой картой, можно по ссылке ниже.',
    notCollected: 'Новых попыток не будет.',
    newDates:
      'Подписка продолжается. Время паузы не оплачивается, а периоды считаются от первого списания после неё.',
    recovered: 'Задолженности больше нет. Подписка продолжается.',
    paid: 'Этот платёж оплачен.',
    trial: (lastDay) => `до ${lastDay} включительно`,
    untilCancelled: 'до отмены',
    charges: (count) => `списаний: ${count}`,
    open: (url) => `откройте ${url}`,
    payButton: 'Оплатить',
    cancelButton: 'Моя подписка',
  },
};
