// The texts of the page on which a payer looks after a subscription.
import type { Instant } from '../../../clock.ts';
import type { Locale } from '../checkout-request.ts';
import { fill } from '../translations.ts';

const english = {
  title: 'Your subscription',
  incomplete: 'Not started yet',
  incompleteLead: 'The first payment is missing.',
  trialing: 'Trial period',
  trialingLead: 'You pay nothing until {date}.',
  active: 'Active',
  activeLead: 'You have paid until {date}.',
  activeUnpaidLead: 'The charge is on its way.',
  pastDue: 'A charge failed',
  pastDueLead: 'Your card was not charged. You can pay now, or use another card.',
  pastDuePay: 'Your card was not charged. You can pay now.',
  pastDueReplace:
    'Your card was not charged. You can pay now. The card that you pay with is charged from then on.',
  charging: 'A charge is at your bank. The result follows in a moment.',
  paused: 'Paused',
  pausedByPayer: 'You have paused it, and no new period is charged. Resume it whenever you like.',
  pausedByMerchant: '{shop} has paused it, and no new period is charged. Only {shop} can resume it.',
  pausedByDunning:
    'It was paused because charges failed. Nothing is charged. Ask {shop} if you want to continue.',
  stillDue: 'What is unpaid is still due.',
  resumes: 'It continues on {date}.',
  unpaid: 'A payment is missing',
  unpaidLead: 'Nothing is charged until you have paid what is open.',
  parked: 'On hold',
  parkedLead: 'Nothing is charged. {shop} is looking into it.',
  ended: 'Ended',
  ending: 'Ends on {date}',
  endingLead: 'No other period is charged.',
  endingSoon: 'Ending',
  price: 'Price',
  schedule: 'How often',
  next: 'Next charge',
  nextTry: 'We try again on {date}: {amount}',
  nextAnnounced: '{amount}, not before {date}, and after it was announced to you',
  nextAgreed: '{amount} on {date}, if you agree before',
  nextWithCard: '{amount} on {date}, if there is a card to charge',
  noNext: 'none planned',
  card: 'Card',
  noCard: 'none',
  newPrice: 'From the next period on',
  newTermsLead:
    '{shop} wants to charge more than you have agreed to. Without your consent nothing above that is charged. If you agree, the next period is charged as planned.',
  agree: 'Look at the new terms',
  agreeHint: 'If you agree, what was refused is charged at once.',
  agreeLater: 'If you agree, what was refused is charged on {date}.',
  agreeUnpaid: 'What is unpaid is not charged automatically. Pay that with the button below.',
  why: 'Why did you end it? You need not answer.',
  tooExpensive: 'It costs too much',
  notUsed: 'I do not use it',
  notAsExpected: 'It is not what I expected',
  otherProvider: 'I have found something else',
  other: 'Another reason',
  thanks: 'Thank you for your answer.',
  pay: 'Pay {amount}',
  newCard: 'Use another card',
  newCardHint: 'What has failed is charged to the new card at once.',
  newCardLater: 'What has failed is charged to the new card on {date}.',
  newCardUnpaid: 'What is unpaid is not charged to it. Pay that with the button above.',
  newCardOnHold: 'Nothing is charged to it before {shop} has ended the hold.',
  thenCharged: 'The next charge is then on {date}: {amount}.',
  thenWaits: 'The next charge is then: {charge}.',
  pause: 'Pause',
  resume: 'Resume',
  end: 'End subscription',
  endHint: 'It then ends on {date}. Until that day you can take it back.',
  endNowHint: 'It then ends at once.',
  endAfterTries: 'It then ends as soon as what is unpaid is paid, or is tried no more.',
  endAfterHold: 'It ends once {shop} has ended the hold.',
  endOnHold:
    'It then ends on {date}, or later if the hold lasts longer. Until that day you can take it back.',
  takeBack: 'Keep the subscription',
  history: 'Last periods',
  receipt: 'Receipt',
  open: 'not paid yet',
  paid: 'paid',
  free: 'free',
  unpaidPeriod: 'not paid',
  forgiven: 'waived',
  skipped: 'paused',
  missed: 'not charged',
  outdated: 'Something has changed since you opened the page. Please look again.',
  refused: 'This is not possible at the moment. Nothing has changed.',
  noLinkHead: 'Link not found',
  noLinkLead: 'The link is not complete, or it has expired. Ask the shop for a new one.',
};

export type SubscriptionWords = Readonly<Record<keyof typeof english, string>>;

