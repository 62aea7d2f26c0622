// All texts of the checkout, by language. The page holds those its script needs, in the payer's language.
import type { Locale } from './checkout-request.ts';
import { english, type Translations } from './translations.en.ts';
import { russian } from './translations.ru.ts';

const byLocale: Readonly<Record<Locale, Translations>> = { en: english, ru: russian };

export function wordsIn(locale: Locale): Translations {
  return byLocale[locale];
}

/** Puts values into a sentence: `Pay {amount}`. */
export function fill(sentence: string, values: Readonly<Record<string, string>>): string {
  return sentence.replace(/\{(\w+)\}/g, (gap, name: string) => values[name] ?? gap);
}
