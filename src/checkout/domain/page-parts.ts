// The parts that the checkout and the page of a consent link share. Script and style are inline and allowed by their hashes, so no
// other code can run.
import { tintOf } from '../../merchants/domain/branding.ts';
import { originOf } from '../../merchants/domain/party.ts';
import { escaped } from '../../receipts/domain/receipt.ts';
import type { Locale, Theme } from './checkout-request.ts';
import type { ConsentText } from './consent-text.ts';
import type { Translations } from './translations.en.ts';

export type Assets = { readonly script: string; readonly style: string };

export function page(shown: {
  readonly locale: Locale;
  readonly theme: Theme;
  /** The name of the section that is visible. */
  readonly view: string;
  readonly title: string;
  readonly assets: Assets;
  /** What the script reads. */
  readonly facts: object;
  readonly body: string;
}): string {
  const { locale, theme, view, title, assets, facts, body } = shown;
  return `<!doctype html>
<html lang="${locale}" dir="ltr" data-theme="${theme}" data-view="${view}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${assets.style}</style>
</head>
<body>
${body}
<script type="application/json" id="facts">${json(facts)}</script>
<script type="module">${assets.script}</script>
</body>
</html>
`;
}

/** How the pages of a shop look, and what they link to. */
export type Brand = {
  readonly accent?: string;
  /** As a data URL: the page loads nothing. */
  readonly logo?: string;
  /** Where payers can ask. */
  readonly contact?: string;
  readonly termsUrl?: string;
  readonly privacyUrl?: string;
};

/** In the dark only buttons have the colour, because it is dark enough for white text. */
export function brandedStyle(style: string, { accent }: Brand = {}): string {
  if (accent === undefined) return style;
  return `${style}
@media (prefers-color-scheme:light){:root:root{--accent:${accent};--accent-tint:${tintOf(accent)};--on-accent:#fff}}
@media (prefers-color-scheme:dark){.main{background:${accent};color:#fff}}`;
}

export function shopName(name: string, { logo }: Brand = {}): string {
  const image = logo === undefined ? '' : `<img class="logo" src="${escaped(logo)}" alt="">`;
  return `<p class="shop">${image}${escaped(name)}</p>`;
}

/** In windows of their own: the payer does not lose what they entered. */
export function smallPrint(
  { contact, termsUrl, privacyUrl }: Brand = {},
  { page: { ask, terms, privacy } }: Translations,
): string {
  const links = [
    contact === undefined ? '' : `<span>${escaped(ask)} ${contactLink(contact)}</span>`,
    termsUrl === undefined ? '' : outerLink(termsUrl, terms),
    privacyUrl === undefined ? '' : outerLink(privacyUrl, privacy),
  ].filter((link) => link !== '');
  return links.length === 0 ? '' : `<p class="small-print">${links.join(' ')}</p>`;
}

function contactLink(contact: string): string {
  if (originOf(contact) !== undefined) return outerLink(contact, contact);
  return /^[^\s@]+@[^\s@]+$/.test(contact) ? outerLink(`mailto:${contact}`, contact) : escaped(contact);
}

function outerLink(url: string, text: string): string {
  return `<a href="${escaped(url)}" target="_blank" rel="noopener noreferrer">${escaped(text)}</a>`;
}

const languageNames: Readonly<Record<Locale, string>> = { en: 'English', ru: 'Русский' };

/**
 * The same page in the other language, named in that language for those who read no other. Without an address it is hidden: a page must
 * not hold its token, so its script makes the address.
 */
export function languageLink(locale: Locale, query?: Readonly<Record<string, string>>): string {
  const other = locale === 'ru' ? 'en' : 'ru';
  const link = query
    ? `href="${escaped(`?${new URLSearchParams({ ...query, locale: other }).toString()}`)}"`
    : 'hidden';
  return `<p class="language"><a id="language" class="quiet" lang="${other}" hreflang="${other}" ${link}>${languageNames[other]}</a></p>`;
}

/** Where the page reports a problem. `said` is there from the start. */
export function message(noScript: string, said = ''): string {
  return `<p id="message" class="message${said === '' ? '' : ' shown'}" role="status" aria-live="polite" tabindex="-1">${escaped(said)}</p>
<noscript><p class="message shown">${escaped(noScript)}</p></noscript>`;
}

/** Without a text it is hidden, until the script has one. A browser must not restore a tick: only this payer's own one counts. */
export function consentField(said?: Pick<ConsentText, 'text' | 'howToStop'>): string {
  const { text, howToStop } = said ?? { text: '', howToStop: '' };
  return `<div class="field consent" id="consent-field"${said ? '' : ' hidden'}>
<label><input id="consent" type="checkbox" required aria-describedby="consent-stop consent-problem" autocomplete="off"><span id="consent-text">${escaped(text)}</span></label>
<p id="consent-stop" class="hint">${escaped(howToStop)}</p>
<p id="consent-problem" class="problem"></p>
</div>`;
}

/** Where the bank's page goes. */
export function challenge({ challenge }: Translations): string {
  return `${head(challenge.head)}<p>${escaped(challenge.lead)}</p>
<div id="challenge-place" class="challenge-place"></div>
<p class="row"><button id="elsewhere" class="quiet" type="button">${escaped(challenge.elsewhere)}</button><button id="leave" class="quiet" type="button">${escaped(challenge.leave)}</button></p>`;
}

export function section(name: string, first: string, content: string): string {
  return `<section id="${name}" class="view"${name === first ? '' : ' hidden'}>${content}</section>`;
}

export function head(text: string, id?: string): string {
  return `<h2${id === undefined ? '' : ` id="${id}"`} tabindex="-1">${escaped(text)}</h2>`;
}

export function mark(kind: 'tick' | 'stop'): string {
  const path = kind === 'tick' ? 'M7 12.5l3.5 3.5L17 9' : 'M12 7v6M12 16.5v.5';
  return `<svg class="mark ${kind}" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="${path}"/></svg>`;
}

/** JSON that cannot close its script element. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