const russian: SubscriptionWords = {
  title: 'Ваша подписка',
  incomplete: 'Ещё не началась',
  incompleteLead: 'Нет первого платежа.',
  trialing: 'Пробный период',
  trialingLead: 'До {date} вы ничего не платите.',
  active: 'Действует',
  activeLead: 'Оплачено до {date}.',
  activeUnpaidLead: 'Списание выполняется.',
  pastDue: 'Списание не прошло',
  pastDueLead: 'С карты ничего не списано. Можно заплатить сейчас или выбрать другую карту.',
  pastDuePay: 'С карты ничего не списано. Можно заплатить сейчас.',
  pastDueReplace:
    'С карты ничего не списано. Можно заплатить сейчас. Потом списываем с карты, которой вы заплатите.',
  charging: 'Списание сейчас в банке. Скоро станет известен результат.',
  paused: 'Приостановлена',
  pausedByPayer:
    'Вы её приостановили, и за новые периоды ничего не списывается. Возобновить можно в любое время.',
  pausedByMerchant:
    'Магазин {shop} её приостановил, и за новые периоды ничего не списывается. Возобновить может только магазин.',
  pausedByDunning:
    'Она приостановлена, потому что списания не прошли. Ничего не списывается. Если хотите продолжить, напишите в {shop}.',
  stillDue: 'То, что не оплачено, ещё нужно оплатить.',
  resumes: 'Продолжится {date}.',
  unpaid: 'Нет платежа',
  unpaidLead: 'Ничего не списывается, пока вы не заплатите.',
  parked: 'Остановлена',
  parkedLead: 'Ничего не списывается. {shop} выясняет причину.',
  ended: 'Завершена',
  ending: 'Завершится {date}',
  endingLead: 'Новых списаний не будет.',
  endingSoon: 'Завершается',
  price: 'Цена',
  schedule: 'Как часто',
  next: 'Следующее списание',
  nextTry: 'Попробуем ещё раз {date}: {amount}',
  nextAnnounced: '{amount} не раньше {date} и только после предупреждения',
  nextAgreed: '{amount}, {date}, если до этого вы согласитесь',
  nextWithCard: '{amount}, {date}, если будет карта для списания',
  noNext: 'пока нет',
  card: 'Карта',
  noCard: 'нет',
  newPrice: 'Со следующего периода',
  newTermsLead:
    'Магазин {shop} хочет списывать больше, чем вы разрешили. Без вашего согласия больше ничего не спишется. Если вы согласитесь, следующий период спишется как обычно.',
  agree: 'Посмотреть новые условия',
  agreeHint: 'Если вы согласитесь, сразу спишем то, что раньше не удалось списать.',
  agreeLater: 'Если вы согласитесь, {date} спишем то, что раньше не удалось списать.',
  agreeUnpaid: 'То, что не оплачено, само не спишется. Заплатите кнопкой ниже.',
  why: 'Почему вы завершили подписку? Отвечать необязательно.',
  tooExpensive: 'Слишком дорого',
  notUsed: 'Не пользуюсь',
  notAsExpected: 'Ожидания не оправдались',
  otherProvider: 'Есть другой вариант',
  other: 'Другая причина',
  thanks: 'Спасибо за ответ.',
  pay: 'Заплатить {amount}',
  newCard: 'Другая карта',
  newCardHint: 'То, что не удалось списать, сразу спишем с новой карты.',
  newCardLater: 'То, что не удалось списать, спишем с новой карты {date}.',
  newCardUnpaid: 'То, что не оплачено, с неё не спишем. Заплатите кнопкой выше.',
  newCardOnHold: 'С неё ничего не спишем, пока {shop} не снимет остановку.',
  thenCharged: 'Тогда следующее списание {date}: {amount}.',
  thenWaits: 'Тогда следующее списание: {charge}.',
  pause: 'Приостановить',
  resume: 'Возобновить',
  end: 'Завершить подписку',
  endHint: 'Она завершится {date}. До этого дня можно передумать.',
  endNowHint: 'Она завершится сразу.',
  endAfterTries: 'Она завершится, как только неоплаченное будет оплачено или попытки закончатся.',
  endAfterHold: 'Она завершится, когда {shop} снимет остановку.',
  endOnHold: 'Она завершится {date} или позже, если остановка затянется. До этого дня можно передумать.',
  takeBack: 'Оставить подписку',
  history: 'Последние периоды',
  receipt: 'Чек',
  open: 'ещё не оплачен',
  paid: 'оплачен',
  free: 'бесплатно',
  unpaidPeriod: 'не оплачен',
  forgiven: 'прощён',
  skipped: 'пауза',
  missed: 'без списания',
  outdated: 'Пока страница была открыта, что-то изменилось. Посмотрите ещё раз.',
  refused: 'Сейчас это невозможно. Ничего не изменилось.',
  noLinkHead: 'Ссылка не найдена',
  noLinkLead: 'Ссылка неполная, или её срок истёк. Попросите у магазина новую.',
};

export const subscriptionWords: Readonly<Record<Locale, SubscriptionWords>> = { en: english, ru: russian };

/** The next charge, if it needs no word. */
export const dateAndAmount = '{date}: {amount}';

/** How a page writes in its language. */
export type Printed = {
  readonly words: SubscriptionWords;
  readonly locale: Locale;
  date(at: Instant): string;
  money(minor: bigint): string;
};

/** A Russian date ends with a full stop of its own. */
export function sentence(text: string, values: Readonly<Record<string, string>>): string {
  return fill(text, values).replaceAll('..', '.');
}
