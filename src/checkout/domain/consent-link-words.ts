// The texts of the page of a consent link. The sentence at the box is evidence, so `consentLinkText` alone composes it.
import type { Locale } from './checkout-request.ts';

const english = {
  title: 'New terms',
  head: 'New terms from {shop}',
  lead: 'They are for your card ending in {digits}.',
  choice: 'Nothing changes unless you agree.',
  what: 'Terms',
  before: 'Until now',
  after: 'New',
  amount: 'Amount',
  schedule: 'How often',
  until: 'Valid',
  trial: 'First price',
  none: 'none',
  trialThen: 'until {date}, then {amount}',
  trialUntil: 'until {date}',
  agree:
    'I agree that {shop} charges my card ending in {digits} on the new terms without asking me each time: {schedule}, {amount}, {until}. They replace the terms I agreed to before.',
  agreeTrial: 'First price: {trial}.',
  check:
    'Your bank may ask you to confirm. To check the card we charge a small sum and refund it immediately.',
  button: 'Agree and confirm',
  consentMissing: 'Tick the box if you agree. Otherwise close this page, and nothing changes',
  declined: 'Your bank did not approve the check. Nothing has changed. Ask your bank, or contact the shop.',
  unconfirmed: 'The new terms were not confirmed with your bank. Nothing has changed. You can try again.',
  timeout: 'The bank did not answer in time. Nothing has changed. You can try again.',
  tooMany: 'Too many attempts within a day. Nothing has changed. Try again tomorrow.',
  shopCannot:
    'The new terms cannot be confirmed at the moment. Nothing has changed. Please contact the shop.',
  noScript: 'This page needs JavaScript. Switch it on and load the page again. Nothing has changed.',
  unreachable: 'The payment service could not be reached. Try again. You agree only once.',
  offline: 'No connection. This page continues when you are online again.',
  leftHead: 'Not confirmed yet',
  leftLead:
    'The new terms apply only when you have confirmed them with your bank. Until then nothing changes.',
  doneHead: 'You have agreed to the new terms',
  doneLead: 'Thank you. The small sum is being refunded to your card.',
  expiredHead: 'This link has expired',
  expiredLead: 'Nothing has changed. If you want to agree to the new terms, ask the shop for a new link.',
  cancelledHead: 'There is nothing to agree to any more',
  cancelledLead: 'The new terms were taken back, and nothing has changed. You can close this page.',
  deadHead: 'Link not found',
  deadLead: 'Open the whole link from the shop’s message. Nothing has changed.',
};

export type ConsentLinkWords = Readonly<Record<keyof typeof english, string>>;

const russian: ConsentLinkWords = {
  title: 'Новые условия',
  head: 'Новые условия: {shop}',
  lead: 'Они касаются карты, номер которой заканчивается на {digits}.',
  choice: 'Без вашего согласия ничего не изменится.',
  what: 'Условия',
  before: 'Сейчас',
  after: 'Новые',
  amount: 'Сумма',
  schedule: 'Как часто',
  until: 'Срок',
  trial: 'Первая цена',
  none: 'нет',
  trialThen: 'до {date}, затем {amount}',
  trialUntil: 'до {date}',
  agree:
    'Я согласен, чтобы {shop} списывал деньги с моей карты, номер которой заканчивается на {digits}, на новых условиях, не спрашивая меня каждый раз: {schedule}, {amount}, {until}. Они заменяют прежние условия.',
  agreeTrial: 'Первая цена: {trial}.',
  check:
    'Банк может попросить подтверждение. Чтобы проверить карту, мы спишем небольшую сумму и сразу её вернём.',
  button: 'Согласиться и подтвердить',
  consentMissing: 'Поставьте отметку, если согласны. Если нет, закройте страницу: ничего не изменится',
  declined: 'Банк не одобрил проверку карты. Ничего не изменилось. Спросите в банке или в магазине.',
  unconfirmed: 'Новые условия не подтверждены в банке. Ничего не изменилось. Можно попробовать ещё раз.',
  timeout: 'Банк не ответил вовремя. Ничего не изменилось. Можно попробовать ещё раз.',
  tooMany: 'Слишком много попыток за день. Ничего не изменилось. Попробуйте завтра.',
  shopCannot: 'Сейчас новые условия нельзя подтвердить. Ничего не изменилось. Сообщите об этом магазину.',
  noScript: 'Странице нужен JavaScript. Включите его и обновите страницу. Ничего не изменилось.',
  unreachable: 'Нет связи с платёжным сервисом. Попробуйте ещё раз. Согласие учитывается один раз.',
  offline: 'Нет связи. Продолжим, как только она появится.',
  leftHead: 'Пока не подтверждено',
  leftLead:
    'Новые условия начнут действовать, когда вы подтвердите их в банке. До этого ничего не изменится.',
  doneHead: 'Вы согласились на новые условия',
  doneLead: 'Спасибо. Небольшая сумма уже возвращается на карту.',
  expiredHead: 'Срок ссылки истёк',
  expiredLead: 'Ничего не изменилось. Если вы хотите согласиться, попросите у магазина новую ссылку.',
  cancelledHead: 'Соглашаться больше не на что',
  cancelledLead: 'Новые условия отозваны, и ничего не изменилось. Эту страницу можно закрыть.',
  deadHead: 'Ссылка не найдена',
  deadLead: 'Откройте ссылку из сообщения магазина целиком. Ничего не изменилось.',
};

export const consentLinkWords: Readonly<Record<Locale, ConsentLinkWords>> = { en: english, ru: russian };
