// The language of the console: the one chosen here before, or else the browser's.
import { computed, signal } from '@preact/signals';
import { english } from './words.en.ts';
import { russian } from './words.ru.ts';

type Locale = 'en' | 'ru';

const storedAs = 'mandate-console-locale';
const first = stored() ?? navigator.language;

export const locale = signal<Locale>(first.startsWith('ru') ? 'ru' : 'en');
const words = computed(() => (locale.value === 'ru' ? russian : english));

/** Read inside a component, it is drawn again in another language. */
export const say = () => words.value;

export function changeLanguage(): void {
  locale.value = locale.value === 'ru' ? 'en' : 'ru';
  try {
    localStorage.setItem(storedAs, locale.value);
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}

export function fill(sentence: string, values: Readonly<Record<string, string | number>>): string {
  return sentence.replace(/\{(\w+)\}/g, (gap, name: string) => String(values[name] ?? gap));
}

function stored(): string | null {
  try {
    return localStorage.getItem(storedAs);
  } catch {
    return null;
  }
}
