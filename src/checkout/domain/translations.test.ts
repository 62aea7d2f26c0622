import { expect, test } from 'vitest';
import { russian } from './translations.ru.ts';

test('the Russian checkout leaves no text untranslated', () => {
  const texts = Object.values(russian).flatMap((part) => Object.values(part));
  expect(texts.filter((text) => !/\p{Script=Cyrillic}/u.test(text))).toEqual([]);
});
