// Each kind of line has words in both languages. A phrase that is in no language does not compile.
import { describe, expect, test } from 'vitest';
import { english } from '../../../pages/console/words/words.en.ts';
import { russian } from '../../../pages/console/words/words.ru.ts';
import { itemKinds } from './item.ts';
import { phrases } from './phrases.ts';
import { listed, nothing, say, sentences, textIn } from './text.ts';

const gapsOf = (phrase: string) => phrase.match(/\{\w+\}/g)?.toSorted() ?? [];
const wordsOf = (phrase: string) => phrase.replaceAll(/\{\w+\}|3-D Secure|ECI|ARN/g, '');

describe('the words of a timeline', () => {
  test.each(itemKinds)('name the kind %s in both languages', (kind) => {
    expect(english.timeline[kind]).toMatch(/[a-z]/);
    expect(russian.timeline[kind]).toMatch(/[а-я]|^3-D Secure$/);
  });

  test.each(Object.entries(phrases))('%s', (english, russian) => {
    expect(gapsOf(russian)).toEqual(gapsOf(english));
    expect(wordsOf(english)).not.toMatch(/[а-я]/i);
    if (/[a-z]/i.test(wordsOf(english))) expect(wordsOf(russian)).toMatch(/[а-я]/i);
    // Names of the API stay as they are.
    expect(wordsOf(russian).replaceAll(/`[^`]+`/g, '')).not.toMatch(/[a-z]{2}/i);
  });
});

describe('a text', () => {
  test('is in either language, with its gaps filled and nothing else of it changed', () => {
    const refused = say('{code}, by rule {rule} of {pack}', { code: '{rule}', rule: '$&', pack: 'p1' });
    const text = sentences(say('No charge by waiting: {refused}.', { refused }), say('Cancelled.'), nothing);
    expect(textIn('en', text)).toBe('No charge by waiting: {rule}, by rule $& of p1. Cancelled.');
    expect(textIn('ru', text)).toBe('Ожидание не поможет: {rule}, по правилу $& из p1. Отменён.');
  });

  test('lists parts, and spells out what moves a cursor', () => {
    const facts = listed([say('ECI {eci}', { eci: '05\u202e' }), say('liability shifted')]);
    expect(textIn('ru', say('The bank reports {facts}.', { facts }))).toBe(
      'Банк сообщает: ECI 05\\u{202e}, ответственность перенесена.',
    );
  });
});
