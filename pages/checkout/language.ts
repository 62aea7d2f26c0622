// Changes the language and keeps what the payer has entered. The page is read again in both languages, and each text of the one becomes
// that of the other.
import type { CheckoutFacts } from '../../src/checkout/domain/checkout-page.ts';
import { existing } from '../docs/elements.ts';

type Texts = Map<string, string>;

/** If the page cannot be read, it stays as it is: the payer loses nothing. */
export function connectLanguage(facts: CheckoutFacts, spoken: () => void): void {
  const link = existing('language', HTMLAnchorElement);
  link.href = addressIn(link.lang);
  link.hidden = false;
  link.addEventListener('click', (event) => {
    event.preventDefault();
    void speak(facts, link).then(spoken, () => {});
  });
}

/** Of this page in another language. */
export function addressIn(locale: string): string {
  const asked = new URLSearchParams(location.search);
  asked.set('locale', locale);
  return `?${asked}`;
}

async function speak(facts: CheckoutFacts, link: HTMLAnchorElement): Promise<void> {
  const before = await pageAt(addressIn(facts.locale));
  const after = await pageAt(addressIn(link.lang));
  const { locale, words, consent } = factsIn(after);
  const texts: Texts = new Map();
  pair(facts.words, words, texts);
  const [was, is] = [textsOf(before), textsOf(after)];
  was.forEach(({ text }, index) => texts.set(text, is[index]?.text ?? text));
  for (const { text, put } of textsOf(document)) put(texts.get(text) ?? text);
  // The parts of the page have these words by reference.
  for (const [part, said] of Object.entries(words))
    Object.assign(facts.words[part as keyof typeof words], said);
  Object.assign(facts, { locale, consent });
  document.documentElement.lang = locale;
  history.replaceState(null, '', addressIn(locale));
  const other = after.querySelector('#language')?.getAttribute('lang') ?? '';
  link.lang = link.hreflang = other;
  link.href = addressIn(other);
}

/** Read as a document, because no text may become HTML here. */
function pageAt(address: string): Promise<Document> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('GET', address);
    request.responseType = 'document';
    request.addEventListener('loadend', () =>
      request.status === 200 ? resolve(request.response as Document) : reject(new Error('not read')),
    );
    request.send();
  });
}

function factsIn(page: Document): CheckoutFacts {
  return JSON.parse(page.querySelector('#facts')?.textContent ?? '') as CheckoutFacts;
}

function pair(before: object, after: object, texts: Texts): void {
  for (const [name, said] of Object.entries(after) as [keyof typeof before, unknown][]) {
    if (typeof said === 'string') texts.set(before[name], said);
    else pair(before[name], said as object, texts);
  }
}

const spokenAttributes = ['aria-label', 'placeholder'];

/** All that is read on a page, in its order. */
function textsOf(page: Document): { readonly text: string; put(text: string): void }[] {
  return [...page.querySelectorAll('title, body *:not(script)')].flatMap((element) => [
    ...spokenAttributes
      .filter((name) => element.hasAttribute(name))
      .map((name) => ({
        text: element.getAttribute(name) ?? '',
        put: (text: string) => element.setAttribute(name, text),
      })),
    ...[...element.childNodes]
      .filter((node): node is Text => node instanceof Text && node.data.trim() !== '')
      .map((node) => ({ text: node.data, put: (text: string) => void (node.data = text) })),
  ]);
}
