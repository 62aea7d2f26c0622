// The texts of the page on which a payer ends recurring charges.
import type { Locale } from '../checkout-request.ts';

const english = {
  title: 'End recurring charges',
  head: 'End the charges by {shop}?',
  lead: 'Your card ending in {digits} will no longer be charged without you. This takes effect immediately.',
  product: 'For',
  amount: 'Amount',
  schedule: 'How often',
  until: 'Valid',
  card: 'Card',
  button: 'End recurring charges',
  keep: 'Keep it',
  keptHead: 'Nothing has changed',
  mayCharge: '{shop} may charge your card as agreed.',
  stopped: 'The charges by {shop} have stopped. Your card is charged again only if you agree once more.',
  over: 'Your agreement with {shop} has run out. Your card is charged again only if you agree once more.',
  linkWorks: 'The link in your receipt works whenever you need it.',
  end: 'End recurring charges after all',
  endedHead: 'Ended',
  endedLead: 'Your card ending in {digits} will no longer be charged without you. You can close this page.',
  noLinkHead: 'Link not found',
  noLinkLead: 'This link does not end any recurring charges. Open the whole link from your receipt.',
};

export type RevocationWords = Readonly<Record<keyof typeof english, string>>;

const russian: RevocationWords = {
  title: 'Прекратить регулярные списания',
  head: 'Прекратить списания в пользу {shop}?',
  lead: 'С вашей карты, номер которой заканчивается на {digits}, больше ничего не спишут без вашего участия. Это вступит в силу сразу.',
  product: 'За что',
  amount: 'Сумма',
  schedule: 'Как часто',
  until: 'Срок',
  card: 'Карта',
  button: 'Прекратить списания',
  keep: 'Оставить как есть',
  keptHead: 'Ничего не изменилось',
  mayCharge: '{shop} может и дальше списывать деньги с вашей карты, как договорились.',
  stopped:
    'Списания в пользу {shop} остановлены. С вашей карты снова что-то спишут, только если вы согласитесь ещё раз.',
  over: 'Срок вашего согласия для {shop} закончился. С вашей карты снова что-то спишут, только если вы согласитесь ещё раз.',
  linkWorks: 'Ссылка из чека работает, когда бы она ни понадобилась.',
  end: 'Всё-таки прекратить списания',
  endedHead: 'Списания прекращены',
  endedLead:
    'С вашей карты, номер которой заканчивается на {digits}, больше ничего не спишут без вашего участия. Эту страницу можно закрыть.',
  noLinkHead: 'Ссылка не найдена',
  noLinkLead: 'Эта ссылка не прекращает регулярные списания. Откройте ссылку из чека целиком.',
};

export const revocationWords: Readonly<Record<Locale, RevocationWords>> = { en: english, ru: russian };
