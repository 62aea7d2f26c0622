// A Russian timeline says codes, effects and times in Russian. What a newer release has written is said to be unknown.
import { describe, expect, test } from 'vitest';
import { authenticationWays, exemptions } from '../../acquiring/domain/authentication.ts';
import type { Instant } from '../../clock.ts';
import { chargeRefusals, chargeWarnings } from '../../retry-rules/domain/may-charge.ts';
import { named, say, textIn, timeOf } from '../domain/text.ts';
import { stopWords } from './rule-lines.ts';

describe('in Russian', () => {
  test.each([...chargeRefusals, ...chargeWarnings, ...exemptions, ...authenticationWays])(
    'the code %s has words, and English has the code',
    (code) => {
      expect(textIn('ru', named(code))).toMatch(/^[а-яё ,]+$/);
      expect(textIn('en', named(code))).toBe(code);
    },
  );

  test('a code of a newer release stays as it is', () => {
    expect(textIn('ru', named('recurrentOfTomorrow'))).toBe('recurrentOfTomorrow');
    expect(textIn('ru', named('constructor'))).toBe('constructor');
  });

  test.each([
    ['stop series', 'серия заканчивается', 'the series ends'],
    [
      'wait until 2026-01-19T10:15:30.123456Z',
      'ждать до 19 янв. 2026 г., 10:15:30 по UTC',
      'wait until 2026-01-19T10:15:30Z',
    ],
    ['stop everything', 'то, чего эта версия не знает', 'something that this version does not know'],
    ['wait until Easter', 'то, чего эта версия не знает', 'something that this version does not know'],
  ])('the effect %s is in words', (effect, russian, english) => {
    expect(textIn('ru', stopWords(effect))).toBe(russian);
    expect(textIn('en', stopWords(effect))).toBe(english);
  });

  test('a time is written as Russian has it', () => {
    const text = say('It waits for money of the shop, until {time}.', {
      time: timeOf('2026-07-01T23:59:59.000000Z' as Instant),
    });
    expect(textIn('ru', text)).toBe('Возврат ждёт денег магазина, до 1 июл. 2026 г., 23:59:59 по UTC.');
    expect(textIn('en', text)).toBe('It waits for money of the shop, until 2026-07-01T23:59:59Z.');
  });
});
