// The text of a line before it is in a language: phrases, with what fills their gaps.
import { epochMsOf, type Instant } from '../../clock.ts';
import { phrases, type Language, type Phrase, type WholePhrase } from './phrases.ts';

type Time = { readonly time: Instant };
type Value = string | number | Text | Time;
type Said = { readonly phrase: Phrase; readonly values: Readonly<Record<string, Value>> };
export type Text = readonly Said[];

type GapOf<One extends string> = One extends `${string}{${infer Name}}${infer Rest}`
  ? Name | GapOf<Rest>
  : never;
type Values<One extends Phrase> = [GapOf<One>] extends [never]
  ? readonly []
  : readonly [values: Readonly<Record<GapOf<One>, Value>>];

export function say<One extends Phrase>(phrase: One, ...[values]: Values<One>): Text {
  return [{ phrase, values: (values ?? {}) as Said['values'] }];
}

/** A time in a gap. */
export const timeOf = (time: Instant): Time => ({ time });

/** A code in words. One of a newer release has none here. */
export const named = (code: string): Text =>
  Object.hasOwn(phrases, code) ? say(code as WholePhrase) : say('{word}', { word: code });

/** No words, where there may be some. */
export const nothing: Text = [];

/** At least one. */
export const listed = (parts: readonly Text[]): Text =>
  parts.reduce((some, other) => say('{some}, {other}', { some, other }));

export const sentences = (...parts: readonly Text[]): Text => parts.flat();

/** Merchants, banks and receivers wrote parts of it. No character may move a cursor or turn the direction of the text. */
export function textIn(language: Language, text: Text): string {
  return joined(language, text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );
}

function joined(language: Language, text: Text): string {
  return text
    .map(({ phrase, values }) =>
      (language === 'en' ? phrase : phrases[phrase]).replace(/\{(\w+)\}/g, (gap, name: string) => {
        const value = values[name] ?? gap;
        if (typeof value !== 'object') return String(value);
        return 'time' in value ? timeIn(language, value.time) : joined(language, value);
      }),
    )
    .join(' ');
}

const russianTime = new Intl.DateTimeFormat('ru', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});

/** To the second, in the zone of the API. */
function timeIn(language: Language, time: Instant): string {
  if (language === 'en') return `${time.slice(0, 19)}Z`;
  const local = russianTime.format(epochMsOf(time));
  return `${local} по UTC`;
}
