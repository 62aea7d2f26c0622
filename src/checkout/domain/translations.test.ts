import { expect, test } from 'vitest';
import { consentLinkWords } from './consent-link-words.ts';
import { paymentLinkWords } from './payment-link/payment-link-words.ts';
import { subscriptionWords } from './subscription/subscription-words.ts';
import { russian } from './translations.ru.ts';

test('the Russian checkout leaves no text untranslated', () => {
  const texts = [
    ...Object.values(russian),
    consentLinkWords.ru,
    paymentLinkWords.ru,
    subscriptionWords.ru,
  ].flatMap((part) => Object.values(part));
  expect(texts.filter((text) => !/\p{Script=Cyrillic}/u.test(text))).toEqual([]);
});
