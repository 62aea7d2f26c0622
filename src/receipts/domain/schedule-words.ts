// A schedule in words, in English and Russian. Receipts, consent texts and the checkout in the browser say it the same.
import { asAgreed } from './terms.ts';

type Language = 'en' | 'ru';
type Unit = 'D' | 'W' | 'M' | 'Y';

const english: Record<Unit, string> = { D: 'day', W: 'week', M: 'month', Y: 'year' };
const russianEach: Record<Unit, string> = {
  D: 'каждый день',
  W: 'каждую неделю',
  M: 'каждый месяц',
  Y: 'каждый год',
};
/** Russian plural forms for counts that end in one, in two to four, and all others. */
const russianForms: Record<Unit, readonly [one: string, few: string, many: string]> = {
  D: ['день', 'дня', 'дней'],
  W: ['неделю', 'недели', 'недель'],
  M: ['месяц', 'месяца', 'месяцев'],
  Y: ['год', 'года', 'лет'],
};

export const asAgreedIn: Readonly<Record<Language, string>> = {
  en: asAgreed,
  ru: 'по договорённости с продавцом',
};

/** A period becomes words. Words stay as they are. */
export function scheduleInWords(schedule: string, language: Language): string {
  if (schedule === asAgreed) return asAgreedIn[language];
  const [, count, unit] = /^P(\d{1,3})([DWMY])$/.exec(schedule) ?? [];
  return count === undefined ? schedule : every[language](Number(count), unit as Unit);
}

const every: Readonly<Record<Language, (count: number, unit: Unit) => string>> = {
  en: (count, unit) => (count === 1 ? `every ${english[unit]}` : `every ${count} ${english[unit]}s`),
  ru: russianEvery,
};

function russianEvery(count: number, unit: Unit): string {
  if (count === 1) return russianEach[unit];
  const [one, few, many] = russianForms[unit];
  const rule = new Intl.PluralRules('ru').select(count);
  return `каждые ${count} ${rule === 'one' ? one : rule === 'few' ? few : many}`;
}
